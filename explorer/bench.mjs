// How fast the page is: file size, time to the first picture, and time of a frame while zooming from
// all of the plan to its middle, for plans of the sizes given (default: 100000 and 1000000 buffers).
//   node bench.mjs [N ...]        in explorer/, after npm ci and with the command built
import { statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, pageOf, skip } from "./test/browser.js";
import { sample } from "./sample.mjs";

const FRAMES = 60;

function problem(n) {
  const file = join(tmpdir(), `arenaut-bench-${n}.csv`);
  writeFileSync(file, sample(n));
  return file;
}

async function measure(browser, n) {
  const file = pageOf(problem(n), "--planner", "skyline"), page = await browser.newPage();
  await page.setViewport({ width: 1600, height: 900 });
  const began = Date.now();
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => window.arenaut?.picture.timings.length);
  const opened = Date.now() - began;
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
  const megabytes = (statSync(file).size / 1e6).toFixed(2);
  console.log(`| ${n.toLocaleString("en")} | ${megabytes} MB | ${opened} ms | ${frames.raster.toFixed(1)} ms | ${Math.round(frames.rate)} |`);
}

if (skip) throw new Error(skip);
const browser = await launch();
console.log("| buffers | file | first picture | raster, median | frames a second |\n| ---: | ---: | ---: | ---: | ---: |");
for (const n of process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100000, 1000000]) await measure(browser, n);
await browser.close();
