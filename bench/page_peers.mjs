// The page beside plotly and PyTorch's memory_viz on the same placed buffers: file size, time to the
// first picture and of one zoom to the middle half of the steps, each with what the page's main thread
// was at work of it. Plotly draws each buffer as a bar,
// from its offset, as wide as its life: one trace, which is its fastest way to so many rectangles with
// addresses. memory_viz gets the snapshot that its allocator would have recorded, one event for each
// that is handed out or given back; it draws the 15,000 largest, and all where its slider is moved to
// the end. It is no package and comes with no wheel (torch's own page loads it from a CDN), so its
// script, torch/utils/viz/MemoryViz.js of PyTorch's sources, is measured where it is named.
//   node bench/page_peers.mjs [N [MemoryViz.js]]      (default 100000); needs npm, python3, `npm ci` in
//                                                     explorer/, the command
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "../explorer/node_modules/esbuild/lib/main.js";
import { arenaut, launch, pageOf } from "../explorer/test/browser.js";
import { sample } from "../explorer/sample.mjs";
import { traced, until } from "../explorer/trace.mjs";

const PLOTLY = "plotly.js-dist-min@4.1.2", D3 = "d3@5.16.0", RUNS = 3, MOST_MS = 100000;
const folder = fileURLToPath(new URL("../build/bench/page", import.meta.url)), n = Number(process.argv[2] ?? 100000);
const problem = join(folder, `${n}.csv`), memoryViz = process.argv[3];

function installed(module, ...packages) {
  const script = join(folder, "node_modules", module);
  if (!existsSync(script)) execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", ...packages], { cwd: folder, stdio: "inherit" });
  return script;
}

const inline = (script) => `<script>${script.replace(/<\/script/gi, "<\\/script")}</script>`;

// [id, first step, end, size, offset] of each buffer.
let placed;
function columnsOfPlan() {
  placed ??= arenaut("plan", problem, "--planner", "skyline", "-o", "-").trim().split("\n").slice(1).map((row) => row.split(",").map(Number));
  return placed;
}

function plotlyPage() {
  const columns = columnsOfPlan(), script = readFileSync(installed("plotly.js-dist-min/plotly.min.js", PLOTLY, D3), "utf8");
  const trace = { type: "bar", x: columns.map(([, first, end]) => (first + end) / 2), width: columns.map(([, first, end]) => end - first),
    base: columns.map((row) => row.at(-1)), y: columns.map(([, , , size]) => size), hovertext: columns.map(([id]) => String(id)) };
  const file = join(folder, "plotly.html");
  writeFileSync(file, `<!doctype html><meta charset="utf-8"><div id="plot" style="width:1500px;height:850px"></div>${inline(script)}
<script>const range = ${n}; Plotly.newPlot("plot", [${JSON.stringify(trace)}], { bargap: 0, xaxis: { range: [0, range] } }).then(() => performance.mark("picture"));
window.zoomed = () => Plotly.relayout("plot", { "xaxis.range": [range / 4, 3 * range / 4] });</script>`);
  return file;
}

// Its script with the modules that it would load from a CDN, as one.
async function memoryVizScript() {
  installed("d3/package.json", PLOTLY, D3);
  const modules = { name: "modules", setup(made) {
    made.onResolve({ filter: /^https:/ }, ({ path }) => made.resolve(/\/([\w-]+)@\d+$/.exec(path)[1], { resolveDir: folder, kind: "import-statement" }));
  } };
  const made = await build({ entryPoints: [memoryViz], bundle: true, minify: true, write: false, format: "iife", globalName: "viz", logLevel: "error", plugins: [modules] });
  return made.outputFiles[0].text;
}

const PICKLED = "import base64, json, pickle, sys; sys.stdout.write(base64.b64encode(pickle.dumps(json.load(sys.stdin), 4)).decode())";

function snapshot() {
  const event = (action, [, , , size, offset], step) => ({ action, addr: offset, size, stream: 0, frames: [], time_us: step });
  const events = columnsOfPlan().flatMap((row) => [[row[1], 1, event("alloc", row, row[1])], [row[2], 0, event("free_completed", row, row[2])]])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , made]) => made);
  return execFileSync("python3", ["-c", PICKLED], { input: JSON.stringify({ segments: [], device_traces: [events] }), encoding: "utf8", maxBuffer: 1 << 28 });
}

async function memoryVizPage(all) {
  const file = join(folder, `memory_viz${all ? "_all" : ""}.html`);
  const detail = `const slider = document.querySelector("input[type=range]"); slider.value = slider.max; slider.dispatchEvent(new Event("change"));`;
  writeFileSync(file, `<!doctype html><meta charset="utf-8"><body>${inline(await memoryVizScript())}<script>
viz.add_local_files([{ name: "snapshot", base64: "${snapshot()}" }], "Active Memory Timeline"); ${all ? detail : ""}
requestAnimationFrame(() => setTimeout(() => performance.mark("picture")));
window.zoomed = () => document.querySelector("svg g g").dispatchEvent(new WheelEvent("wheel", { deltaY: -500, clientX: 800, clientY: 300, bubbles: true, cancelable: true }));</script>`);
  return file;
}

const PEERS = [
  { name: "arenaut", file: () => pageOf(problem, "--planner", "skyline"),
    zoom: "window.arenaut.picture.look({ x0: window.arenaut.plan.range / 4, x1: 3 * window.arenaut.plan.range / 4, y0: 0, y1: 1 })" },
  { name: PLOTLY.replace("@", " "), file: plotlyPage, zoom: "window.zoomed()" },
  ...(memoryViz ? [{ name: "memory_viz, the 15,000 largest", file: () => memoryVizPage(false), zoom: "window.zoomed()" },
    { name: "memory_viz, all", file: () => memoryVizPage(true), zoom: "window.zoomed()" }] : []),
];

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function measured(browser, peer, file) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1600, height: 900 });
  page.setDefaultTimeout(MOST_MS);
  const events = await traced(page, async () => {
    await page.goto(`file://${file}`);
    await page.waitForFunction("performance.getEntriesByName('picture').length");
    await page.evaluate(`(async () => {
      const frame = () => new Promise(requestAnimationFrame);
      performance.mark("zoom");
      await ${peer.zoom};
      await frame();
      await frame();
      performance.mark("zoomed");
    })()`);
  });
  await page.close();
  const first = until(events, "picture"), zoom = until(events, "zoomed", "zoom");
  return { first: first.passed, firstWork: first.work, zoom: zoom.passed, zoomWork: zoom.work };
}

mkdirSync(folder, { recursive: true });
writeFileSync(problem, sample(n));

// Medians; a browser of its own for each, since one that runs out of memory takes its pages with it.
async function figures(peer, file) {
  const browser = await launch({ protocolTimeout: MOST_MS }), runs = [];
  try {
    for (let k = 0; k < RUNS; k++) runs.push(await measured(browser, peer, file));
    return ["first", "firstWork", "zoom", "zoomWork"].map((what) => `${Math.round(median(runs.map((run) => run[what])))} ms`);
  } catch (error) {
    return [/timed out|timeout/i.test(error.message) ? `none within ${MOST_MS / 1000} s` : `none: ${error.message.split("\n")[0]}`, "", "", ""];
  } finally {
    await browser.close();
  }
}

console.log("| | file | first picture | of it at work | zoom | of it at work |\n| --- | ---: | ---: | ---: | ---: | ---: |");
for (const peer of PEERS) {
  const file = await peer.file();
  console.log(`| ${[peer.name, `${(statSync(file).size / 1e6).toFixed(2)} MB`, ...await figures(peer, file)].join(" | ")} |`);
}
