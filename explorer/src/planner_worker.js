// What runs beside the page when it plans again: one list of numbers, one answer, and how far it is.
import { compiled, planned } from "./wasm_planner.js";

onmessage = async ({ data: { base64, list } }) => {
  try {
    postMessage(await planned(await compiled(base64), list, (progress) => postMessage({ progress })));
  } catch (error) { // a trap: the planner's memory has no more room than WebAssembly can address
    postMessage({ message: `the planner gave up (${error.message})` });
  }
};
