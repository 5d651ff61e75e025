// What the makers of pages share: bundles of modules, C compiled for WebAssembly, and a policy's words.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { deflateRawSync } from "node:zlib";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const here = (name) => fileURLToPath(new URL(name, import.meta.url));
export const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// Scripts and styles become elements of a page, which nothing in them may end.
const ENDS = { js: /<\/script|<!--/i, css: /<\// };
export async function bundle(entry, options) {
  const { build } = await import("esbuild");
  const made = await build({ entryPoints: [here(entry)], bundle: true, minify: true, write: false,
    charset: "ascii", target: "es2022", legalComments: "none", logLevel: "error", ...options });
  const text = made.outputFiles[0].text.trim();
  if (ENDS[entry.split(".").at(-1)].test(text)) throw new Error(`${entry} would end its element`);
  return text;
}

export function sourcesIn(folder) {
  return readdirSync(join(ROOT, folder)).sort().flatMap((name) => {
    const path = `${folder}/${name}`;
    if (statSync(join(ROOT, path)).isDirectory()) return sourcesIn(path);
    return name.endsWith(".c") ? [path] : [];
  });
}

// One set for all, so that what is compiled for one page is known for the other. The warnings are clang's, of the
// sources of the command, too.
const WARNINGS = ["all", "extra", "shadow", "vla", "undef", "pointer-arith", "write-strings", "strict-prototypes",
  "missing-prototypes", "error"].map((name) => `-W${name}`);
const FLAGS = ["--target=wasm32-wasi", "-std=c11", "-Oz", "-flto", "-DNDEBUG", "-DARENAUT_NO_THREADS", "-Iinclude", "-Isrc",
  "-Ibuild/generated", ...WARNINGS];
const LINK_FLAGS = ["-Wl,--gc-sections", "-Wl,--strip-all"];

// Where ccache is, it knows the objects of an earlier page.
const cached = process.env.PATH.split(delimiter).some((folder) => existsSync(join(folder, "ccache")));
const [COMPILER, ...FIRST] = cached ? ["ccache", "clang"] : ["clang"];
const clang = (...words) => promisify(execFile)(COMPILER, [...FIRST, ...words], { cwd: ROOT });

async function object(folder, source, place) {
  const out = join(folder, `${place}.o`);
  await clang(...FLAGS, "-c", source, "-o", out);
  return out;
}

// All processors compile; the objects are linked in the order of the sources.
export async function compiled(sources, linkFlags) {
  const folder = mkdtempSync(join(tmpdir(), "arenaut-wasm-")), out = join(folder, "made.wasm"), objects = [];
  let next = 0;
  const worker = async () => {
    for (let place = next++; place < sources.length; place = next++) objects[place] = await object(folder, sources[place], place);
  };
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
    await clang(...FLAGS, ...LINK_FLAGS, ...linkFlags, ...objects, "-o", out);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const packed = (wasm) => deflateRawSync(wasm, { level: 9 }).toString("base64");
