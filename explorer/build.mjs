// Makes dist/page.html, the template that the library writes pages with, from page.html,
// page.css and src/: one script, one style, a policy that allows these two and nothing else, the text
// of the worker that plans; the marks of src/report/html_report.c stay. With --check it only says
// whether the file that is there is the one that would be made.
import { readFileSync, writeFileSync } from "node:fs";
import { bundle, hash, here } from "./making.mjs";

const target = here("dist/page.html");

function policy(script, style) {
  return ["default-src 'none'", `script-src ${hash(script)}@@RIGHTS@@`, `style-src ${hash(style)}`,
    "img-src data:", "base-uri 'none'", "form-action 'none'"].join("; ");
}

const script = await bundle("src/main.js", { format: "iife" });
const worker = await bundle("src/planner_worker.js", { format: "iife" });
const style = await bundle("page.css", {});
const page = readFileSync(here("page.html"), "utf8").replace(/^\s+/gm, "")
  .replace("@@POLICY@@", () => policy(script, style))
  .replace("@@STYLE@@", () => style).replace("@@SCRIPT@@", () => script).replace("@@WORKER@@", () => worker);
const marks = page.split("@@").filter((_, i) => i % 2).join(" ");
if (marks !== "RIGHTS TITLE STILL DATA PLANNER") throw new Error("page.html has other marks than html_report.c");
// eslint-disable-next-line no-control-regex
if (/[^\x00-\x7f]/.test(page)) throw new Error("the page is ASCII");

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== page) {
    console.error(`${target} is not what explorer/ makes: run "npm run build" in explorer/`);
    process.exit(1);
  }
} else {
  writeFileSync(target, page);
  console.log(`script ${script.length}, style ${style.length}, page ${page.length} bytes`);
}
