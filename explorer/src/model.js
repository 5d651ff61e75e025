// A plan as the page works with it: columns of buffers, of lifetimes, of ops and of steps. Steps are
// counted from the first one (`origin` is its number), indices that are missing are -1.
import { numbers, texts } from "./decode.js";
import { layersOf } from "./why.js";
import { commas, shown } from "./words.js";

const counts = (column) => new Uint32Array(numbers(column).values);

function indices(column) {
  const found = new Int32Array(numbers(column).values);
  for (let i = 0; i < found.length; i++) found[i]--;
  return found;
}

// Where each of the counted runs begins, and where the last one ends.
export function starts(lengths) {
  const start = new Uint32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) start[i + 1] = start[i] + lengths[i];
  return start;
}

// A getter that works once.
function later(object, name, make) {
  Object.defineProperty(object, name, { configurable: true, get() {
    const value = make();
    Object.defineProperty(object, name, { value });
    return value;
  } });
}

export class Plan {
  constructor(data) {
    const c = data.columns;
    Object.assign(this, { data, file: data.file, pools: data.pools, methods: data.methods, gone: new Set() });
    this.n = c.size.n;
    this.origin = BigInt(data.origin);
    this.readBuffers(c);
    this.readLifetimes(c);
    this.readOps(c);
    this.reserved = c.reserved ? this.readReserved(c) : null;
    this.peakStep = Number(BigInt(data.peak.step) - this.origin);
    later(this, "curve", () => this.bytesAlive());
    later(this, "touches", () => this.whoTouches());
    later(this, "layerOf", () => layersOf(this));
  }

  // What the allocator of a trace held, as a curve over the steps, which are its requests.
  readReserved(c) {
    const { values, exact } = numbers(c.reserved);
    return { steps: Float64Array.from(values, (_, step) => step - Number(this.origin)), live: values, bytes: exact ?? values };
  }

  // The same buffers where another plan has them (see replan.js); those that are gone take no room.
  replaced(data, { pool, offset }, gone) {
    const made = Object.create(this);
    Object.assign(made, { data, pools: data.pools, pool, offset: Float64Array.from(offset, Number), gone });
    made.exactOffset = offset.some((n) => n > BigInt(Number.MAX_SAFE_INTEGER)) ? offset : null;
    made.size = this.size.map((bytes, b) => (gone.has(b) ? 0 : bytes));
    made.exactSize = this.exactSize && this.exactSize.map((bytes, b) => (gone.has(b) ? 0n : bytes));
    made.peakStep = Number(BigInt(data.peak.step) - this.origin);
    made.reach = undefined;
    later(made, "curve", () => made.bytesAlive());
    return made;
  }

  readBuffers(c) {
    const size = numbers(c.size), offset = numbers(c.offset);
    this.size = size.values;
    this.offset = offset.values;
    this.exactSize = size.exact;
    this.exactOffset = offset.exact;
    this.pool = indices(c.pool);
    this.base = indices(c.base);
    this.host = indices(c.host);
    this.method = indices(c.method);
    this.cls = counts(c.class);
    this.shape = indices(c.shape);
    this.maker = indices(c.maker);
    this.upper = counts(c.upper);
    this.lower = counts(c.lower);
    later(this, "align", () => numbers(c.align).values);
    later(this, "names", () => texts(c.name));
    later(this, "sources", () => texts(c.source));
    later(this, "words", () => texts(c.word));
  }

  readLifetimes(c) {
    this.lifeStart = starts(counts(c.lives));
    this.first = numbers(c.first).values;
    this.end = numbers(c.length).values;
    this.owner = new Int32Array(this.first.length);
    this.range = 0;
    for (let b = 0; b < this.n; b++) {
      for (let i = this.lifeStart[b]; i < this.lifeStart[b + 1]; i++) {
        this.owner[i] = b;
        this.end[i] += this.first[i];
        if (this.end[i] > this.range) this.range = this.end[i];
      }
    }
  }

  readOps(c) {
    this.nOps = c.opName.n;
    this.opName = indices(c.opName);
    this.opMethod = counts(c.opMethod);
    this.opKind = counts(c.opKind);
    this.stepOp = indices(c.stepOp);
    this.stepMethod = counts(c.stepMethod);
    later(this, "opSources", () => texts(c.opSource));
    this.columns = c;
  }

