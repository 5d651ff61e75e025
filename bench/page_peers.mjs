// The page beside plotly on the same placed buffers: file size, time to the first picture, time of one
// zoom to the middle half of the steps. Plotly draws each buffer as a bar, from its offset, as wide as
// its life: one trace, which is its fastest way to so many rectangles with addresses.
//   node bench/page_peers.mjs [N]      (default 100000); needs npm, `npm ci` in explorer/, the command
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { arenaut, launch, pageOf } from "../explorer/test/browser.js";
import { sample } from "../explorer/sample.mjs";

const PLOTLY = "plotly.js-dist-min@4.1.2", RUNS = 3, MOST_MS = 100000;
const folder = fileURLToPath(new URL("../build/bench/page", import.meta.url)), n = Number(process.argv[2] ?? 100000);
const problem = join(folder, `${n}.csv`);

function installed() {
  const script = join(folder, "node_modules/plotly.js-dist-min/plotly.min.js");
  if (!existsSync(script)) execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", PLOTLY], { cwd: folder, stdio: "inherit" });
  return readFileSync(script, "utf8").replace(/<\/script/gi, "<\\/script");
}

function plotlyPage() {
  const [, ...rows] = arenaut("plan", problem, "--planner", "skyline", "-o", "-").trim().split("\n");
  const columns = rows.map((row) => row.split(",").map(Number));
  const trace = { type: "bar", x: columns.map(([, first, end]) => (first + end) / 2), width: columns.map(([, first, end]) => end - first),
    base: columns.map((row) => row.at(-1)), y: columns.map(([, , , size]) => size), hovertext: columns.map(([id]) => String(id)) };
  const file = join(folder, "plotly.html");
  writeFileSync(file, `<!doctype html><meta charset="utf-8"><div id="plot" style="width:1500px;height:850px"></div><script>${installed()}</script>
<script>const range = ${n}; Plotly.newPlot("plot", [${JSON.stringify(trace)}], { bargap: 0, xaxis: { range: [0, range] } }).then(() => { window.drawn = true; });
window.zoomed = () => Plotly.relayout("plot", { "xaxis.range": [range / 4, 3 * range / 4] });</script>`);
  return file;
}

const PEERS = [
  { name: "arenaut", file: () => pageOf(problem, "--planner", "skyline"), drawn: "window.arenaut?.picture.timings.length",
    zoom: "window.arenaut.picture.look({ x0: window.arenaut.plan.range / 4, x1: 3 * window.arenaut.plan.range / 4, y0: 0, y1: 1 })" },
  { name: PLOTLY.replace("@", " "), file: plotlyPage, drawn: "window.drawn", zoom: "window.zoomed()" },
];

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function measured(browser, peer, file) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1600, height: 900 });
  page.setDefaultTimeout(MOST_MS);
  const began = performance.now();
  await page.goto(`file://${file}`);
  await page.waitForFunction(peer.drawn);
  const first = performance.now() - began;
  const zoom = await page.evaluate(`(async () => {
    const frame = () => new Promise(requestAnimationFrame), began = performance.now();
    await ${peer.zoom};
    await frame();
    await frame();
    return performance.now() - began;
  })()`);
  await page.close();
  return { first, zoom };
}

mkdirSync(folder, { recursive: true });
writeFileSync(problem, sample(n));

// Medians; a browser of its own for each, since one that runs out of memory takes its pages with it.
async function figures(peer, file) {
  const browser = await launch({ protocolTimeout: MOST_MS }), runs = [];
  try {
    for (let k = 0; k < RUNS; k++) runs.push(await measured(browser, peer, file));
    return ["first", "zoom"].map((what) => `${Math.round(median(runs.map((run) => run[what])))} ms`);
  } catch (error) {
    return [`none within ${MOST_MS / 1000} s (${error.message.split("\n")[0]})`, ""];
  } finally {
    await browser.close();
  }
}

console.log("| | file | first picture | zoom |\n| --- | ---: | ---: | ---: |");
for (const peer of PEERS) {
  const file = peer.file();
  console.log(`| ${[peer.name, `${(statSync(file).size / 1e6).toFixed(2)} MB`, ...await figures(peer, file)].join(" | ")} |`);
}
