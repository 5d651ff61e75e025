// The page that is the command (build/arenaut.html, `make browser`) beside the command: the same text,
// the same files, the same exit codes; under Node on many files, and in Chromium.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import test, { after, before } from "node:test";
import { inflateRawSync } from "node:zlib";
import { COMMAND, ROOT, data, launch, open, problemOf, scratch, skip as noBrowser, text } from "./browser.js";
import { run } from "../command/wasi.js";
import { commandOf, isTrace, linkOf, print, readLink, valueOf, withValue, wordsOf } from "../command/words.js";

const PAGE = join(ROOT, "build", "arenaut.html"), MODEL = data("mobilenet_v1_025_96_int8.tflite");
const skip = existsSync(PAGE) ? noBrowser : "no page is built: make browser";
let browser, module;
before(async () => {
  if (skip) return;
  const [, base64] = readFileSync(PAGE, "utf8").match(/id="command">([^<]*)</);
  module = await WebAssembly.compile(inflateRawSync(Buffer.from(base64, "base64")));
  browser = await launch();
});
after(() => browser?.close());

// ---- under Node ----

const given = (path) => { const bytes = readFileSync(path); return { size: bytes.length, slice: (from, to) => bytes.subarray(from, to) }; };
const untimed = (results) => results.replace(/"seconds": [0-9.e-]+/g, '"seconds": 0');
const digest = (path, bytes) => createHash("sha256").update(path.endsWith(".json") ? untimed(Buffer.from(bytes).toString()) : bytes).digest("hex");
const same = (entries) => Object.fromEntries(entries.map(([path, bytes]) => [path, digest(path, bytes)]));
const progress = /\r\x1b\[K[^\r]*/g; // eslint-disable-line no-control-regex

async function inPage(paths, args) {
  const told = ["", "", ""], decoder = new TextDecoder();
  const { code, made } = await run(module, { args, files: paths.map((path) => [basename(path), given(path)]), print: (fd, bytes) => { told[fd] += decoder.decode(bytes); } });
  return { code, results: untimed(told[1]), messages: told[2].replace(progress, ""), made: same(made) };
}

function filesIn(folder, inside = "") {
  return readdirSync(join(folder, inside)).flatMap((name) => {
    const path = join(inside, name);
    return statSync(join(folder, path)).isDirectory() ? filesIn(folder, path) : [path];
  });
}

function inShell(paths, args) {
  const folder = scratch("shell"), names = paths.map((path) => basename(path));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const path of paths) copyFileSync(path, join(folder, basename(path)));
  const done = spawnSync(COMMAND, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, env: { PATH: process.env.PATH } });
  const made = filesIn(folder).filter((path) => !names.includes(path));
  return { code: done.status, results: untimed(done.stdout), messages: done.stderr, made: same(made.map((path) => [path, readFileSync(join(folder, path))])) };
}

// Of each format every file, or every Nth (tests/support/drawn.h).
const ONE_OF = Number(process.env.ARENAUT_ONE_OF ?? 1);
const MODELS = ["", "json/", "pte/", "onnx/", "pt2/", "tvm/", "trace/", "xla/", "iree/"].flatMap((folder) =>
  readdirSync(data(folder)).map((name) => data(folder + name)).filter((path) => statSync(path).isFile())
    .filter((_, place) => place % ONE_OF === 0));
const LINES = [["size"], ["explain"], ["check"], ["plan", "--json"], ["plan", "--overlap", "on", "--inplace", "on", "--effort", "20000"], ["view"], ["size", "--no-such-flag"]];

test("files of every format: the text, the files and the exit codes of the command", { skip }, async () => {
  for (const path of MODELS) {
    for (const [verb, ...flags] of LINES) {
      const args = commandOf(verb, [basename(path)], flags.join(" "));
      assert.deepEqual(await inPage([path], args), inShell([path], args), args.join(" "));
    }
  }
});

test("several files, folders, and weights beside a model", { skip }, async () => {
  const two = [MODEL, data("hello_world_int8.tflite")], names = two.map((path) => basename(path));
  for (const args of [["size", ...names, "--one-arena"], ["plan", ...names, "-o", "planned"], ["plan", ...names, "-o", "no/such"], ["diff", ...names], ["size", "missing.tflite"], ["help", "plan"]])
    assert.deepEqual(await inPage(two, args), inShell(two, args), args.join(" "));
});

