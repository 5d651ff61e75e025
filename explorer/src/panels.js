// The tables below the picture: what is alive at the step of the cursor, what would help, what lies
// unused, and what layers and kinds of ops take. The tables say in words what the picture shows.
import { opTextOf } from "./colours.js";
import { Table, element } from "./table.js";
import { grouped, holders, holes, total, treeOf } from "./why.js";
import { commas, inUnits, percent, plannedName } from "./words.js";

const MOST_HOLES = 8, MOST_HOLDERS = 8, LEAST_SHARE = 0.004, FLAME_ROW = 24;

const id = (name) => document.getElementById(name);

function numberColumn(title, value, text = (row) => commas(value(row))) {
  return { title, number: true, key: value, text, plain: (row) => String(value(row)) };
}

// The columns of every table of buffers. A bare problem has no shapes and perhaps no ops, and what is
// the same for all of them is not said.
function bufferColumns(plan, data) {
  const known = (name) => data.plans.some(({ columns }) => columns[name].all !== "0");
  const columns = [
    { title: "buffer", text: (row) => plan().name(row.b) },
    numberColumn("bytes", (row) => plan().bytes(row.b)),
    { title: "shape", text: (row) => plan().shapeText(row.b) },
    { title: "class", text: (row) => plan().className(row.b) },
    { title: "from", text: (row) => {
      const writers = plan().nOps ? plan().writersOf(row.b) : [];
      return writers.length ? plan().opLabel(writers[0]) : opTextOf(plan(), row.b);
    } },
    { title: "method", text: (row) => (plan().method[row.b] < 0 ? "" : plan().methodName(plan().method[row.b])) },
    { title: "pool", text: (row) => (plan().pool[row.b] < 0 ? "" : plan().poolName(plan().pool[row.b])) },
    numberColumn("offset", (row) => plan().address(row.b)),
  ];
  const several = (what) => data.plans.some((one) => one[what].length > 1);
  const said = { shape: known("shape"), from: known("argument") || known("maker"), method: several("methods"), pool: several("pools") };
  return columns.filter(({ title }) => said[title] ?? true);
}

// The first and the last step of a buffer; of one that never lives, none.
function spanOf(plan, b) {
  const i = plan.lifeStart[b], end = plan.lifeStart[b + 1];
  return i < end ? [plan.number(plan.first[i]), plan.number(plan.end[end - 1] - 1)] : ["", ""];
}

export class Panels {
  constructor(app) {
    this.app = app;
    const plan = () => app.plan, onPick = (row) => app.pick(row.b), onCopy = (text) => app.copy(text);
    const [name, bytes, ...others] = bufferColumns(plan, app.data);
    this.alive = new Table(id("alive"), { caption: "Buffers alive at this step, the largest first", onPick, onCopy,
      columns: [name, bytes, numberColumn("share", (row) => row.share, (row) => percent(row.share, row.whole)),
        numberColumn("running sum", (row) => row.sum), ...others] });
    this.all = new Table(id("all"), { caption: "All buffers", onPick, onCopy, columns: [name, bytes,
      numberColumn("first step", (row) => spanOf(plan(), row.b)[0]), numberColumn("last step", (row) => spanOf(plan(), row.b)[1]), ...others] });
    if (app.before >= 0) this.changes = this.changeTable();
    this.groups = ["layer", "op"].map((kind) => new Table(id(`by-${kind}`), { caption: `Bytes alive by ${kind === "op" ? "kind of op" : "layer"}`,
      onCopy, onPick: (row) => app.search.find(kind === "op" ? row.key : row.key.replace(/^\(.*\)$/, "")),
      columns: [{ title: kind, text: (row) => row.key }, numberColumn("buffers", (row) => row.count),
        numberColumn("bytes", (row) => row.bytes)] }));
  }

  // Between the plan before and the one after; a row is picked in the plan that has it.
  changeTable() {
    const { app } = this, either = (row) => (row.b >= 0 ? [app.planAt(0), row.b] : [app.planAt(app.before), row.a]);
    const bytes = (k, id_) => (id_ < 0 ? "" : app.planAt(k).bytes(id_)), at = (k, id_) => (id_ < 0 ? "" : app.planAt(k).address(id_));
    const show = (value) => (value === "" ? "" : commas(value)), key = (value) => (value === "" ? -1 : value);
    const column = (title, value) => ({ title, number: true, key: (row) => key(value(row)), text: (row) => show(value(row)), plain: value });
    return new Table(id("changes"), { caption: "Buffers that changed", onCopy: (text) => app.copy(text),
      onPick: (row) => { app.showPlan(row.b >= 0 ? 0 : app.before); app.pick(row.b >= 0 ? row.b : row.a); },
      columns: [{ title: "buffer", text: (row) => { const [plan, b] = either(row); return plan.name(b); } },
        { title: "change", text: (row) => row.kind }, column("bytes before", (row) => bytes(app.before, row.a)),
        column("bytes after", (row) => bytes(0, row.b)), column("offset before", (row) => at(app.before, row.a)),
        column("offset after", (row) => at(0, row.b))] });
  }

  showChanges() {
    const { app } = this, changes = app.changes.filter(({ kind }) => kind !== "same"), counts = new Map();
    for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const before = BigInt(app.data.plans[app.before].arena), after = BigInt(app.data.plans[0].arena);
    const by = after - before, sign = by > 0n ? "+" : by < 0n ? "-" : "", size = by < 0n ? -by : by;
    id("change").hidden = false;
    id("changed").textContent = `The ${plannedName(app.data.plans[0])} went from ${commas(before)} to ${commas(after)} bytes (${sign}${commas(size)}, ${sign}${percent(size, before)}); `
      + `${[...counts].map(([kind, n]) => `${commas(n)} ${kind}`).join(", ") || "no buffer changed"}.`;
    this.changes.set(changes);
  }

