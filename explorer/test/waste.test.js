// How high addresses are in use at each step, against a look at every buffer.
import assert from "node:assert/strict";
import test from "node:test";
import { reachOf, unusedOf } from "../src/waste.js";

function planOf(lives, sparse) {
  const scale = sparse ? 1e7 : 1, n = lives.length, range = Math.max(...lives.map((l) => l[1])) * scale;
  const at = sparse ? [...new Set(lives.flatMap((l) => [l[0] * scale, l[1] * scale]))].sort((a, b) => a - b) : Array.from({ length: range + 1 }, (_, i) => i);
  const plan = { n, range, owner: lives.map((_, i) => i), first: lives.map((l) => l[0] * scale), end: lives.map((l) => l[1] * scale),
    offset: lives.map((l) => l[2]), size: lives.map((l) => l[3]), pool: lives.map((l) => l[4] ?? 0), pools: [{}, {}], isPlaced: (b) => lives[b][3] > 0, data: { arena: "100" } };
  const sum = (step) => lives.reduce((all, l) => all + (l[0] * scale <= step && step < l[1] * scale ? l[3] : 0), 0);
  return Object.assign(plan, { curve: { steps: at, live: at.map(sum) } });
}

const highest = (lives, step, scale) => [0, 1].reduce((all, pool) => all + Math.max(0, ...lives
  .filter((l) => (l[4] ?? 0) === pool && l[3] && l[0] * scale <= step && step < l[1] * scale).map((l) => l[2] + l[3])), 0);

for (const sparse of [false, true]) {
  test(`the highest byte in use, steps ${sparse ? "far apart" : "one by one"}`, () => {
    let seed = 7;
    const below = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor((seed / 4294967296) * n); };
    for (let round = 0; round < 50; round++) {
      const lives = Array.from({ length: 1 + below(12) }, () => { const first = below(20); return [first, first + 1 + below(9), below(80), below(20), below(2)]; });
      const plan = planOf(lives, sparse), reach = reachOf(plan);
      reach.steps.forEach((step, i) => assert.equal(reach.live[i], highest(lives, step, sparse ? 1e7 : 1)));
    }
  });
}

test("what is unused, and what of it lies in holes", () => {
  const plan = planOf([[0, 1, 0, 100], [1, 4, 50, 25]], false);
  assert.deepEqual(unusedOf(plan, reachOf(plan)), { unused: (3 * 75) / 4, holes: (3 * 50) / 4 });
  assert.deepEqual(unusedOf({ curve: { steps: [0], live: [0] }, data: { arena: "0" } }, { live: [0] }), { unused: 0, holes: 0 });
});