test("a file that is there is not written over, and half of one is never made", { skip }, async () => {
  const args = ["plan", basename(MODEL), "-o", basename(MODEL)], page = await inPage([MODEL], args);
  assert.deepEqual(page, inShell([MODEL], args));
  assert.notEqual(page.code, 0);
  const cut = scratch("cut.tflite");
  writeFileSync(cut, readFileSync(MODEL).subarray(0, 200000));
  const broken = await inPage([cut], ["plan", "cut.tflite", "-o", "out.tflite"]);
  assert.deepEqual(broken, inShell([cut], ["plan", "cut.tflite", "-o", "out.tflite"]));
  assert.deepEqual([broken.code, broken.made], [3, {}]);
});

test("words of a line, flags in it, and lines that are written anew", () => {
  assert.deepEqual(wordsOf(` --pool "dtcm=4 K" --set 'a b'c  d`), ["--pool", "dtcm=4 K", "--set", "a bc", "d"]);
  assert.equal(valueOf("--split on --fit 60K", "--fit"), "60K");
  assert.equal(valueOf("--split on", "--fit"), null);
  assert.equal(withValue("--split on --fit 60K", "--fit", "1 K"), "--split on --fit '1 K'");
  assert.equal(withValue("--split on --fit 60K", "--split", null), "--fit 60K");
  assert.deepEqual(commandOf("plan", ["a.onnx"], "--overlap on"), ["plan", "a.onnx", "--overlap", "on"]);
  assert.deepEqual(commandOf("plan", ["a.onnx"], "--split on"), ["plan", "a.onnx", "-o", "planned_a.onnx", "--split", "on"]);
  assert.deepEqual(commandOf("plan", ["a.onnx"], "-o b"), ["plan", "a.onnx", "-o", "b"]);
  assert.deepEqual([valueOf("--split=on", "--split"), valueOf("--split --inplace on", "--split")], ["on", ""]);
  assert.equal(withValue("--split=on --fit 60K", "--split", null), "--fit 60K");
  assert.equal(withValue("--split --inplace on", "--split", null), "--inplace on");
  assert.equal(withValue("--set 'a b", "--split", "on"), "--set 'a b' --split on");
});

test("a link is read whatever is in it", () => {
  assert.equal(readLink("#plan%20--fit 60%"), "plan --fit 60%");
  assert.equal(readLink("#plan%ff%20é%zz"), "plan%ff%20é%zz");
  for (const line of ["plan --fit 60%", "size --pin a%20b=%41"]) assert.equal(readLink(linkOf(line)), line);
  assert.equal(readLink(linkOf("size \ud800")), "size \ufffd");
});

// As far as `print` needs one.
class Element {
  texts = [];
  get lastChild() { return this.texts.at(-1); }
  get textContent() { return this.texts.map(({ data }) => data).join(""); }
  append(data) { this.texts.push({ data, remove: () => this.texts.pop() }); }
}

test("a line that is written anew replaces the last one, and 25 MB are printed without copies", () => {
  const line = new Element(), large = new Element(), part = "x".repeat(1000);
  for (const more of ["a\nbe", "st 1", "\r\x1b[Kbest 2\r\x1b[Kb"]) print(line, more);
  assert.equal(line.textContent, "a\nb");
  for (let i = 0; i < 25000; i++) print(large, part);
  assert.ok(large.texts.every(({ data }) => data === part));
});

