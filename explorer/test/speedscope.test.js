// The trace as a reader of its format reads it: speedscope opens it in the browser and is asked for what
// it has understood, in its own format. Perfetto's own trace processor is in no registry (its Python
// package loads it from the makers' server), and Chromium's chrome://tracing is not in all builds.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { arenaut, data, launch, scratch, skip } from "./browser.js";

const reader = join(dirname(createRequire(import.meta.url).resolve("speedscope/package.json")), "dist/release/index.html");
let browser;
before(async () => { if (!skip) browser = await launch(); });
after(() => browser?.close());

// As its own command hands it a file: as a script that it loads.
async function readBy(page, name, trace) {
  const script = scratch(`${name}.js`);
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, "${Buffer.from(trace).toString("base64")}")`);
  await page.evaluateOnNewDocument(() => {
    URL.createObjectURL = (blob) => { window.saved = blob; return "#"; };
  });
  await page.goto(`${pathToFileURL(reader)}#localProfilePath=${script}`);
  const ready = "[...document.querySelectorAll('div')].find((node) => /Export$/.test(node.textContent) && !node.querySelector('div div'))";
  await page.waitForFunction(ready);
  await page.evaluate(`${ready}.click()`);
  return JSON.parse(await page.evaluate(() => window.saved.text()));
}

// What each lane holds, by its process and thread. A lane's time begins with its first event there.
function lanesRead({ shared, profiles }) {
  return Object.fromEntries(profiles.map(({ name, events }) => {
    const [, pid, tid] = /pid (\d+), tid (\d+)/.exec(name), of = (wanted) => events.filter(({ type }) => type === wanted);
    return [`${pid} ${tid}`, of("O").map(({ frame, at }, k) => {
      const close = of("C")[k];
      assert.equal(close.frame, frame);
      return [shared.frames[frame].name.split(" {")[0], at, close.at];
    })];
  }));
}

function lanesWritten({ traceEvents }) {
  const lanes = {};
  for (const { ph, pid, tid, name, ts, dur } of traceEvents) if (ph === "X") (lanes[`${pid} ${tid}`] ??= []).push([name, ts, ts + dur]);
  for (const [lane, spans] of Object.entries(lanes)) {
    const [[, first]] = spans;
    lanes[lane] = spans.map(([name, from, to]) => [name, from - first, to - first]);
  }
  return lanes;
}

for (const file of ["mobilenet_v1_025_96_int8.tflite", "fragmented.csv", "json/everything.problem.json"]) {
  test(`speedscope reads every lifetime of ${file}`, { skip }, async () => {
    const trace = arenaut("export", data(file), "--as", "perfetto"), page = await browser.newPage();
    const written = lanesWritten(JSON.parse(trace));
    assert.ok(Object.keys(written).length > 1);
    assert.deepEqual(lanesRead(await readBy(page, "plan.trace", trace)), written);
    await page.close();
  });
}
