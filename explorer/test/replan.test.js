// The planner in the page against the command: the same problems, the same changes, the same plans.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import test, { after, before } from "node:test";
import { COMMAND, arenaut, data, launch, open, pageOf, problemOf, settled, skip, text, written } from "./browser.js";
import { Plan } from "../src/model.js";
import { answerOf, listOf, named } from "../src/replan.js";
import { compiled, planned as plannedBy } from "../src/wasm_planner.js";
import { sizeOf } from "../src/whatif.js";

const MODEL = data("mobilenet_v1_025_96_int8.tflite");
const EFFORT = 20000, EVERY = 6; // in Node all problems, in the browser every so many
const ONE_OF = Number(process.env.ARENAUT_ONE_OF ?? 1); // of the problems of each (tests/models/drawn.py)
let browser;
before(async () => { if (!skip) browser = await launch(); });
after(() => browser?.close());

let seed = 1;
const below = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 4294967296) * n);
};

// Files of every format, as problems; and random ones with pools, pins, pairs that may share, and edges.
function realProblems() {
  const files = ["", "json/", "pte/", "onnx/", "tvm/"].flatMap((folder) => readdirSync(data(folder)).map((name) => folder + name))
    .filter((name) => /\.(tflite|pte|onnx|csv|json)$/.test(name));
  return files.flatMap((name) => [[], ["--overlap", "on"]].slice(0, name.endsWith("int8.tflite") ? 2 : 1).map((flags) => {
    const done = spawnSync(COMMAND, ["export", data(name), "--as", "problem", ...flags], { encoding: "utf8" });
    return { name, problem: done.status === 0 ? JSON.parse(done.stdout) : null };
  })).filter(({ problem }) => problem && problem.buffers.length < 400);
}

function randomProblem(k) {
  const pools = Array.from({ length: 1 + below(3) }, (_, id) => ({ id, name: `p${id}`, align: 1 << below(5), capacity: id ? null : [null, 4000][below(2)] }));
  const buffers = Array.from({ length: 5 + below(40) }, (_, id) => {
    const first = below(30), fixed = below(20) === 0 && pools.length === 1 ? { fixed_offset: 8192 + id * 4096 } : {};
    return { id, name: `b${id}`, size: 1 + below(1000), align: 1 << below(6), first, end: first + 1 + below(12), uses: 1 + below(3), ...fixed };
  });
  for (const [id, buffer] of buffers.entries()) {
    const base = buffers.slice(0, id).find((other) => other.end === buffer.first + 1 && other.first <= buffer.first && !buffers.some((b) => b.same_base_as === other.id));
    if (base && below(2)) buffer.same_base_as = base.id;
  }
  return { name: `random ${k}`, problem: { schema: "arenaut.problem/1", pools, buffers, edges: [[below(2), 2 + below(3)]] } };
}

const needs = (buffer) => Number(buffer.size) > 0 && buffer.end > buffer.first;

// What is changed in a problem: nothing, a buffer less, a pin above all others, a pool, a capacity.
function changesOf({ buffers, pools }) {
  const free = buffers.filter((b) => needs(b) && !b.inside && b.fixed_offset === undefined && !b.lifetimes);
  const changes = [{}, { capacities: [[0, String(1n << 40n)]] }, { capacities: [[0, "1024"]] }];
  if (!free.length) return changes;
  const one = free[below(free.length)], other = free[below(free.length)];
  changes.push({ gone: [one.id] }, { pins: [[one.id, (one.allowed_pools ?? [0])[0], String(BigInt(one.align ?? 1) * 1024n)]] });
  if (one !== other) changes.push({ gone: [one.id], pins: [[other.id, (other.allowed_pools ?? [0])[0], "0"]] });
  if (pools.length > 1) changes.push({ pools: [[one.id, (one.allowed_pools ?? [pools.length - 1]).at(-1)]] });
  return changes;
}

// The same in the problem's own words.
function changed(problem, { gone = [], pins = [], pools = [], capacities = [] }) {
  const made = structuredClone(problem), { buffers } = made;
  const lost = (b) => gone.includes(b.id) || (b.inside && lost(buffers[b.inside.buffer]));
  const dead = new Set(buffers.filter(lost).map((b) => b.id));
  for (const b of buffers) if (dead.has(b.id)) Object.assign(b, { size: 0, align: 1, inside: undefined, fixed_offset: undefined, hint: undefined });
  for (const [id, pool, offset] of pins) Object.assign(buffers[id], { allowed_pools: [pool], fixed_offset: offset, hint: undefined });
  for (const [id, pool] of pools) buffers[id].allowed_pools = [pool];
  for (const b of buffers) if (b.inside) b.allowed_pools = undefined;
  for (const [k, bytes] of capacities) made.pools[k].capacity = bytes;
  made.separations = made.separations?.filter(({ upper, lower }) => !dead.has(upper) && !dead.has(lower));
  return made;
}