test("where a result goes: a file that can be written, of a name that no file has", { skip }, async () => {
  const planned = (name, flags = "") => commandOf("plan", [name], flags).slice(2, 4);
  assert.deepEqual(["event,time,address,size", '"size", "event"', "id,lower,upper,size", ""].map((head) => isTrace("a.CSV", `${head}\r\nevent,size`)), [true, true, false, false]);
  assert.ok(!isTrace("events.json", "event,size"));
  for (const [name, output] of Object.entries({ "M.TFLITE": "planned_M.tflite", "m.c": "planned_m.c.plan.json", m: "planned_m.plan.json", "-m.pte": "planned_-m.pte" })) {
    assert.deepEqual(planned(name), ["-o", output]);
  }
  assert.deepEqual(planned("a.hlo.pb", "--reorder on"), ["--reorder", "on"]);
  assert.deepEqual(planned("a.onnx", "--split=off"), ["--split=off"]);
  for (const given of ["-ob.csv", "-fo b.csv", "--output=b.csv"]) assert.deepEqual(planned("a.csv", given), given.split(" "));
  assert.deepEqual(commandOf("view", ["plan.html", "-a.csv"], ""), ["view", "plan.html", "./-a.csv", "-o", "new_plan.html"]);
  assert.deepEqual(commandOf("plan", ["A.TFLITE", "b.tflite"], ""), ["plan", "A.TFLITE", "b.tflite"]);
  const named = [[MODEL, "M.TFLITE"], [MODEL, "model"], [MODEL, "-f"], [MODEL, "m.tflite", "--pool a=1M --pool b=1M"], [data("trace/streams.trace.csv"), "plain.csv"], [data("fragmented.csv"), "problem.csv"]];
  for (const [path, name, flags] of named) {
    const copy = scratch(name);
    copyFileSync(path, copy);
    const traces = new Set([name].filter(() => isTrace(name, readFileSync(copy, "latin1").slice(0, 4096))));
    const args = commandOf("plan", [name], flags ?? "", traces), page = await inPage([copy], args);
    assert.deepEqual(page, inShell([copy], args), args.join(" "));
    assert.deepEqual([page.code, Object.keys(page.made).length], [0, 1], args.join(" "));
  }
});

// A field of a protobuf: a number, or what has a length.
function field(number, value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([8 * number + 2, bytes.length]), bytes]);
}
const numbered = (number, value) => Buffer.from([8 * number, value]);
const message = (...fields) => Buffer.concat(fields);

// y = x + w, where w lies in another file.
function apartModel(weights) {
  const floats = (name) => message(field(1, name), field(2, field(1, message(numbered(1, 1), field(2, field(1, numbered(1, 4)))))));
  const entry = (key, value) => field(13, message(field(1, key), field(2, value)));
  const tensor = message(numbered(1, 4), numbered(2, 1), field(8, "w"), entry("location", weights), entry("length", "16"), numbered(14, 1));
  const add = message(field(1, "x"), field(1, "w"), field(2, "y"), field(4, "Add"));
  const graph = message(field(1, add), field(2, "g"), field(5, tensor), field(11, floats("x")), field(12, floats("y")));
  return message(numbered(1, 8), field(7, graph), field(8, numbered(2, 13)));
}

test("the data of a model are there, and no input", { skip }, async () => {
  const model = scratch("apart.onnx"), weights = scratch("apart.onnx.data"), names = [basename(model), basename(weights)];
  writeFileSync(model, apartModel(basename(weights)));
  writeFileSync(weights, Buffer.alloc(16));
  for (const [verb, flags] of [["size", ""], ["explain", ""], ["plan", "--reorder on"], ["view", ""]]) {
    const args = commandOf(verb, names, flags), page = await inPage([model, weights], args);
    assert.ok(!args.includes(basename(weights)));
    assert.deepEqual(page, inShell([model, weights], args), args.join(" "));
    assert.equal(page.code, 0, page.messages);
  }
});

// ---- in the browser ----

async function dropped(paths, { line = "", ...how } = {}) {
  const { page, wrong } = await open(browser, PAGE, { hash: line && `#${encodeURI(line)}`, ...how });
  await (await page.$("#chosen")).uploadFile(...paths);
  return { page, wrong, runs: (n) => page.waitForFunction((most) => Number(document.documentElement.dataset.runs) >= most, {}, n) };
}

