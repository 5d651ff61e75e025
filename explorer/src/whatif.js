// What if: in a page that has the planner, the user takes buffers away, pins them, chooses their pools
// or what these hold, and sees the plan that comes of it, which is shown like any other.
import { Planner } from "./planner.js";
import { allGone, dataOf, isChanged, noChanges } from "./replan.js";
import { element } from "./table.js";
import { commas, percent } from "./words.js";

const NO_PLAN_YET = 2n ** 64n - 1n;
const id = (name) => document.getElementById(name);
const button = (text, act) => element("button", { type: "button", textContent: text, onclick: act });

// "200K", "1.5 MiB" or a number of bytes; undefined for anything else.
export function sizeOf(text) {
  const parts = /^\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])i?B?|B)?\s*$/i.exec(text);
  if (!parts) return undefined;
  const bytes = Number(parts[1]) * 1024 ** (parts[2] ? "KMGT".indexOf(parts[2].toUpperCase()) + 1 : 0);
  return bytes <= Number.MAX_SAFE_INTEGER ? BigInt(Math.floor(bytes)) : undefined;
}

export class WhatIf {
  constructor(app, base64) {
    const planner = base64 ? new Planner(base64, id("worker").textContent) : null;
    Object.assign(this, { app, planner, changes: noChanges(), base: 0, own: app.data.plans.length });
    id("what-if").hidden = !planner;
    id("stop-planning").onclick = () => planner.end();
    id("start-over").onclick = () => this.change(() => { this.changes = noChanges(); });
  }

  // Another of the page's plans: what was changed in the one before is forgotten.
  showPlan() {
    if (!this.planner) return;
    if (this.app.planIndex !== this.own && this.app.planIndex !== this.base) {
      this.settle();
      this.changes = noChanges();
      this.base = this.app.planIndex;
    }
    this.showChanges();
    this.showCapacities();
  }

  // For the card of a buffer that is kept: what can be changed about it.
  toolsFor(b) {
    const { changes } = this, plan = this.app.planAt(this.base);
    if (!this.planner || !plan.isPlaced(b)) return [];
    const put = (part, value) => () => this.change(() => { if (value === undefined) part.delete(b); else part.set(b, value); });
    if (changes.gone.has(b)) return [element("p", { className: "tools" }, button("Put it back", put(changes.gone)))];
    const found = [button("Without it", () => this.change(() => changes.gone.add(b)))];
    if (plan.host[b] < 0) found.push(...this.pinTools(b, put));
    if (plan.host[b] < 0 && plan.pools.length > 1) found.push(this.poolTool(b, put));
    return [element("p", { className: "tools" }, ...found)];
  }

  pinTools(b, put) {
    if (this.changes.pins.has(b)) return [button("Let it lie anywhere", put(this.changes.pins))];
    const { plan } = this.app, at = element("input", { type: "text", size: 12, value: String(plan.address(b)), ariaLabel: "offset in bytes" });
    const pin = () => {
      const offset = sizeOf(at.value);
      if (offset !== undefined) this.change(() => this.changes.pins.set(b, { pool: plan.pool[b], offset }));
      else this.say(`'${at.value}' is no offset.`);
    };
    return [element("label", {}, "at ", at), button("Pin it there", pin)];
  }

  poolTool(b, put) {
    const { plan } = this.app, chosen = this.changes.pools.get(b);
    const choice = element("select", { onchange: () => put(this.changes.pools, choice.value ? Number(choice.value) : undefined)() },
      element("option", { value: "", textContent: "where it may" }),
      ...plan.pools.map((_, k) => element("option", { value: String(k), textContent: plan.poolName(k) })));
    choice.value = chosen === undefined ? "" : String(chosen);
    return element("label", {}, "pool ", choice);
  }

  showChanges() {
    const { changes } = this, plan = this.app.planAt(this.base), items = [];
    const add = (text, undo) => items.push(element("li", {}, `${text} `, button("Undo", () => this.change(undo))));
    for (const b of changes.gone) add(`without ${plan.name(b)}`, () => changes.gone.delete(b));
    for (const [b, { pool, offset }] of changes.pins) {
      add(`${plan.name(b)} at ${commas(offset)}${plan.pools.length > 1 ? ` of ${plan.poolName(pool)}` : ""}`, () => changes.pins.delete(b));
    }
    for (const [b, pool] of changes.pools) add(`${plan.name(b)} in ${plan.poolName(pool)}`, () => changes.pools.delete(b));
    for (const [k, bytes] of changes.capacities) add(`${plan.poolName(k)} holds ${commas(bytes)} bytes`, () => changes.capacities.delete(k));
    id("tried").replaceChildren(...items);
    id("start-over").hidden = items.length < 2;
    if (!items.length) this.say("Click a buffer: without it, at another offset, in another pool? The page plans again.");
  }

  showCapacities() {
    const plan = this.app.planAt(this.base);
    id("capacities").replaceChildren(...plan.pools.map((pool, k) => {
      const now = this.changes.capacities.get(k) ?? pool.capacity;
      const input = element("input", { type: "text", size: 12, placeholder: "no limit", value: now === undefined ? "" : String(now) });
      input.onchange = () => {
        const bytes = sizeOf(input.value);
        if (bytes === undefined && input.value.trim()) this.say(`'${input.value}' is no size.`);
        else this.change(() => { if (bytes === undefined) this.changes.capacities.delete(k); else this.changes.capacities.set(k, bytes); });
      };
      return element("label", {}, `capacity of ${plan.poolName(k)} `, input);
    }));
  }

  say(text) { id("came-of-it").textContent = text; }

  // A run that is still under way when another begins, or another plan is shown, is ended by it.
  async change(make) {
    const { app } = this, plan = app.planAt(this.base);
    this.settle();
    make();
    this.showChanges();
    if (!isChanged(this.changes)) return app.dropPlan(this.own, this.base);
    const run = this.begin();
    try {
      const answer = await this.planner.plan(plan, this.changes, { onProgress: (progress) => this.tellProgress(run, progress) });
      if (run !== this.run) return;
      if (answer) this.took(plan, answer);
      else this.say("Stopped: the picture is without the last change.");
    } catch (error) {
      if (run === this.run) this.say(`No such plan: ${error.message}.`);
    }
    if (run === this.run) this.settle();
  }

  begin() {
    this.say("Planning\u2026");
    id("stop-planning").hidden = false;
    this.run = {};
    return this.run;
  }

  // Not announced, since it goes on and on; what came of it is.
  tellProgress(run, { best, bound }) {
    if (run !== this.run) return;
    id("so-far").textContent = `${best === NO_PLAN_YET ? "no plan yet" : `${commas(best)} bytes so far`}, at least ${commas(bound)} needed`;
  }

  settle() {
    this.run = null;
    this.planner.end();
    id("so-far").textContent = "";
    id("stop-planning").hidden = true;
  }

  took(plan, answer) {
    const was = BigInt(plan.data.arena) - BigInt(plan.data.behind), by = was - answer.total, data = dataOf(plan, answer);
    this.app.addPlan(this.own, data, plan.replaced(data, answer, allGone(plan, this.changes)));
    this.say(`Arena ${commas(answer.total)} bytes, ${by > 0n ? `${commas(by)} (${percent(by, was)}) less` : by < 0n ? `${commas(-by)} (${percent(-by, was)}) more` : "as before"}; `
      + (answer.quality === "optimal" ? "proven minimal." : `at least ${commas(answer.bound)} are needed.`));
  }
}