  bytes(b) { return this.exactSize ? this.exactSize[b] : this.size[b]; }
  address(b) { return this.exactOffset ? this.exactOffset[b] : this.offset[b]; }
  name(b) { return shown(this.names[b] ?? `buffer${b}`); }
  reservedAt(step) { return this.reserved.bytes[Number(this.number(step))]; }
  className(b) { return this.data.classes[this.cls[b]]; }
  shapeText(b) { return this.shape[b] < 0 ? "" : shown(this.words[this.shape[b]]); }
  poolName(k) { return shown(this.pools[k].name ?? `pool${k}`); }
  methodName(m) { return shown(this.methods[m]?.name ?? `method ${m}`); }
  isPlaced(b) { return this.pool[b] >= 0 && this.size[b] > 0; }
  opWord(op) { return shown(this.words[this.opName[op]]); }

  // The number of a step as the file has it.
  number(step) { return this.origin + BigInt(Math.round(step)); }

  opLabel(op) {
    return `op ${op - this.methods[this.opMethod[op]].firstOp} ${this.opWord(op)}`;
  }

  // The op at a step; -1 where a method starts, and for a bare problem.
  opAt(step) {
    const k = Number(this.number(step));
    return k >= 0 && k < this.stepOp.length ? this.stepOp[k] : -1;
  }

  methodAt(step) {
    const k = Number(this.number(step));
    return k >= 0 && k < this.stepMethod.length ? this.stepMethod[k] : -1;
  }

  stepLabel(step) {
    const op = this.opAt(step), method = this.methodAt(step);
    if (op >= 0) return this.opLabel(op);
    return method >= 0 ? `start of ${this.methodName(method)}` : `step ${commas(this.number(step))}`;
  }

  isAliveAt(b, step) {
    for (let i = this.lifeStart[b]; i < this.lifeStart[b + 1]; i++) {
      if (this.first[i] <= step && step < this.end[i]) return true;
    }
    return false;
  }

  // Buffers alive at a step, the largest first.
  aliveAt(step) {
    const found = [];
    for (let i = 0; i < this.owner.length; i++) {
      if (this.first[i] <= step && step < this.end[i] && !this.gone.has(this.owner[i])) found.push(this.owner[i]);
    }
    return found.sort((a, b) => {
      const x = this.bytes(a), y = this.bytes(b);
      return x === y ? a - b : x < y ? 1 : -1;
    });
  }

  // Steps at which the bytes alive may change, and how many they are from there on.
  bytesAlive() {
    const n = this.owner.length, dense = this.range <= 4 * n + 1e6;
    const steps = dense ? Float64Array.from({ length: this.range + 1 }, (_, i) => i) : this.stepsOfChange();
    const place = dense ? null : new Map(Array.from(steps, (step, i) => [step, i]));
    const live = new Float64Array(steps.length), at = (step) => (dense ? step : place.get(step));
    for (let i = 0; i < n; i++) {
      const bytes = this.size[this.owner[i]];
      live[at(this.first[i])] += bytes;
      live[at(this.end[i])] -= bytes;
    }
    for (let i = 1; i < live.length; i++) live[i] += live[i - 1];
    return { steps, live };
  }

  // Where steps are far apart: those at which some lifetime begins or ends.
  stepsOfChange() {
    const all = new Float64Array(2 * this.owner.length);
    all.set(this.first);
    all.set(this.end, this.first.length);
    return all.sort().filter((step, i) => i === 0 || step !== all[i - 1]);
  }

  // Per buffer, the ops that write it and those that read it, in the order of the ops.
  whoTouches() {
    const c = this.columns, argument = indices(c.argument);
    const results = counts(c.results), operands = counts(c.operands);
    const writers = new Map(), readers = new Map();
    const note = (map, b, op) => {
      const ops = map.get(b);
      if (!ops) map.set(b, [op]);
      else if (ops[ops.length - 1] !== op) ops.push(op);
    };
    for (let op = 0, at = 0; op < this.nOps; op++) {
      for (let k = 0; k < results[op]; k++) note(writers, argument[at++], op);
      for (let k = 0; k < operands[op]; k++) note(readers, argument[at++], op);
    }
    return { writers, readers };
  }

  writersOf(b) { return this.touches.writers.get(b) ?? []; }
  readersOf(b) { return this.touches.readers.get(b) ?? []; }
  // Of the buffer, or of the first op that makes it and has one: an allocation has none.
  sourceOf(b) {
    return this.sources[b] ?? (this.nOps ? this.writersOf(b).map((op) => this.opSources[op]).find(Boolean) : null);
  }

  // The first step at which an op runs; -1 if none does.
  stepOf(op) {
    this.firstStep ??= this.firstSteps();
    return this.firstStep[op];
  }

  firstSteps() {
    const found = new Float64Array(this.nOps).fill(-1);
    for (let k = this.stepOp.length - 1; k >= 0; k--) {
      if (this.stepOp[k] >= 0) found[this.stepOp[k]] = Number(BigInt(k) - this.origin);
    }
    return found;
  }
}
