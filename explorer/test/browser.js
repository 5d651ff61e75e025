// A browser for the tests, and pages made by the command. Where there is no browser, tests skip.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const COMMAND = process.env.ARENAUT ?? join(ROOT, "build", "arenaut");
export const data = (name) => join(ROOT, "tests", "data", name);

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const found = (process.env.PATH ?? "").split(":").flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

let puppeteer;
try {
  ({ default: puppeteer } = await import("puppeteer-core"));
} catch {
  puppeteer = null;
}

export const skip = !found ? "no Chromium is installed"
  : !puppeteer ? "run npm ci in explorer/" : !existsSync(COMMAND) ? "no command is built" : false;

export const launch = (options = {}) => puppeteer.launch({ executablePath: found, headless: true, ...options,
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });

const folder = mkdtempSync(join(tmpdir(), "arenaut-page-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

// A file that is gone when the tests are done.
export const scratch = (name) => join(folder, name);

export const arenaut = (...args) => execFileSync(COMMAND, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });

let pages = 0;
// The page of a file; other arguments go to the command.
export function pageOf(file, ...args) {
  const out = scratch(`page${pages++}.html`);
  arenaut("view", file, "-o", out, ...args);
  return out;
}

// A problem as a file: the whole of it, or one with these buffers.
export function written(problem) {
  const file = scratch(`problem${pages++}.json`);
  writeFileSync(file, JSON.stringify(problem));
  return file;
}
export const problemOf = (buffers, pools) => written({ schema: "arenaut.problem/1", pools,
  buffers: buffers.map((buffer, id) => ({ id, name: `b${id}`, size: 16, first: 0, end: 2, ...buffer })) });

// Opens a page, and notes all that should not happen: errors, requests, what the policy refuses. Blobs
// are the page's own.
export async function open(browser, file, { hash = "", dark = false, script = true, width = 1400, height = 1000 } = {}) {
  const page = await browser.newPage(), wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message} ${error.stack}`));
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("console", (message) => { if (message.type() === "error") wrong.push(`console: ${message.text()}`); });
  page.on("request", (request) => {
    if (!request.url().startsWith(pathToFileURL(file).href) && !/^(data|blob):/.test(request.url())) wrong.push(`request: ${request.url()}`);
  });
  await page.setViewport({ width, height });
  await page.setJavaScriptEnabled(script);
  if (dark) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await page.goto(pathToFileURL(file).href + hash, { waitUntil: "load" });
  if (script) await page.waitForFunction(() => document.documentElement.dataset.ready);
  if (script) await settled(page);
  return { page, wrong };
}

// Waits until what was asked for is drawn, and asks for nothing more: on a busy machine the page is laid out in parts.
export const settled = (page) =>
  page.evaluate(() => new Promise((done) => {
    let calm = 0;
    const look = () => {
      const picture = window.arenaut?.picture;
      calm = picture?.asked || picture?.moving ? 0 : calm + 1;
      if (calm === 3) done();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }));

export const text = (page, selector) => page.$eval(selector, (node) => node.textContent);
