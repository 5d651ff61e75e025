// Pages of the command in a real browser.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import test, { after, before } from "node:test";
import { arenaut, data, launch, open, pageOf, problemOf, scratch, settled, skip, text } from "./browser.js";

const MODEL = data("mobilenet_v1_025_96_int8.tflite");
let browser, modelPage;
before(async () => {
  if (skip) return;
  browser = await launch();
  modelPage = pageOf(MODEL);
});
after(() => browser?.close());

// Where the middle of a buffer's first rectangle is, in pixels of the window.
const middleOf = (page, name) => page.evaluate((wanted) => {
  const { picture, plan } = window.arenaut, b = plan.names.indexOf(wanted), i = plan.lifeStart[b], r = picture.rectangles;
  const at = document.getElementById("over").getBoundingClientRect();
  return { x: at.left + picture.xOf((r.x0[i] + r.x1[i]) / 2), y: at.top + picture.yOf((r.y0[i] + r.y1[i]) / 2) };
}, name);
const view = (page) => page.evaluate(() => window.arenaut.picture.view);
const rows = (page, table) => page.$$eval(`#${table} tbody tr`, (trs) => trs.map((tr) => [...tr.children].map((cell) => cell.textContent)));
const digits = (words) => words.replace(/,/g, "");

test("a page says what explain says", { skip }, async () => {
  const { page, wrong } = await open(browser, modelPage);
  const said = JSON.parse(arenaut("explain", MODEL, "--json"));
  const alive = await rows(page, "alive");
  assert.equal(alive.length, said.peak.live.length);
  const sizes = said.peak.live.map((id) => said.buffers[id].size);
  assert.deepEqual(alive.map((row) => Number(digits(row[1]))), sizes);
  assert.equal(Number(digits(alive.at(-1)[3])), said.peak.live_bytes);
  const remedies = await page.$$eval("#remedies li", (items) => items.map((item) => item.textContent));
  for (const remedy of said.remedies.filter((r) => r.without !== undefined)) {
    assert.ok(remedies.some((item) => digits(item).includes(`without ${said.buffers[remedy.without].name}: at least ${remedy.bound} `)
      && digits(item).includes(remedy.saves ? `saves ${remedy.saves};` : "saves nothing;") && item.endsWith(remedy.then)), remedy.without);
  }
  assert.match(await text(page, "#figures"), /tensor_arena82,256 bytes \([\d.]+ KiB\): head 55,296, tail 26,956.*head55,296 bytes.*waste above the peaknone/s);
  assert.match(await text(page, "#op-legend"), /^ops:.*CONV_2D.*DEPTHWISE_CONV_2D/);
  const coloursOf = (list) => page.$$eval(`${list} .swatch`, (all) => all.map((one) => one.style.background));
  const ofOps = await coloursOf("#op-legend");
  assert.ok((await coloursOf("#legend")).every((colour) => !ofOps.includes(colour)));
  await page.select("#colour", "op");
  assert.equal(await page.$eval("#op-legend", (list) => list.hidden), true);
  assert.deepEqual((await coloursOf("#legend")).slice(0, ofOps.length), ofOps);
  await page.select("#colour", "class");
  await page.waitForFunction(() => document.getElementById("waste").textContent);
  assert.equal(await text(page, "#waste"), "Over all steps, 38.1 KiB (70.6 %) of the head is unused on average, of which 1.6 KiB (3.1 %) lies in holes below what is in use.");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("every buffer is where the plan has it", { skip }, async () => {
  const { page } = await open(browser, modelPage);
  const plan = JSON.parse(arenaut("export", MODEL, "--as", "json"));
  const seen = await page.evaluate(() => {
    const { picture, plan: p } = window.arenaut, { raster } = picture, counts = {};
    for (let y = 0; y < raster.height; y++) for (let x = 0; x < raster.width; x++) {
      const id = raster.ids[y * raster.width + x];
      if (id) counts[p.owner[id - 1]] = (counts[p.owner[id - 1]] ?? 0) + 1;
    }
    return { counts, width: raster.width, height: raster.height, range: p.range, bytes: picture.lanes[0].bytes };
  });
  for (const b of plan.buffers) {
    const steps = ((b.end - b.first) / seen.range) * seen.width, bytes = (b.size / seen.bytes) * seen.height;
    const pixels = seen.counts[b.id];
    if (bytes < 2) continue; // it may lie under its neighbour, which is drawn a pixel high as well
    const least = Math.max(steps - 1, 1) * (bytes - 1);
    assert.ok(pixels >= least && pixels <= (steps + 1) * (bytes + 1), `${b.name}: ${pixels}`);
  }
  await page.close();
});

test("the pointer shows a buffer, a click keeps it", { skip }, async () => {
  const { page } = await open(browser, modelPage);
  assert.match(await text(page, "#card"), /^Point at a buffer/);
  let at = await middleOf(page, "conv_2d_5");
  await page.mouse.move(at.x, at.y);
  assert.match(await text(page, "#card"), /conv_2d_5.*int8 \[1,24,24,32\].*18,432.*read by/s);
  await page.mouse.click(at.x, at.y);
  at = await middleOf(page, "image");
  await page.mouse.move(at.x, at.y);
  assert.match(await text(page, "#card h3"), /^conv_2d_5$/);
  await page.keyboard.press("Escape");
  await page.mouse.move(at.x + 1, at.y);
  assert.match(await text(page, "#card h3"), /^image$/);
  await page.close();
});

test("the card says all that is known of a buffer", { skip }, async () => {
  const file = problemOf([{ name: "a", op: "CONV", source: "net.py:7", size: 100, align: 64, first: 0, end: 3, allowed_pools: [1] },
    { name: "b", first: 2, end: 5, same_base_as: 0, size: 100, allowed_pools: [1] }], [{ id: 0, name: "fast" }, { id: 1, name: "slow" }]);
  const { page } = await open(browser, pageOf(file), { hash: "#buf=1" });
  assert.match(await text(page, "#card"), /^b.*bytes100 \(100 B\).*alivesteps 2 to 4.*offset0 \(0x0\).*poolslow.*in placemay be written over a/s);
  await page.evaluate(() => window.arenaut.pick(0));
  assert.match(await text(page, "#card"), /^a.*alivesteps 0 to 2.*alignment64.*poolslow.*made byCONV.*sourcenet\.py:7/s);
  await page.close();
});

test("the strip above shows where one is, is drawn on, dragged and widened", { skip }, async () => {
  const { page } = await open(browser, modelPage), box = await (await page.$("#strip")).boundingBox();
  const at = (step) => page.evaluate((wanted) => window.arenaut.overview.xOf(wanted), step), y = box.y + box.height / 2;
  const drag = async (from, to) => {
    await page.mouse.move(box.x + await at(from), y);
    await page.mouse.down();
    await page.mouse.move(box.x + await at(to), y, { steps: 5 });
    await page.mouse.up();
    await settled(page);
    const seen = await view(page);
    return [seen.x0, seen.x1].map(Math.round);
  };
  assert.deepEqual(await drag(8, 20), [8, 20]);
  assert.deepEqual(await drag(14, 18), [12, 24]);
  assert.deepEqual(await drag(24, 30), [12, 30]);
  await page.mouse.click(box.x + await at(3), y, { count: 2 });
  await settled(page);
  assert.equal((await view(page)).x0, 0);
  await page.close();
});

test("wheel, drag and keys move the picture", { skip }, async () => {
  const { page } = await open(browser, modelPage);
  const whole = await view(page), at = await middleOf(page, "conv_2d_5");
  await page.mouse.move(at.x, at.y);
  await page.mouse.wheel({ deltaY: -600 });
  await settled(page);
  const near = await view(page), again = await middleOf(page, "conv_2d_5");
  assert.ok(near.x1 - near.x0 < (whole.x1 - whole.x0) / 2 && near.y1 - near.y0 === 1);
  assert.ok(Math.abs(again.x - at.x) < 40);
  await page.keyboard.down("Shift");
  await page.mouse.wheel({ deltaY: -300 });
  await page.keyboard.up("Shift");
  await settled(page);
  assert.ok((await view(page)).y1 - (await view(page)).y0 < 1);
  await page.mouse.down();
  await page.mouse.move(at.x + 80, at.y, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  assert.ok((await view(page)).x0 < near.x0);
  await page.keyboard.press("f");
  await settled(page);
  assert.deepEqual(await view(page), whole);
  await page.close();
});

test("the cursor goes step by step, and back to the peak", { skip }, async () => {
  const { page } = await open(browser, modelPage);
  await page.focus("#over");
  await page.keyboard.press("ArrowRight");
  assert.match(await text(page, "#when"), /^op 3 DEPTHWISE_CONV_2D$/);
  assert.deepEqual((await rows(page, "alive")).map((row) => row[0]), ["conv_2d_3", "depthwise_conv_2d_4"]);
  await page.keyboard.press("p");
  assert.match(await text(page, "#when"), /, the peak$/);
  await page.close();
});

test("a search finds, dims and goes from one to the next", { skip }, async () => {
  const { page } = await open(browser, modelPage);
  await page.keyboard.press("/");
  await page.keyboard.type("/depthwise.*_[48]$/");
  assert.equal(await text(page, "#count"), "2 found");
  assert.equal((await rows(page, "all")).length, 2);
  await page.keyboard.press("Enter");
  assert.equal(await text(page, "#card h3"), "depthwise_conv_2d_4");
  await page.keyboard.press("Enter");
  assert.equal(await text(page, "#card h3"), "depthwise_conv_2d_8");
  assert.equal(await text(page, "#count"), "2 of 2");
  await page.close();
});

test("a link shows what was seen", { skip }, async () => {
  const { page } = await open(browser, modelPage, { hash: "#t=4..12&a=0.1..0.6&buf=5&step=5&c=op&q=conv" });
  const seen = await view(page);
  assert.deepEqual([seen.x0, seen.x1, seen.y0, seen.y1].map((n) => Math.round(n * 100) / 100), [4, 12, 0.1, 0.6]);
  assert.equal(await text(page, "#card h3"), "conv_2d_5");
  assert.equal(await page.$eval("#colour", (select) => select.value), "op");
  await page.waitForFunction(() => location.hash.includes("t=4..12"));
  await page.close();
});

test("tables are sorted, filtered and copied", { skip }, async () => {
  const { page } = await open(browser, modelPage);
  const heading = await page.$("#all thead th:nth-child(2) button");
  await heading.evaluate((button) => button.click());
  const sizes = (await rows(page, "all")).map((row) => Number(digits(row[1])));
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
  assert.equal(await page.$eval("#all thead th:nth-child(2)", (th) => th.getAttribute("aria-sort")), "descending");
  await page.evaluate(() => { Object.defineProperty(navigator, "clipboard", { value: undefined }); });
  await page.$eval("#alive .tools button", (button) => button.click());
  assert.match(await page.$eval("#text", (area) => area.value), /^\| buffer \| bytes .*\| conv\\_2d\\_3 \| 36,864 /s);
  await page.close();
});

const HOSTILE = ["</script><script>window.hacked=1</script>", "</noscript><img src=x onerror=window.hacked=1>", "<!--<script>",
  "\u202eevil\u2066", "a\u0001b\u001b[31m", "]]>\"'&amp;", "@@DATA@@", "", "\\u003c", "\uffff", "__proto__", "x".repeat(1 << 20)];

test("names cannot do anything", { skip }, async () => {
  const file = pageOf(problemOf(HOSTILE.map((name) => ({ name, op: name, source: `${name} source` }))));
  const { page, wrong } = await open(browser, file);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  const names = (await rows(page, "all")).map((row) => row[0]);
  assert.equal(names.length, HOSTILE.length);
  assert.equal(names[0], HOSTILE[0]);
  assert.equal(names[3], "\ufffdevil\ufffd");
  assert.ok(names.every((name) => name.length <= 241));
  assert.equal(await page.$$eval("img, iframe, object", (nodes) => nodes.length), 0);
  await page.select("#colour", "layer");
  await page.select("#colour", "op");
  assert.deepEqual(wrong, []);
  await page.close();
  const still = await open(browser, file, { script: false });
  assert.equal(await still.page.$$eval("script", (nodes) => nodes.length), 4);
  assert.equal(await still.page.$$eval("img", (nodes) => nodes.length), 1);
  assert.deepEqual(still.wrong, []);
  await still.page.close();
});

test("nor can the names of files, in the title, the tables and a comparison", { skip }, async () => {
  const name = "<img src=x onerror=window.hacked=1>&quot;'\u202e.json", file = scratch(name), out = scratch("hostile.html");
  copyFileSync(problemOf(HOSTILE.slice(0, 6).map((each) => ({ name: each }))), file);
  arenaut("diff", file, problemOf([{ name: HOSTILE[1] }]), "-o", out);
  for (const html of [out, pageOf(file)]) {
    for (const script of [true, false]) {
      const { page, wrong } = await open(browser, html, { script });
      if (script) assert.equal(await page.evaluate(() => window.hacked), undefined);
      if (script) assert.match(await text(page, "#title"), /^<img src=x onerror=window\.hacked=1>&quot;'\ufffd\.json/);
      assert.equal(await page.$$eval("img", (nodes) => nodes.length), script ? 0 : 1);
      assert.deepEqual(wrong, []);
      await page.close();
    }
  }
});

test("the data has no markup", { skip }, () => {
  const page = readFileSync(pageOf(problemOf(HOSTILE.map((name) => ({ name })), [{ name: "</script>", id: 0 }])), "utf8");
  const inside = /<script type="application\/json" id="data">([^]*?)<\/script>/.exec(page)[1];
  assert.equal(inside.includes("<"), false);
  assert.equal(JSON.parse(inside).plans.length, 1);
});

test("problems of every size are shown", { skip }, async () => {
  const pools = Array.from({ length: 64 }, (_, id) => ({ id, name: `bank ${id}` }));
  const large = 2n ** 61n, odd = [2n ** 53n + 3n, 2n ** 53n + 1n], digitsOf = (n) => n.toLocaleString("en");
  for (const [what, file] of Object.entries({
    empty: problemOf([]), one: problemOf([{}]), zero: problemOf([{ size: 0 }, { size: 0 }]), "no life": problemOf([{ first: 1, end: 1 }]),
    "64 bits": problemOf([{ size: String(large) }, { size: String(large - 1n) }, { size: 1 }]),
    "no double": problemOf(odd.map((size) => ({ size: String(size) }))),
    "far steps": problemOf([{ first: -9000000000, end: 9000000000 }, { first: 8999999999, end: 9000000001 }]),
    pools: problemOf(pools.map(({ id }) => ({ allowed_pools: [id] })), pools),
  })) {
    const { page, wrong } = await open(browser, pageOf(file));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.ready), "yes", what);
    if (what === "64 bits") assert.match(await text(page, "#alive"), /2,305,843,009,213,693,952.*2,305,843,009,213,693,951/s);
    if (what === "no double") assert.deepEqual((await rows(page, "all")).map((row) => [row[1], row.at(-1)]), odd.map((bytes, b) => [digitsOf(bytes), digitsOf(b ? odd[0] : 0n)]));
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("p");
    assert.deepEqual(wrong, [], what);
    await page.close();
  }
});

test("streams of a trace have lanes of their own, tables say which and of which method, and what was reserved is said", { skip }, async () => {
  const { page, wrong } = await open(browser, pageOf(data("two_streams.trace.csv")));
  const headings = () => page.$$eval("#all thead th", (ths) => ths.map((th) => th.textContent));
  assert.deepEqual(await page.evaluate(() => window.arenaut.picture.lanes.map(({ pool }) => window.arenaut.plan.poolName(pool))), ["device 0 stream 0", "device 0 stream 7"]);
  const pool = (await headings()).indexOf("pool");
  assert.deepEqual((await rows(page, "all")).map((row) => row[pool]), [0, 0, 0, 7, 0].map((stream) => `device 0 stream ${stream}`));
  assert.ok(!(await headings()).includes("method"));
  const MiB = 2 ** 20;
  assert.deepEqual(await page.evaluate(() => [...window.arenaut.plan.reserved.live]), [2, 2, 4, 4, 4].map((n) => n * MiB));
  assert.match(await text(page, "#figures"), /reservedat most 4,194,304 bytes/);
  await page.keyboard.press("Home");
  assert.match(await text(page, "#story"), /^1 buffer is alive, .*; 2,097,152 were reserved; /);
  assert.deepEqual(wrong, []);
  await page.close();
  const methods = await open(browser, pageOf(data("pte/two_methods.pte")));
  const method = await methods.page.$$eval("#all thead th", (ths) => ths.findIndex((th) => th.textContent === "method"));
  assert.deepEqual(new Set((await rows(methods.page, "all")).map((row) => row[method])), new Set(["add", "scale"]));
  await methods.page.close();
  const single = await open(browser, modelPage);
  assert.ok(!(await single.page.$$eval("#all thead th", (ths) => ths.map((th) => th.textContent))).some((title) => /pool|method/.test(title)));
  await single.page.close();
});

test("a full arena is said to be in use", { skip }, async () => {
  const { page } = await open(browser, pageOf(problemOf([{ end: 1 }, { first: 1 }])));
  await page.waitForFunction(() => document.getElementById("waste").textContent);
  assert.equal(await text(page, "#waste"), "Over all steps, the whole arena is in use.");
  await page.close();
});

test("on a phone the picture is as wide as the window, and nothing is wider", { skip }, async () => {
  const { page } = await open(browser, pageOf(MODEL, "--what-if", "--replan"), { width: 390, height: 800, hash: "#buf=5" });
  const { picture, whole } = await page.evaluate(() => ({ picture: document.getElementById("stage").clientWidth, whole: document.documentElement.scrollWidth }));
  assert.ok(picture > 350, `${picture} pixels`);
  assert.equal(whole, 390);
  await page.close();
});

test("data of another version is said, not an empty page", { skip }, async () => {
  const { page } = await open(browser, modelPage);
  const html = (await page.content()).replace("arenaut.page/1", "arenaut.page/9");
  await page.setContent(html).catch(() => {});
  await page.waitForFunction(() => document.documentElement.dataset.ready === "failed");
  assert.match(await text(page, "#status"), /cannot show arenaut\.page\/9/);
  await page.close();
});

test("without scripts there are the still picture and the table", { skip }, async () => {
  const { page } = await open(browser, modelPage, { script: false });
  const picture = await page.$("noscript img");
  const { width, height } = await picture.boundingBox();
  assert.ok(width > 800 && height > 400);
  assert.match(await text(page, "noscript table"), /conv_2d_3.*36,864/s);
  assert.equal(await page.$eval("main", (node) => getComputedStyle(node).display), "none");
  await page.close();
});

test("plans with other flags are shown in turn", { skip }, async () => {
  const { page, wrong } = await open(browser, pageOf(MODEL, "--what-if"));
  const plans = await page.$$eval("#plan option", (options) => options.map((option) => option.textContent));
  assert.deepEqual(plans.map((plan) => plan.split(":")[0]), ["planned", "now", "results over operands", "results that reach into operands",
    "tiled ops", "inputs and outputs elsewhere", "buffers aligned to 64 bytes", "buffers aligned to 4,096 bytes"]);
  const beside = await rows(page, "variants");
  assert.deepEqual(beside.map((row) => row.slice(0, 3)).filter((row) => /now|order|reach/.test(row[0])),
    [["now", "", "73,728"], ["results that reach into operands", "--overlap on", "36,880"], ["ops in another order", "--reorder on", "55,296"]]);
  assert.equal(beside.find(([name]) => name === "now")[3], "+18,432 (33.3 %)");
  for (const [k, args] of [[0, []], [2, ["--inplace", "on"]], [3, ["--overlap", "on"]], [4, ["--split", "on"]], [5, ["--no-alloc-io"]], [6, ["--align", "64"]]]) {
    await page.select("#plan", String(k));
    const said = JSON.parse(arenaut("explain", MODEL, "--json", ...args));
    const shows = await page.evaluate(() => [...window.arenaut.plan.offset]);
    assert.deepEqual(shows, said.buffers.map((buffer) => buffer.offset));
    assert.match(await text(page, "#figures"), new RegExp(`head ${said.runtime.head.toLocaleString("en")}, tail ${said.runtime.tail.toLocaleString("en")}head${said.result.arena.toLocaleString("en")} bytes`));
  }
  const remedies = await page.$$eval("#remedies li", (items) => items.map((item) => item.textContent));
  for (const remedy of JSON.parse(arenaut("explain", MODEL, "--json")).remedies.filter((r) => r.flags)) {
    const saves = remedy.saves ? `saves ${remedy.saves}` : "saves nothing";
    assert.ok(remedies.some((item) => digits(item).includes(`(${remedy.flags}): head ${remedy.arena} ${remedy.reserve ? `to reserve ${remedy.reserve} ` : ""}${saves}`)), remedy.flags);
  }
  await page.waitForFunction(() => !window.arenaut.picture.moving);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a split model's page draws the ways that there were", { skip }, async () => {
  const model = data("inception_int8.tflite");
  const { page, wrong } = await open(browser, pageOf(model, "--split", "on"));
  const { ways, taken } = JSON.parse(arenaut("size", model, "--split", "on", "--json")).split;
  const plots = await page.$$eval("#front svg", (pictures) => pictures.map((picture) => [...picture.querySelectorAll("circle")]
    .map((point) => ({ x: Number(point.getAttribute("cx")), y: Number(point.getAttribute("cy")), taken: point.classList.contains("taken"), text: point.textContent }))));
  assert.equal(plots.length, 2);
  for (const [points, added] of [[plots[0], "added_ops"], [plots[1], "added_macs"]]) {
    assert.equal(points.length, ways.length);
    points.forEach((point, i) => {
      assert.equal(point.taken, i === taken);
      assert.ok(digits(point.text).includes(`at least ${ways[i].needs_at_least} bytes`), point.text);
      if (i > 0) assert.ok(point.y > points[i - 1].y);
      assert.ok(points.every((other, k) => (other.x - point.x) * (ways[k][added] - ways[i][added]) >= 0));
    });
  }
  assert.equal(await page.$$eval("#ways tbody tr", (rows) => rows.length), ways.length);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("the page of a training step draws its curve", { skip }, async () => {
  const tensors = [{ name: "x", bytes: 8, caller_owned: true }], ops = [];
  let last = "x";
  const add = (name, inputs, output) => { tensors.push({ name: output, bytes: 1000 }); ops.push({ name, kind: "out", inputs, outputs: [output] }); last = output; };
  for (let i = 0; i < 8; i++) add("F", [last], `a${i}`);
  for (let i = 7; i >= 0; i--) add("B", [last, `a${i}`], `g${i}`);
  const model = scratch("step.json"), flags = ["--recompute", "on", "--fit", "60%"];
  writeFileSync(model, JSON.stringify({ schema: "arenaut.program/1", tensors, ops, inputs: ["x"], outputs: [last] }));
  const { page, wrong } = await open(browser, pageOf(model, ...flags));
  const plan = JSON.parse(arenaut("plan", model, ...flags, "--json")), { curve } = JSON.parse(arenaut("explain", model, "--recompute", "on", "--json"));
  const points = await page.$$eval("#curve circle", (all) => all.map((point) => ({ x: Number(point.getAttribute("cx")), taken: point.classList.contains("taken"), text: point.textContent })));
  assert.equal(points.length, curve.points.filter((point) => point.fits).length + 1);
  curve.points.forEach((point, i) => {
    assert.ok(digits(points[i].text).includes(`${point.peak} bytes`), points[i].text);
    if (i > 0) assert.ok(points[i].x < points[i - 1].x);
  });
  assert.ok(points.at(-1).taken && digits(points.at(-1).text).startsWith(`this plan: ${plan.result.arena} bytes`), points.at(-1).text);
  assert.equal((await rows(page, "points")).length, curve.points.length);
  const again = await rows(page, "again");
  assert.equal(again.reduce((sum, row) => sum + Number(row[2]), 0), plan.recompute.added_ops);
  assert.ok(again.every((row) => row[1] === "F"));
  assert.deepEqual(wrong, []);
  await page.close();
});

// Each operand of the last op is made from much: the second beside the first, however often they are made.
test("a budget for which no schedule was found has no time", { skip }, async () => {
  const model = scratch("operands.json"), size = { x: 8, s: 1000, a: 100, t: 1000, b: 100, c: 8 };
  const tensors = Object.entries(size).map(([name, bytes]) => ({ name, bytes, caller_owned: name === "x" }));
  const ops = [["x", "s"], ["s", "a"], ["x", "t"], ["t", "b"]].map(([from, to]) => ({ name: "F", kind: "out", inputs: [from], outputs: [to] }));
  ops.push({ name: "G", kind: "out", inputs: ["a", "b"], outputs: ["c"] });
  writeFileSync(model, JSON.stringify({ schema: "arenaut.program/1", tensors, ops, inputs: ["x"], outputs: ["c"] }));
  const { page, wrong } = await open(browser, pageOf(model, "--recompute", "on"));
  const none = (await rows(page, "points")).filter((row) => row[1] === "none");
  assert.ok(none.length > 0 && none.every((row) => row[2] === "" && row[4] === ""), JSON.stringify(none));
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a page of two files says what diff says", { skip }, async () => {
  const before = problemOf([{ name: "a" }, { name: "b", first: 1, end: 3 }, { name: "a", size: 8 }, { name: "", size: 5 }, { name: "old" }]);
  const after = problemOf([{ name: "a", size: 48 }, { name: "b", first: 1, end: 3 }, { name: "new", size: 12 }, { name: "", size: 5 },
    { name: "renamed" }, { name: "a", size: 4 }]);
  const out = before.replace(".json", ".html");
  const said = JSON.parse(arenaut("diff", before, after, "--json", "-o", out));
  const { page, wrong } = await open(browser, out);
  const shown = await page.evaluate(() => window.arenaut.changes.filter(({ kind }) => kind !== "same"));
  const key = (kind, a, b) => `${kind} ${a} ${b}`;
  assert.deepEqual(shown.map(({ kind, a, b }) => key(kind, a, b)).sort(),
    said.changes.map((c) => key(c.kind, c.before?.id ?? -1, c.after?.id ?? -1)).sort());
  assert.deepEqual(new Set(said.changes.map((c) => c.kind)).size >= 4, true);
  await page.select("#colour", "change");
  await page.click("#changes tbody button");
  assert.ok(await page.$("#card h3"));
  assert.match(await text(page, "#changed"), /^The arena went from /);
  assert.equal(await text(page, "#title"), `${basename(before)} \u2192 ${basename(after)}`);
  assert.deepEqual(wrong, []);
  await page.close();
});

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const AXE_PAGES = { light: [MODEL], dark: [MODEL], "with all plans and the planner": [MODEL, "--what-if", "--replan"],
  split: [data("inception_int8.tflite"), "--split", "on"], "with methods and pools": [data("pte/two_methods.pte"), "--replan"] };
for (const [name, args] of Object.entries(AXE_PAGES)) {
  test(`nothing serious for axe, ${name}`, { skip }, async () => {
    const { page } = await open(browser, pageOf(...args), { dark: name === "dark", hash: "#buf=3" });
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => window.axe.run());
    const serious = violations.filter((v) => ["serious", "critical"].includes(v.impact));
    assert.deepEqual(serious.map((v) => [v.id, v.nodes.map((node) => node.html)]), []);
    await page.close();
  });
}

test("a small page for a small model, and for one of a hundred tensors", { skip }, () => {
  const many = problemOf(Array.from({ length: 100 }, (_, id) => (
    { name: `model/block_${id >> 2}/depthwise_conv2d_${id}/FusedBatchNormV3;${id}`, op: "CONV_2D", size: 4096 + 64 * id, first: id, end: id + 2 + (id % 3) })));
  for (const file of [modelPage, pageOf(many)]) assert.ok(statSync(file).size < 120 * 1024, `${statSync(file).size} bytes`);
});
