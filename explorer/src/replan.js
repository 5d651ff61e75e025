// Planning again in the page: the problem of the plan that is shown, with what the user has changed in
// it, as the list of numbers that planner/page_planner.c reads; and what comes back as a plan.
import { numbers } from "./decode.js";

const QUALITIES = ["optimal", "feasible", "infeasible"];

// gone: buffers; pins: buffer to {pool, offset}; pools: buffer to pool; capacities: pool to bytes.
export const noChanges = () => ({ gone: new Set(), pins: new Map(), pools: new Map(), capacities: new Map() });
export const isChanged = (changes) => Object.values(changes).some((part) => part.size > 0);

// With a buffer go those that lie in it.
export function allGone(plan, changes) {
  const gone = new Set(changes.gone);
  for (let b = 0; b < plan.n; b++) {
    for (let host = b; host >= 0; host = plan.host[host]) if (changes.gone.has(host)) gone.add(b);
  }
  return gone;
}

// A column's numbers; those of 64 bits are integers.
function reader(column) {
  const { values, exact } = numbers(column);
  return (i) => (exact ?? values)[i];
}

const readers = (problem) => Object.fromEntries(Object.entries(problem).filter(([name]) => name !== "traits").map(([name, column]) => [name, reader(column)]));
const signed = (n) => BigInt.asIntN(64, n & 1n ? -((n + 1n) >> 1n) : n >> 1n);

// Numbers of 64 bits, one after another: doubles where these are exact, which are much faster.
class Numbers {
  constructor(room) {
    this.halves = new Uint32Array(2 * room);
    this.length = 0;
  }

  put(...values) {
    if (2 * (this.length + values.length) > this.halves.length) {
      const larger = new Uint32Array(2 * this.halves.length + 2 * values.length);
      larger.set(this.halves);
      this.halves = larger;
    }
    for (const n of values) this.putOne(n);
  }

  putOne(n) {
    const at = 2 * this.length++;
    if (typeof n === "bigint") {
      this.halves[at] = Number(n & 0xffffffffn);
      this.halves[at + 1] = Number((n >> 32n) & 0xffffffffn);
    } else {
      const high = Math.floor(n / 4294967296);
      this.halves[at] = n - high * 4294967296;
      this.halves[at + 1] = high;
    }
  }

  asIntegers() { return new BigInt64Array(this.halves.slice(0, 2 * this.length).buffer); }
}

function putBuffer(list, plan, at, b, changes, gone) {
  const slice = plan.host[b] >= 0, pin = changes.pins.get(b), pool = pin?.pool ?? changes.pools.get(b);
  if (gone.has(b)) list.put(0, 1, at.may(b), 0, 0, plan.base[b] + 1, 0, 0);
  else {
    list.put(plan.bytes(b), plan.align[b], slice ? 0 : pool === undefined ? at.may(b) : 2 ** pool,
      pin ? pin.offset + 1n : at.fixed(b), pin ? 0 : at.hint(b), plan.base[b] + 1, plan.host[b] + 1, at.delta(b));
  }
  list.put(plan.cls[b], at.uses(b), at.release(b), plan.lifeStart[b + 1] - plan.lifeStart[b]);
  for (let i = plan.lifeStart[b]; i < plan.lifeStart[b + 1]; i++) list.put(plan.number(plan.first[i]), plan.number(plan.end[i]));
}

// The problem as numbers of 64 bits, in the order in which they are read.
export function listOf(plan, changes, effort) {
  const { problem } = plan.data, at = readers(problem), gone = allGone(plan, changes), list = new Numbers(16 * plan.n + 1024);
  list.put(effort, problem.traits, plan.pools.length);
  for (let k = 0; k < plan.pools.length; k++) list.put(changes.capacities.get(k) ?? at.capacity(k), at.poolAlign(k));
  list.put(plan.n);
  for (let b = 0; b < plan.n; b++) putBuffer(list, plan, at, b, changes, gone);
  list.put(problem.conflictA.n);
  for (let i = 0; i < problem.conflictA.n; i++) list.put(at.conflictA(i), at.conflictB(i));
  const pairs = Array.from(plan.upper.keys()).filter((i) => !gone.has(plan.upper[i]) && !gone.has(plan.lower[i]));
  list.put(pairs.length);
  for (const i of pairs) list.put(plan.upper[i], plan.lower[i], signed(BigInt(at.distance(i))));
  list.put(problem.reservedPool.n);
  for (let i = 0; i < problem.reservedPool.n; i++) list.put(at.reservedPool(i), at.reservedFirst(i), at.reservedEnd(i));
  return list.asIntegers();
}

// What planner/page_planner.c has written.
export function answerOf(words, plan) {
  let next = 0;
  const read = () => words[next++];
  const answer = { total: read(), bound: read(), quality: QUALITIES[Number(read())], needed: read(),
    peak: { step: BigInt.asIntN(64, read()), live: read(), shared: read() } };
  answer.pools = plan.pools.map(() => ({ arena: read(), bound: read() }));
  answer.pool = new Int32Array(plan.n);
  answer.offset = new BigUint64Array(plan.n);
  for (let b = 0; b < plan.n; b++) {
    answer.pool[b] = Number(read()) - 1;
    answer.offset[b] = read();
  }
  return answer;
}

// The planner was told no names, and calls things by their numbers.
export const named = (plan, text) => text.replace(/'(buffer|pool)(\d+)'/g, (_, kind, k) => `'${kind === "pool" ? plan.poolName(k) : plan.name(k)}'`);

// The figures of the plan that was found, as the data of the page has them. What has to be reserved is
// the library's to count, and was counted for another plan.
export function dataOf(plan, answer) {
  const text = String;
  return { ...plan.data, reserve: undefined, arena: text(answer.total), bound: text(answer.bound), needed: text(answer.needed), quality: answer.quality,
    behind: "0", planner: "auto, in this page", peak: { step: text(answer.peak.step), live: text(answer.peak.live), shared: text(answer.peak.shared), without: [] },
    pools: plan.pools.map((pool, k) => ({ ...pool, arena: text(answer.pools[k].arena), bound: text(answer.pools[k].bound) })) };
}
