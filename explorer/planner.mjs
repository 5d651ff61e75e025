// Makes dist/planner.txt: the planner of the library, compiled by clang for
// WebAssembly, deflated, as the base64 text that `view --replan` puts into the page. With --check it
// only says whether the file that is there is the one that would be made, which the same clang can.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { here, compiled, packed, sourcesIn } from "./making.mjs";

const TARGET = here("dist/planner.txt");
const FOLDERS = ["src/core", "src/ir", "src/planners"];
const CHECKS = ["plan/check_overlaps", "plan/check_plan", "plan/check_slices", "plan/check_witness", "finding"];
const FILES = ["explorer/planner/page_planner.c", ...CHECKS.map((name) => `src/check/${name}.c`)];
const LINK_FLAGS = ["-mexec-model=reactor", "-Wl,-z,stack-size=1048576"];

const first = (text) => text.split("\n")[0];
const compiler = first(execFileSync("clang", ["--version"], { encoding: "utf8" }));
const heading = `Made by "npm run planner" in explorer/ with ${compiler}.`;

if (process.argv.includes("--check") && first(readFileSync(TARGET, "utf8")) !== heading) {
  console.log(`skipped: planner.txt was made by another compiler than this ${compiler}`);
  process.exit(0);
}
const wasm = await compiled([...FILES, ...FOLDERS.flatMap(sourcesIn)], LINK_FLAGS), text = packed(wasm);
const made = `${heading}\n${text.replace(/.{1,100}/g, "$&\n")}`;
if (!process.argv.includes("--check")) {
  writeFileSync(TARGET, made);
  console.log(`planner ${wasm.length} bytes, ${text.length} in the page`);
} else if (readFileSync(TARGET, "utf8") !== made) {
  console.error(`${TARGET} is not what the sources make: run "make page"`);
  process.exit(1);
}