  // What belongs to the plan, whatever the step.
  showPlan() {
    this.showRemedies();
    this.showHolders();
  }

  // All buffers, or those that a search has found.
  showAll(found) {
    this.all.set(found ? found.map((b) => ({ b })) : Array.from({ length: this.app.plan.n }, (_, b) => ({ b })));
  }

  showStep() {
    const { plan } = this.app, step = this.app.picture.cursor;
    const alive = plan.aliveAt(step), whole = total(plan, alive), arena = BigInt(plan.data.arena);
    let sum = 0n;
    this.alive.set(alive.map((b) => {
      const share = BigInt(plan.bytes(b));
      sum += share;
      return { b, share, whole, sum };
    }));
    const atPeak = step === plan.peakStep, shared = atPeak ? BigInt(plan.data.peak.shared) : 0n;
    id("when").textContent = plan.stepLabel(step) + (atPeak ? ", the peak" : "");
    id("story").textContent = [`${alive.length} buffer${alive.length === 1 ? " is" : "s are"} alive, ${commas(whole)} bytes (${inUnits(whole)})`,
      shared ? `of which ${commas(shared)} are shared: results over operands` : "",
      plan.reserved ? `${commas(plan.reservedAt(step))} were reserved` : "",
      arena > whole ? `${commas(arena - whole)} bytes of the ${plannedName(plan.data)} (${percent(arena - whole, arena)}) are not needed then` : ""]
      .filter(Boolean).join("; ") + ".";
    this.showHoles(alive);
    this.groups[0].set(grouped(plan, alive, plan.layerOf));
    this.groups[1].set(grouped(plan, alive, (b) => opTextOf(plan, b)));
    this.showFlame(alive, whole);
  }

  list(host, texts, nothing) {
    const items = texts.map(([text, pick]) => element("li", {}, pick
      ? element("button", { type: "button", textContent: text, onclick: pick }) : text));
    id(host).replaceChildren(...(items.length ? items : [element("li", { textContent: nothing })]));
  }

  showHoles(alive) {
    const { plan } = this.app, found = holes(plan, alive);
    const texts = found.slice(0, MOST_HOLES).map(({ pool, offset, bytes }) => [`${commas(bytes)} bytes at ${commas(offset)}`
      + (plan.pools.length > 1 ? ` of ${plan.poolName(pool)}` : "")]);
    if (found.length > MOST_HOLES) texts.push([`and ${found.length - MOST_HOLES} more`]);
    this.list("holes", texts, "Nothing: every byte is in use.");
  }

  // In the words of `explain`: what the bound would be without a buffer, and the arena with a flag.
  showRemedies() {
    const { plan } = this.app, needed = BigInt(plan.data.needed);
    const texts = plan.data.peak.without.map(({ buffer, bound, step }) => {
      const saves = needed - BigInt(bound);
      const then = plan.stepLabel(Number(BigInt(step) - plan.origin));
      return [`without ${plan.name(buffer)}: at least ${commas(bound)}, ${saves > 0n ? `saves ${commas(saves)}` : "saves nothing"}; then the peak is at ${then}`,
        () => this.app.pick(buffer)];
    });
    for (const { name, flags, arena, reserve, saves, plan: shows } of this.app.variants.filter(({ flags }) => flags && !flags.startsWith("--align"))) {
      texts.push([`${name} (${flags}): ${plannedName(plan.data)} ${commas(arena)}, ${reserve ? `to reserve ${commas(reserve)}, ` : ""}${saves === "0" ? "saves nothing" : `saves ${commas(saves)}`}`,
        shows && (() => this.app.showPlan(shows))]);
    }
    this.list("remedies", texts, "Nothing is alive.");
  }

  showHolders() {
    const { plan } = this.app, found = holders(plan);
    const texts = found.slice(0, MOST_HOLDERS).map((b) => [`${plan.name(b)}: ${commas(plan.bytes(b))} bytes at ${commas(plan.address(b))}`, () => this.app.pick(b)]);
    if (found.length > MOST_HOLDERS) texts.push([`and ${found.length - MOST_HOLDERS} more`]);
    this.list("holders", texts, "Nothing.");
  }

  // Module paths as nested bars, as wide as their bytes.
  showFlame(alive, whole) {
    const host = id("flame"), bars = [];
    let deepest = 0;
    const put = (node, from, depth) => {
      const share = whole ? Number(node.bytes) / Number(whole) : 0;
      if (share < LEAST_SHARE) return;
      deepest = Math.max(deepest, depth + 1);
      const text = `${node.name || "all"}: ${commas(node.bytes)} bytes (${percent(node.bytes, whole)})`;
      const bar = element("button", { type: "button", textContent: node.name || "all", title: text, ariaLabel: text,
        className: `bar depth${depth % 4}`, onclick: () => this.app.search.find(node.name.split("/").pop()) });
      Object.assign(bar.style, { left: `${from * 100}%`, width: `${share * 100}%`, top: `${depth * FLAME_ROW}px` });
      bars.push(bar);
      let at = from;
      for (const child of node.children) {
        put(child, at, depth + 1);
        at += whole ? Number(child.bytes) / Number(whole) : 0;
      }
    };
    put(treeOf(this.app.plan, alive), 0, 0);
    host.replaceChildren(...bars);
    host.style.height = `${deepest * FLAME_ROW}px`;
  }
}