// What a click on the only link saves.
async function saved(page) {
  const folder = scratch("saved"), client = await browser.target().createCDPSession();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, eventsEnabled: true });
  const done = new Promise((resolve) => client.on("Browser.downloadProgress", ({ state }) => state === "completed" && resolve()));
  await page.click("#made a");
  await done;
  return same(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

test("a dropped model is answered, planned, and handed back as the command writes it", { skip }, async () => {
  const { page, wrong, runs } = await dropped([MODEL]);
  await runs(1);
  assert.equal(await text(page, "#results"), inShell([MODEL], ["size", basename(MODEL)]).results);
  await page.click('[value="plan"]');
  await page.click('[data-flag="--overlap"]');
  await page.click("#run");
  await runs(2);
  const args = wordsOf(await text(page, "#line")).slice(1), told = inShell([MODEL], args);
  assert.deepEqual(args, ["plan", basename(MODEL), "-o", `planned_${basename(MODEL)}`, "--overlap", "on"]);
  assert.equal(await text(page, "#results"), told.results);
  assert.deepEqual(await saved(page), told.made);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a size to fit has the model planned, with the levers and for the kernels that fit", { skip }, async () => {
  const { page, wrong, runs } = await dropped([MODEL]);
  await runs(1);
  await page.type('[data-flag="--kernels"]', "cmsis-nn");
  await page.type('[data-flag="--fit"]', "80K");
  await page.click("#run");
  await runs(2);
  const args = wordsOf(await text(page, "#line")).slice(1), told = inShell([MODEL], args);
  assert.deepEqual(args, ["plan", basename(MODEL), "-o", `planned_${basename(MODEL)}`, "--kernels", "cmsis-nn", "--fit", "80K"]);
  assert.match(told.results, /--split on .*taken/);
  assert.equal(await text(page, "#results"), told.results);
  assert.deepEqual(await saved(page), told.made);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a trace is known by its columns, and its plan goes into JSON", { skip }, async () => {
  const copy = scratch("plain.csv");
  copyFileSync(data("trace/streams.trace.csv"), copy);
  const { page, wrong, runs } = await dropped([copy], { line: "plan" });
  await runs(1);
  assert.match(await text(page, "#status"), /^Done\./);
  assert.match(await text(page, "#made"), /Save planned_plain\.csv\.plan\.json/);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a link holds verb and flags, and the picture is drawn", { skip }, async () => {
  const { page, wrong, runs } = await dropped([MODEL], { line: "view --overlap on" });
  await runs(1);
  assert.equal(await page.$eval('[data-flag="--overlap"]', (box) => box.checked), true);
  const frame = await (await page.$("#picture")).contentFrame();
  await frame.waitForFunction(() => document.documentElement.dataset.ready);
  assert.equal(await frame.$eval("#title", (title) => title.textContent), basename(MODEL));
  assert.deepEqual(wrong, []);
  await page.close();
});

// No proof is found in the time of a test.
function hardProblem() {
  let seed = 7;
  const below = (n) => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return (seed >>> 8) % n; };
  return problemOf(Array.from({ length: 3000 }, () => { const first = below(1500); return { size: 1 + below(100000), first, end: first + 1 + below(400) }; }));
}

test("Stop keeps the best plan so far", { skip }, async () => {
  const { page, wrong, runs } = await dropped([hardProblem()], { line: "plan --effort 1000000000000" });
  await page.waitForFunction(() => /best/.test(document.getElementById("messages").textContent));
  await page.click("#stop");
  await runs(1);
  assert.match(await text(page, "#status"), /^Stopped \(exit 130\); what was found by then can be saved below\./);
  assert.match(await text(page, "#results"), /check +ok/);
  assert.equal(await page.$$eval("#made a", (links) => links.length), 1);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("hostile files are refused by name, and another run goes on", { skip }, async () => {
  const cut = scratch("half <b>.tflite"), noise = scratch("noise.onnx");
  writeFileSync(cut, readFileSync(MODEL).subarray(0, 1000));
  writeFileSync(noise, Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 197 + 13) & 255)));
  for (const path of [cut, noise]) {
    const { page, wrong, runs } = await dropped([path]);
    await runs(1);
    assert.match(await text(page, "#status"), /exit 3/);
    assert.ok((await text(page, "#messages")).includes(basename(path)));
    assert.equal(await page.$$eval("#made b, #files b, pre b", (nodes) => nodes.length), 0);
    await (await page.$("#chosen")).uploadFile(MODEL);
    await runs(2);
    assert.deepEqual(wrong, []);
    await page.close();
  }
});

