// Planning again in the page: the planner of the library, in WebAssembly, with the problem of the
// plan that is shown and what the user has changed in it. planner/page_planner.c reads the list of
// numbers that is made here, and says what comes back.
import { bytesOf, numbers } from "./decode.js";

export const EFFORT = 400000n; // some tenths of a second where no proof is found before
const QUALITIES = ["optimal", "feasible", "infeasible"];
const NO_FILES = { wasi_snapshot_preview1: { fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8 } };

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

// A column's numbers, which may have 64 bits.
function reader(column) {
  const { values, exact } = numbers(column);
  return (i) => (exact ? exact[i] : BigInt(values[i]));
}

const signed = (n) => (n & 1n ? -((n + 1n) >> 1n) : n >> 1n);
const all = (problem) => Object.fromEntries(Object.entries(problem).filter(([name]) => name !== "traits").map(([name, column]) => [name, reader(column)]));

function pushBuffer(list, plan, at, b, changes, gone) {
  const slice = plan.host[b] >= 0, pin = changes.pins.get(b), pool = pin?.pool ?? changes.pools.get(b);
  if (gone.has(b)) list.push(0n, 1n, at.may(b), 0n, 0n, BigInt(plan.base[b] + 1), 0n, 0n);
  else {
    list.push(BigInt(plan.bytes(b)), BigInt(plan.align[b]), slice ? 0n : pool === undefined ? at.may(b) : 1n << BigInt(pool),
      pin ? BigInt(pin.offset) + 1n : at.fixed(b), pin ? 0n : at.hint(b), BigInt(plan.base[b] + 1), BigInt(plan.host[b] + 1), at.delta(b));
  }
  list.push(BigInt(plan.cls[b]), at.uses(b), at.release(b), BigInt(plan.lifeStart[b + 1] - plan.lifeStart[b]));
  for (let i = plan.lifeStart[b]; i < plan.lifeStart[b + 1]; i++) list.push(plan.number(plan.first[i]), plan.number(plan.end[i]));
}

// The problem as numbers of 64 bits, in the order in which they are read.
export function listOf(plan, changes, effort) {
  const { problem } = plan.data, at = all(problem), gone = allGone(plan, changes);
  const list = [effort, BigInt(problem.traits), BigInt(plan.pools.length)];
  for (let k = 0; k < plan.pools.length; k++) list.push(changes.capacities.get(k) ?? at.capacity(k), at.poolAlign(k));
  list.push(BigInt(plan.n));
  for (let b = 0; b < plan.n; b++) pushBuffer(list, plan, at, b, changes, gone);
  list.push(BigInt(problem.conflictA.n));
  for (let i = 0; i < problem.conflictA.n; i++) list.push(at.conflictA(i), at.conflictB(i));
  const pairs = Array.from(plan.upper.keys()).filter((i) => !gone.has(plan.upper[i]) && !gone.has(plan.lower[i]));
  list.push(BigInt(pairs.length));
  for (const i of pairs) list.push(BigInt(plan.upper[i]), BigInt(plan.lower[i]), signed(at.distance(i)));
  list.push(BigInt(problem.reservedPool.n));
  for (let i = 0; i < problem.reservedPool.n; i++) list.push(at.reservedPool(i), at.reservedFirst(i), at.reservedEnd(i));
  return BigInt64Array.from(list, (n) => BigInt.asIntN(64, n));
}

function answerOf(words, plan) {
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
const named = (plan, text) => text.replace(/'(buffer|pool)(\d+)'/g, (_, kind, k) => `'${kind === "pool" ? plan.poolName(k) : plan.name(k)}'`);

export class Planner {
  constructor(base64) { this.base64 = base64; }

  async compiled() {
    const packed = new Blob([bytesOf(this.base64)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return WebAssembly.compile(await new Response(packed).arrayBuffer());
  }

  // Throws what the planner says where there is no plan. The instance's memory goes with it.
  async plan(plan, changes, effort = EFFORT) {
    this.module ??= this.compiled();
    const { exports } = await WebAssembly.instantiate(await this.module, NO_FILES);
    exports._initialize();
    const list = listOf(plan, changes, effort), from = exports.room(list.byteLength);
    if (!from) throw new Error("out of memory");
    new BigInt64Array(exports.memory.buffer, from, list.length).set(list);
    const made = exports.plan(from);
    if (made) return answerOf(new BigUint64Array(exports.memory.buffer, made), plan);
    const message = new Uint8Array(exports.memory.buffer, exports.message());
    throw new Error(named(plan, new TextDecoder().decode(message.subarray(0, message.indexOf(0)))));
  }
}

// The figures of the plan that was found, as the data of the page has them.
export function dataOf(plan, answer) {
  const text = String;
  return { ...plan.data, arena: text(answer.total), bound: text(answer.bound), needed: text(answer.needed), quality: answer.quality,
    behind: "0", planner: "auto, in this page", peak: { step: text(answer.peak.step), live: text(answer.peak.live), shared: text(answer.peak.shared), without: [] },
    pools: plan.pools.map((pool, k) => ({ ...pool, arena: text(answer.pools[k].arena), bound: text(answer.pools[k].bound) })) };
}
