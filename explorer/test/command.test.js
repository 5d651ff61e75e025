// The page that is the command (build/arenaut.html, `make browser`) beside the command: the same text,
// the same files, the same exit codes; under Node on many files, and in Chromium.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import test, { after, before } from "node:test";
import { inflateRawSync } from "node:zlib";
import { COMMAND, ROOT, data, launch, open, problemOf, scratch, skip as noBrowser, text } from "./browser.js";
import { run } from "../command/wasi.js";
import { commandOf, joined, valueOf, withValue, wordsOf } from "../command/words.js";

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

const MODELS = ["", "json/", "pte/", "onnx/", "pt2/", "tvm/", "trace/", "xla/", "iree/"].flatMap((folder) =>
  readdirSync(data(folder)).map((name) => data(folder + name)).filter((path) => statSync(path).isFile()));
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
  assert.equal(joined("a\nbest 1", "\r\x1b[Kbest 2\r\x1b[Kb"), "a\nb");
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
  assert.match(await text(page, "#status"), /Stopped/);
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
