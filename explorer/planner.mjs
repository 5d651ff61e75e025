// Makes dist/planner.txt: the planner of the library, compiled by clang for
// WebAssembly, deflated, as the base64 text that `view --replan` puts into the page. With --check it
// only says whether the file that is there is the one that would be made, which the same clang can.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TARGET = join(ROOT, "explorer/dist/planner.txt");
const FOLDERS = ["src/core", "src/ir", "src/planners"];
const CHECKS = ["plan/check_overlaps", "plan/check_plan", "plan/check_slices", "plan/check_witness", "finding"];
const FILES = ["explorer/planner/page_planner.c", ...CHECKS.map((name) => `src/check/${name}.c`)];
const FLAGS = ["--target=wasm32-wasi", "-std=c11", "-Oz", "-flto", "-DNDEBUG", "-Iinclude", "-Isrc", "-mexec-model=reactor",
  "-Wl,--gc-sections", "-Wl,--strip-all", "-Wl,-z,stack-size=1048576"];

function sourcesIn(folder) {
  return readdirSync(join(ROOT, folder)).sort().flatMap((name) => {
    const path = `${folder}/${name}`;
    if (statSync(join(ROOT, path)).isDirectory()) return sourcesIn(path);
    return name.endsWith(".c") ? [path] : [];
  });
}

function compiled() {
  const folder = mkdtempSync(join(tmpdir(), "arenaut-planner-")), out = join(folder, "planner.wasm");
  try {
    execFileSync("clang", [...FLAGS, ...FILES, ...FOLDERS.flatMap(sourcesIn), "-o", out], { cwd: ROOT, stdio: "inherit" });
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const first = (text) => text.split("\n")[0];
const compiler = first(execFileSync("clang", ["--version"], { encoding: "utf8" }));
const heading = `Made by "npm run planner" in explorer/ with ${compiler}.`;

if (process.argv.includes("--check") && first(readFileSync(TARGET, "utf8")) !== heading) {
  console.log(`skipped: planner.txt was made by another compiler than this ${compiler}`);
  process.exit(0);
}
const wasm = compiled(), text = deflateRawSync(wasm, { level: 9 }).toString("base64");
const made = `${heading}\n${text.replace(/.{1,100}/g, "$&\n")}`;
if (!process.argv.includes("--check")) {
  writeFileSync(TARGET, made);
  console.log(`planner ${wasm.length} bytes, ${text.length} in the page`);
} else if (readFileSync(TARGET, "utf8") !== made) {
  console.error(`${TARGET} is not what the sources make: run "make page"`);
  process.exit(1);
}