test("a file beyond the memory of a run is refused with its limit, and another run goes on", { skip }, async () => {
  const half = scratch("half.tflite"), three = scratch("three.tflite");
  writeFileSync(half, "");
  truncateSync(half, 512 << 20);
  writeFileSync(three, "");
  truncateSync(three, 3 * 2 ** 30);
  for (const [file, words] of [[three, /2 GiB of memory that a run has here/], [half, /^The file is wrong \(exit 3\)/]]) {
    const { page, wrong, runs } = await dropped([file]);
    await runs(1);
    assert.match(await text(page, "#status"), words);
    assert.ok((await text(page, "#messages")).includes(basename(file)));
    await page.click("#files button");
    await (await page.$("#chosen")).uploadFile(MODEL);
    await runs(2);
    assert.match(await text(page, "#status"), /^Done\./);
    assert.deepEqual(wrong, []);
    await page.close();
  }
});

test("a file that changed or is gone, and a folder, are named; of two of one name the last is read", { skip }, async () => {
  const [one, other, folder] = ["one/m.tflite", "other/m.tflite", "folder.tflite"].map(scratch);
  for (const path of ["one", "other", "folder.tflite"]) mkdirSync(scratch(path));
  copyFileSync(data("hello_world_int8.tflite"), one);
  copyFileSync(MODEL, other);
  const { page, wrong, runs } = await dropped([one, other]);
  await runs(1);
  assert.equal(await page.$$eval("#files li", (rows) => rows.length), 1);
  assert.equal(await text(page, "#results"), inShell([other], ["size", "m.tflite"]).results);
  writeFileSync(other, "changed");
  await page.click("#run");
  await runs(2);
  assert.match(await text(page, "#status"), /^m\.tflite changed or is gone: drop it again\./);
  await page.click("#files button");
  await (await page.$("#chosen")).uploadFile(folder);
  await runs(3);
  assert.match(await text(page, "#status"), /^folder\.tflite changed or is gone: drop it again\./);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a file that comes while a run goes on runs after it", { skip }, async () => {
  const { page, wrong, runs } = await dropped([hardProblem()], { line: "plan --effort 1000000000000" });
  await page.waitForFunction(() => /best/.test(document.getElementById("messages").textContent));
  await (await page.$("#chosen")).uploadFile(MODEL);
  await page.click("#files button");
  await page.click('[value="size"]');
  await page.$eval("#flags", (flags) => { flags.value = ""; });
  await page.click("#stop");
  await runs(2);
  assert.equal(await text(page, "#results"), inShell([MODEL], ["size", basename(MODEL)]).results);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a command that cannot be compiled is said at once, and at each run", { skip }, async () => {
  const broken = scratch("broken.html"), page = await browser.newPage();
  writeFileSync(broken, readFileSync(PAGE, "utf8").replace(/id="command">[^<]*</, 'id="command">AAAA<'));
  await page.goto(`file://${broken}`);
  for (const file of [MODEL, data("hello_world_int8.tflite")]) {
    await (await page.$("#chosen")).uploadFile(file);
    await page.waitForFunction(() => /cannot run the command/.test(document.getElementById("status").textContent) && document.getElementById("stop").disabled);
    await page.$eval("#status", (status) => { status.textContent = ""; });
  }
  await page.close();
});

test("it is one file of at most 1.5 MB that can load and send nothing", { skip }, () => {
  const page = readFileSync(PAGE, "utf8"), [, policy] = page.match(/Content-Security-Policy" content="([^"]*)"/);
  assert.ok(page.length <= 1.5e6, `${page.length} bytes`);
  assert.match(policy, /^default-src 'none'; script-src ('sha256-[^']*' ){2}'wasm-unsafe-eval'; /);
  assert.doesNotMatch(policy, /https?:|\*|unsafe-inline|connect-src/);
});

for (const [name, how] of Object.entries({ wide: {}, narrow: { width: 360, height: 740 }, dark: { dark: true } })) {
  test(`keyboards and screen readers find their way: ${name}`, { skip }, async () => {
    const { page, runs } = await dropped([MODEL], how);
    await runs(1);
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
    const { violations } = await page.evaluate(() => window.axe.run());
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.close();
  });
}
