// How fast the page is: file size, time to the first picture and to the last table, how much of that
// the page itself was at work (which other work of the machine does not change), and time of a frame
// while zooming from all of the plan to its middle; medians of some runs, for plans of the sizes given
// (default: 100000 and 1000000 buffers).
//   node bench.mjs [N ...]        in explorer/, after npm ci and with the command built
import { statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, pageOf, skip } from "./test/browser.js";
import { sample } from "./sample.mjs";
import { traced, until } from "./trace.mjs";

const FRAMES = 60, RUNS = 5;
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

function problem(n) {
  const file = join(tmpdir(), `arenaut-bench-${n}.csv`);
  writeFileSync(file, sample(n));
  return file;
}

async function measure(browser, file) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1600, height: 900 });
  const events = await traced(page, async () => {
    await page.goto(`file://${file}`);
    await page.waitForFunction(() => document.documentElement.dataset.ready);
  });
  const { passed: first, work } = until(events, "picture"), { passed: whole } = until(events, "tables");
  const frames = await page.evaluate(async (count) => {
    const { picture } = window.arenaut, middle = picture.plan.range / 2;
    picture.timings.length = 0;
    const start = performance.now();
    for (let k = 0; k < count; k++) {
      const half = picture.plan.range / 2 / 1.1 ** k;
      picture.look({ x0: middle - half, x1: middle + half, y0: 0, y1: 1 });
      await new Promise(requestAnimationFrame);
    }
    const sorted = [...picture.timings].sort((a, b) => a - b);
    return { rate: (count / (performance.now() - start)) * 1000, raster: sorted[sorted.length >> 1] };
  }, FRAMES);
  await page.close();
  return { first, work, whole, ...frames };
}

async function row(browser, n) {
  const file = pageOf(problem(n), "--planner", "skyline"), runs = [];
  for (let k = 0; k < RUNS; k++) runs.push(await measure(browser, file));
  const of = (what) => median(runs.map((run) => run[what]));
  const cells = [n.toLocaleString("en"), `${(statSync(file).size / 1e6).toFixed(2)} MB`, ...["first", "work", "whole"].map((what) => `${Math.round(of(what))} ms`),
    `${of("raster").toFixed(1)} ms`, Math.round(of("rate"))];
  console.log(`| ${cells.join(" | ")} |`);
}

if (skip) throw new Error(skip);
const browser = await launch();
console.log("| buffers | file | first picture | of it at work | with all tables | raster | frames a second |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const n of process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100000, 1000000]) await row(browser, n);
await browser.close();
