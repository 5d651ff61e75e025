// All plans of the page side by side: what each takes, and what that is against the first.
import { Table, element } from "./table.js";
import { commas, inUnits, percent, shown } from "./words.js";

const id = (name) => document.getElementById(name);

export class Variants {
  constructor(app) {
    this.app = app;
    this.table = new Table(id("variants"), { caption: "Each plan as it would be, with its flags", onPick: (row) => app.showPlan(row.plan), onCopy: (text) => app.copy(text),
      columns: [{ title: "plan", text: (row) => row.name }, { title: "flags", text: (row) => row.flags },
        { title: "bytes", number: true, key: (row) => row.arena, text: (row) => commas(row.arena), plain: (row) => String(row.arena) },
        { title: "against the first", number: true, key: (row) => row.by, text: (row) => this.change(row), plain: (row) => String(row.by) },
        { title: "", text: () => "", draw: (row) => this.bar(row) }] });
  }

  // The first plan, and the others; those without one of their own are planned as the first is.
  show() {
    const { app } = this, { plans, variants } = app.data, first = BigInt(plans[0].arena);
    const row = (name, flags, arena, plan) => ({ name, flags, arena: BigInt(arena), by: BigInt(arena) - first, plan });
    const rows = [row(app.planName(0), "", plans[0].arena, 0), ...variants.map((v) => row(shown(v.name, 60), shown(v.flags ?? "", 60), v.arena, v.plan ?? 0))];
    if (plans.length > app.whatIf.own) rows.push(row("what if", "", plans[app.whatIf.own].arena, app.whatIf.own));
    this.first = first;
    this.most = rows.reduce((most, { arena }) => (arena > most ? arena : most), 1n);
    id("side-by-side").hidden = rows.length < 2;
    this.table.set(rows);
  }

  change({ by }) {
    const size = by < 0n ? -by : by;
    return by === 0n ? "the same" : `${by < 0n ? "-" : "+"}${commas(size)} (${percent(size, this.first)})`;
  }

  bar({ arena, plan }) {
    const bar = element("span", { className: plan === this.app.planIndex && arena === BigInt(this.app.data.plans[plan].arena) ? "amount shown" : "amount", title: inUnits(arena) });
    bar.style.width = `${(Number(arena) / Number(this.most)) * 100}%`;
    return bar;
  }
}
