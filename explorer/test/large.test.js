// A page of 100,000 buffers keeps to its figures: its size, and what the browser's main thread and the
// raster need of the processor, which other work of the machine hardly changes. bench.mjs measures
// the time that passes.
import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import test from "node:test";
import { launch, pageOf, scratch, skip } from "./browser.js";
import { Raster } from "../src/raster.js";
import { sample } from "../sample.mjs";
import { traced, until } from "../trace.mjs";

// Five times what an idle machine needs, so that a slow one passes and a loop too many does not.
const MANY = 100000, MOST_BYTES = 1.5e6, MOST_WORK_MS = 1000, MOST_RASTER_MS = 50;

test("the page of 100,000 buffers is small, and shows its picture soon", { skip, timeout: 120000 }, async () => {
  const problem = scratch("many.csv");
  writeFileSync(problem, sample(MANY));
  const file = pageOf(problem, "--planner", "skyline"), browser = await launch();
  assert.ok(statSync(file).size <= MOST_BYTES, `${statSync(file).size} bytes`);
  const page = await browser.newPage();
  const events = await traced(page, async () => {
    await page.goto(`file://${file}`);
    await page.waitForFunction(() => document.documentElement.dataset.ready);
  });
  const { work } = until(events, "picture");
  assert.ok(work > 0 && work <= MOST_WORK_MS, `${work} ms`);
  assert.ok(until(events, "tables").work > work);
  await browser.close();
});

test("a frame of 100,000 rectangles is drawn in time", () => {
  const steps = MANY, height = 100, n = MANY;
  const r = { order: Int32Array.from({ length: n }, (_, i) => i), x0: new Float64Array(n), x1: new Float64Array(n), y0: new Float64Array(n), y1: new Float64Array(n) };
  for (let i = 0; i < n; i++) {
    r.x0[i] = i;
    r.x1[i] = i + 1 + (i % 90);
    r.y0[i] = (i % height) / height;
    r.y1[i] = (i % height + 1) / height;
  }
  const raster = new Raster(1400, 450), colour = new Uint32Array(n).fill(0xff0000ff), times = [];
  for (let k = 0; k < 21; k++) {
    const half = steps / 2 / 1.1 ** k, before = process.cpuUsage();
    raster.clear(0xffffffff);
    raster.draw(r, { x0: steps / 2 - half, x1: steps / 2 + half, y0: 0, y1: 1 }, colour, 0xff000000);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  const median = times.sort((a, b) => a - b)[10];
  assert.ok(median <= MOST_RASTER_MS, `${median} ms`);
});
