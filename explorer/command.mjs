// Makes build/arenaut.html: the whole command, compiled by clang for WebAssembly, in one page that loads
// nothing and sends nothing. Its policy allows its own script, the worker that runs the command, and the
// script and style of the pages that the command draws.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, bundle, compiled, hash, here, packed, sourcesIn } from "./making.mjs";

const BUILD = join(ROOT, "build"), TARGET = join(BUILD, "arenaut.html");
const MOST = 2 ** 31; // bytes of memory that a run may have
const LINK_FLAGS = ["-Wl,-z,stack-size=4194304", `-Wl,--max-memory=${MOST}`];

const tools = sourcesIn("tools").filter((path) => !/\/os_(posix|windows)\.c$/.test(path));
const wasm = await compiled([...tools, ...sourcesIn("src")], LINK_FLAGS);
const script = await bundle("command/main.js", { format: "iife" });
const worker = await bundle("command/worker.js", { format: "iife" });
const style = await bundle("command/command.css", {});
const [drawn] = readFileSync(here("dist/page.html"), "utf8").match(/default-src[^"]*/);
const [, drawnScript, drawnStyle] = drawn.match(/script-src ('[^']*').*style-src ('[^']*')/);

const policy = ["default-src 'none'", `script-src ${hash(script)} ${drawnScript} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)} ${drawnStyle}`, "worker-src blob:", "frame-src blob:",
  "img-src data: blob:", "base-uri 'none'", "form-action 'none'"].join("; ");
const parts = { POLICY: policy, STYLE: style, SCRIPT: script, WORKER: worker, COMMAND: packed(wasm) };
const page = readFileSync(here("command/command.html"), "utf8").replace(/@@(\w+)@@/g, (mark, name) => parts[name]);
writeFileSync(TARGET, page);
console.log(`command ${wasm.length} bytes, page ${page.length} bytes: ${TARGET}`);
