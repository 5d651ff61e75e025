// The planner of the library in WebAssembly (planner/page_planner.c): a list of numbers goes in, and
// another one, or a message, comes out. Nothing here knows the page, so that it runs in a worker.
import { bytesOf } from "./decode.js";

const PROGRESS_MS = 100;
const NO_FILES = { fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8 };

export async function compiled(base64) {
  const packed = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return WebAssembly.compile(await new Response(packed).arrayBuffer());
}

// Passes on what the planner says now and then, which it does every few milliseconds.
function sparingly(onProgress) {
  let last = performance.now();
  return (best, bound) => {
    const now = performance.now();
    if (now - last < PROGRESS_MS) return;
    last = now;
    onProgress({ best: BigInt.asUintN(64, best), bound: BigInt.asUintN(64, bound) });
  };
}

// {words}, or {message} where there is no plan. The instance's memory goes with it.
export async function planned(module, list, onProgress = () => {}) {
  const { exports } = await WebAssembly.instantiate(module,
    { wasi_snapshot_preview1: NO_FILES, page: { progress: sparingly(onProgress) } });
  exports._initialize();
  const from = exports.room(list.byteLength);
  if (!from) return { message: "out of memory" };
  new BigInt64Array(exports.memory.buffer, from, list.length).set(list);
  const made = exports.plan(from);
  if (made) {
    const [length] = new BigUint64Array(exports.memory.buffer, made, 1);
    return { words: new BigUint64Array(exports.memory.buffer, made, Number(length)).slice(1) };
  }
  const message = new Uint8Array(exports.memory.buffer, exports.message());
  return { message: new TextDecoder().decode(message.subarray(0, message.indexOf(0))) };
}