function native(problem) {
  const done = spawnSync(COMMAND, ["plan", written(problem), "--effort", String(EFFORT), "--json"], { encoding: "utf8", maxBuffer: 1 << 28 });
  if (done.status !== 0) return null;
  const said = JSON.parse(done.stdout);
  return { arena: String(said.result.arena), quality: said.result.status, bound: String(said.result.lower_bound),
    places: said.buffers.map((b) => (b.pool === null ? null : [b.pool, String(b.offset)])) };
}

// Where each buffer lies, with the figures; null, and a message, where there is no plan. In the browser
// this runs as text.
async function found(planOf, { gone = [], pins = [], pools = [], capacities = [] }) {
  const made = { gone: new Set(gone), pins: new Map(pins.map(([b, pool, offset]) => [b, { pool, offset: BigInt(offset) }])),
    pools: new Map(pools), capacities: new Map(capacities.map(([k, bytes]) => [k, BigInt(bytes)])) };
  try {
    const answer = await planOf(made);
    return { arena: String(answer.total), quality: answer.quality, bound: String(answer.bound),
      places: [...answer.pool].map((pool, b) => (pool < 0 ? null : [pool, String(answer.offset[b])])) };
  } catch (error) {
    return error.message ? null : "no message";
  }
}

const inPage = (page, changes) => page.evaluate(`(${found})((made) => window.arenaut.whatIf.planner.plan(window.arenaut.plan, made, { effort: ${EFFORT}n }), ${JSON.stringify(changes)})`);

let module; // one for all, since it takes a while to compile
function inNode(file) {
  const part = (id) => new RegExp(`id="${id}">([^]*?)</script>`).exec(readFileSync(file, "utf8"))[1];
  module ??= compiled(part("planner").trim());
  const plan = new Plan(JSON.parse(part("data")).plans[0]);
  return (changes) => found(async (made) => {
    const { words, message } = await plannedBy(await module, listOf(plan, made, BigInt(EFFORT)));
    if (message) throw new Error(named(plan, message));
    return answerOf(words, plan);
  }, changes);
}

test("the planner in the page finds what the command finds", { skip, timeout: 300000 }, async () => {
  const problems = [...realProblems(), ...Array.from({ length: 20 }, (_, k) => randomProblem(k))];
  let plans = 0, refused = 0;
  assert.ok(problems.length > 40, `${problems.length} problems`);
  for (const [k, { name, problem }] of problems.entries()) {
    if (Math.floor(k / EVERY) % ONE_OF) continue;
    const file = written(problem);
    if (spawnSync(COMMAND, ["size", file, "--effort", "1000"], { encoding: "utf8" }).status !== 0) continue; // a random one without a plan
    const html = pageOf(file, "--replan", "--effort", "1000"), here = inNode(html);
    const { page, wrong } = k % EVERY ? {} : await open(browser, html);
    for (const changes of changesOf(problem)) {
      const wanted = native(changed(problem, changes));
      assert.deepEqual(await here(changes), wanted, `${name} with ${JSON.stringify(changes)}`);
      if (page) assert.deepEqual(await inPage(page, changes), wanted, `${name} with ${JSON.stringify(changes)}, in the browser`);
      if (wanted) plans++; else refused++;
    }
    assert.deepEqual(wrong ?? [], [], name);
    await page?.close();
  }
  assert.ok(plans > 150 / ONE_OF && refused > 10 / ONE_OF, `${plans} plans, ${refused} refused`);
});

const figure = async (page) => (await text(page, "#came-of-it")).replace(/,/g, "");
const planned = (page) => page.waitForFunction(() => !/^Planning/.test(document.getElementById("came-of-it").textContent));
const cardButton = (page, label) => page.evaluate((wanted) => {
  [...document.querySelectorAll("#card button")].find((button) => button.textContent === wanted).click();
}, label);

test("what is taken away, pinned or limited is planned again and shown", { skip }, async () => {
  const { page, wrong } = await open(browser, pageOf(MODEL, "--replan"), { hash: "#buf=3" });
  const name = await text(page, "#card h3");
  await cardButton(page, "Without it");
  await planned(page);
  assert.match(await figure(page), /^Arena 46080 bytes 9216 \(16\.7 %\) less; proven minimal\.$/);
  assert.deepEqual(await page.$$eval("#tried li", (items) => items.map((item) => item.textContent)), [`without ${name} Undo`]);
  assert.equal(await page.$eval("#plan", (select) => select.selectedOptions[0].textContent), "what if: 45.0 KiB");
  assert.match(await text(page, "#figures"), /head46,080 bytes/);
  assert.ok(!(await text(page, "#alive")).includes(name));
  await cardButton(page, "Put it back");
  await settled(page);
  assert.equal(await page.$eval("#plan", (select) => select.options.length), 1);
  await page.$eval("#card input", (input) => { input.value = "100K"; });
  await cardButton(page, "Pin it there");
  await planned(page);
  const at = await page.evaluate(() => window.arenaut.plan.address(3));
  assert.equal(Number(at), 102400);
  await page.click("#tried button");
  await settled(page);
  const limit = async (bytes) => {
    await page.$eval("#capacities input", (input, value) => { input.value = value; input.dispatchEvent(new Event("change")); }, bytes);
    await planned(page);
    return text(page, "#came-of-it");
  };
  assert.match(await limit("50000"), /^No such plan: .* 'conv_2d_3' need 5296 bytes more than pool 'arena' has/);
  assert.match(await limit("54 KiB"), /as before; proven minimal/);
  assert.match(await limit("lots"), /'lots' is no size/);
  assert.deepEqual(wrong, []);
  await page.close();
});

