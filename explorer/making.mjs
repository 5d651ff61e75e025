// What the makers of pages share: bundles of modules, C compiled for WebAssembly, and a policy's words.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

const FLAGS = ["--target=wasm32-wasi", "-std=c11", "-Oz", "-flto", "-DNDEBUG", "-Iinclude", "-Isrc"];
const LINK_FLAGS = ["-Wl,--gc-sections", "-Wl,--strip-all"];

export function compiled(flags, sources) {
  const folder = mkdtempSync(join(tmpdir(), "arenaut-wasm-")), out = join(folder, "made.wasm");
  try {
    execFileSync("clang", [...FLAGS, ...flags, ...LINK_FLAGS, ...sources, "-o", out], { cwd: ROOT, stdio: "inherit" });
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const packed = (wasm) => deflateRawSync(wasm, { level: 9 }).toString("base64");
