// The tables below the picture: what is alive at the step of the cursor, what would help, what lies
// unused, and what layers and kinds of ops take. The tables say in words what the picture shows.
import { layerOf, opTextOf } from "./colours.js";
import { Table, element } from "./table.js";
import { grouped, holders, holes, total, treeOf } from "./why.js";
import { commas, inUnits, percent } from "./words.js";

const MOST_HOLES = 8, MOST_HOLDERS = 8, LEAST_SHARE = 0.004, FLAME_ROW = 24;

const id = (name) => document.getElementById(name);

function numberColumn(title, value, text = (row) => commas(value(row))) {
  return { title, number: true, key: value, text, plain: (row) => String(value(row)) };
}

// The columns of every table of buffers.
function bufferColumns(plan) {
  return [
    { title: "buffer", text: (row) => plan().name(row.b) },
    numberColumn("bytes", (row) => plan().bytes(row.b)),
    { title: "shape", text: (row) => plan().shapeText(row.b) },
    { title: "class", text: (row) => plan().className(row.b) },
    { title: "from", text: (row) => {
      const writers = plan().nOps ? plan().writersOf(row.b) : [];
      return writers.length ? plan().opLabel(writers[0]) : opTextOf(plan(), row.b);
    } },
    numberColumn("offset", (row) => plan().address(row.b)),
  ];
}

export class Panels {
  constructor(app) {
    this.app = app;
    const plan = () => app.plan, onPick = (row) => app.pick(row.b), onCopy = (text) => app.copy(text);
    const [name, bytes, ...others] = bufferColumns(plan);
    this.alive = new Table(id("alive"), { caption: "Buffers alive at this step, the largest first", onPick, onCopy,
      columns: [name, bytes, numberColumn("share", (row) => row.share, (row) => percent(row.share, row.whole)),
        numberColumn("running sum", (row) => row.sum), ...others] });
    this.all = new Table(id("all"), { caption: "All buffers", onPick, onCopy, columns: [name, bytes,
      numberColumn("first step", (row) => row.first), numberColumn("last step", (row) => row.last), ...others] });
    this.groups = ["layer", "op"].map((kind) => new Table(id(`by-${kind}`), { caption: `Bytes alive by ${kind === "op" ? "kind of op" : "layer"}`,
      onCopy, onPick: (row) => app.find(kind === "op" ? row.key : row.key.replace(/^\(.*\)$/, "")),
      columns: [{ title: kind, text: (row) => row.key }, numberColumn("buffers", (row) => row.count),
        numberColumn("bytes", (row) => row.bytes)] }));
  }

  // What belongs to the plan, whatever the step.
  showPlan() {
    const { plan } = this.app;
    this.all.set(Array.from({ length: plan.n }, (_, b) => {
      const i = plan.lifeStart[b], end = plan.lifeStart[b + 1];
      const placed = i < end;
      return { b, first: placed ? plan.number(plan.first[i]) : 0n, last: placed ? plan.number(plan.end[end - 1] - 1) : 0n };
    }));
    this.showRemedies();
    this.showHolders();
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
    id("story").textContent = [`${alive.length} buffers are alive, ${commas(whole)} bytes (${inUnits(whole)})`,
      shared ? `of which ${commas(shared)} are shared: results over operands` : "",
      arena > whole ? `${commas(arena - whole)} bytes of the arena (${percent(arena - whole, arena)}) are not needed then` : ""]
      .filter(Boolean).join("; ") + ".";
    this.showHoles(alive);
    this.groups[0].set(grouped(plan, alive, (b) => layerOf(plan.names[b] ?? "")).map((g) => ({ ...g, key: g.key })));
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
    const { plan } = this.app, needed = BigInt(plan.data.needed), arena = BigInt(plan.data.arena);
    const texts = plan.data.peak.without.map(({ buffer, bound, step }) => {
      const saves = needed - BigInt(bound);
      const then = plan.stepLabel(Number(BigInt(step) - plan.origin));
      return [`without ${plan.name(buffer)}: at least ${commas(bound)}, ${saves > 0n ? `saves ${commas(saves)}` : "saves nothing"}; then the peak is at ${then}`,
        () => this.app.pick(buffer)];
    });
    for (const { what, flags, arena: with_ } of this.app.data.remedies ?? []) {
      const saves = arena - BigInt(with_);
      texts.push([`${what} (${flags}): arena ${commas(with_)}, ${saves > 0n ? `saves ${commas(saves)}` : "saves nothing"}`]);
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
        className: `bar depth${depth % 4}`, onclick: () => this.app.find(node.name.split("/").pop()) });
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