// Enough of them that the planner is at work for a while.
const MANY = 30000;
const manyBuffers = () => problemOf(Array.from({ length: MANY }, (_, id) => ({ id, size: 16 + below(4000), first: id, end: id + 1 + below(40) })));

test("the page stays at hand while it plans, tells how far it is, and stops when told to", { skip, timeout: 120000 }, async () => {
  const { page, wrong } = await open(browser, pageOf(manyBuffers(), "--replan", "--planner", "skyline"), { hash: "#buf=7" });
  await page.evaluate(() => {
    window.said = [];
    new MutationObserver(() => window.said.push(document.getElementById("so-far").textContent)).observe(document.getElementById("so-far"), { childList: true });
  });
  const arena = await page.evaluate(() => window.arenaut.plan.data.arena);
  await cardButton(page, "Without it");
  assert.equal(await page.$eval("#stop-planning", (button) => button.hidden), false);
  await page.focus("#over");
  await page.keyboard.press("ArrowRight"); // while it plans
  await page.waitForFunction(() => window.said.length > 1, { timeout: 60000 });
  assert.match(await text(page, "#came-of-it"), /^Planning/);
  assert.match(await page.evaluate(() => window.said[0]), /^(no plan yet|[\d,]+ bytes so far), at least [\d,]+ needed$/);
  await page.click("#stop-planning");
  await planned(page);
  assert.match(await text(page, "#came-of-it"), /^Stopped/);
  assert.equal(await page.evaluate(() => window.arenaut.plan.data.arena), arena);
  assert.deepEqual([await page.$eval("#stop-planning", (button) => button.hidden), await text(page, "#so-far")], [true, ""]);
  assert.deepEqual(await page.$$eval("#plan option", (options) => options.length), 1);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("of two changes in a row, the plan of both is shown", { skip, timeout: 120000 }, async () => {
  const { page, wrong } = await open(browser, pageOf(MODEL, "--replan"));
  await page.evaluate(() => {
    const { whatIf } = window.arenaut;
    whatIf.change(() => whatIf.changes.gone.add(3));
    whatIf.change(() => whatIf.changes.gone.add(4));
  });
  await planned(page);
  assert.deepEqual(await page.evaluate(() => [3, 4].map((b) => window.arenaut.plan.isPlaced(b))), [false, false]);
  assert.equal(await page.$$eval("#tried li", (items) => items.length), 2);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a pool is chosen for a buffer", { skip }, async () => {
  const file = problemOf([{}, {}, {}], [{ id: 0, name: "fast", capacity: 48 }, { id: 1, name: "slow" }]);
  const { page, wrong } = await open(browser, pageOf(file, "--replan"), { hash: "#buf=1" });
  assert.equal(await page.evaluate(() => window.arenaut.plan.pool[1]), 0);
  await page.select("#card select", "1");
  await planned(page);
  assert.deepEqual(await page.evaluate(() => [...window.arenaut.plan.pool]), [0, 1, 0]);
  assert.deepEqual(await page.$$eval("#tried li", (items) => items.map((item) => item.textContent)), ["b1 in slow Undo"]);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a page without the planner does not offer it, and may not run any", { skip }, async () => {
  const file = pageOf(MODEL), { page } = await open(browser, file);
  assert.equal(await page.$eval("#what-if", (section) => section.hidden), true);
  assert.match(await page.$eval("meta[http-equiv]", (meta) => meta.content),
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'$/);
  await page.close();
  assert.ok(arenaut("view", "--help").includes("--replan"));
});

test("the policy lets the planner's own worker run, and none from elsewhere", { skip }, async () => {
  const file = pageOf(MODEL, "--replan"), { page } = await open(browser, file);
  const policy = await page.$eval("meta[http-equiv]", (meta) => meta.content);
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+' 'wasm-unsafe-eval'; worker-src blob:; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'$/);
  const refusedBy = await page.evaluate(() => new Promise((done) => {
    document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective), { once: true });
    new Worker("data:text/javascript,postMessage(1)").onmessage = () => done("it ran");
  }));
  assert.equal(refusedBy, "worker-src");
  await page.close();
});

test("sizes in words", () => {
  assert.deepEqual(["0", "200K", "1.5 MiB", "7b", " 2 GB "].map(sizeOf), [0n, 204800n, 1572864n, 7n, 2147483648n]);
  assert.deepEqual(["", "x", "-1", "1e5", "9".repeat(20)].map(sizeOf), [undefined, undefined, undefined, undefined, undefined]);
});
