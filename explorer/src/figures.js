// What stands above and below the picture in words: the plan's figures, what the colours mean, and how
// much of the arena is unused over all steps.
import { element } from "./table.js";
import { reachOf, unusedOf } from "./waste.js";
import { commas, inUnits, notTheSame, percent, plannedName, shown } from "./words.js";

const id = (name) => document.getElementById(name);

// Pairs of a title and a text.
function figuresOf(plan) {
  const d = plan.data, waste = BigInt(d.arena) - BigInt(d.needed) - BigInt(d.behind);
  const facts = [[plannedName(d), `${commas(d.arena)} bytes (${inUnits(d.arena)})`],
    ["bound", d.quality === "optimal" ? "reached: proven minimal" : `${commas(d.bound)} bytes`],
    ["peak", `${commas(d.peak.live)} bytes at ${plan.stepLabel(plan.peakStep)}`],
    ["waste above the peak", waste > 0n ? `${commas(waste)} bytes (${percent(waste, d.arena)})` : "none"]];
  if (d.reserve) {
    facts.unshift(["tensor_arena", `${d.exact ? "" : "at least "}${commas(d.reserve)} bytes (${inUnits(d.reserve)}): head ${commas(d.head)}, tail ${commas(d.tail)}`]);
  }
  if (d.reserved) facts.push(["reserved", `at most ${commas(d.reserved)} bytes`]);
  if (d.today) facts.push(["now", `${commas(d.today.arena)} bytes (${shown(d.today.planner ?? "")})`]);
  facts.push(["planner", shown(d.planner ?? "unknown")], ["buffers", commas(plan.n)]);
  if (d.target) facts.push(["runtime", shown(d.target)]);
  if (d.kernels) facts.push(["only for the kernels", shown(d.kernels)]);
  if (d.rounded) facts.push(["results", notTheSame(d.rounded)]);
  if (d.scratch === "unknown") facts.push(["scratch", "unknown, and may move the peak"]);
  return facts;
}

export function showFigures(plan, title) {
  id("title").textContent = title;
  id("figures").replaceChildren(...figuresOf(plan).map(([title, text]) =>
    element("div", {}, element("dt", { textContent: title }), element("dd", { textContent: text }))));
}

const entriesOf = (legend) => legend.map(({ text, colour }) => {
  const swatch = element("span", { className: "swatch" });
  swatch.style.background = colour;
  return element("li", {}, swatch, shown(text, 60));
});

export function showLegend(picture) {
  const said = [picture.shared.length ? "hatched: operand and result at once" : "",
    picture.rectangles.depth ? "dotted: inside another buffer" : "", "strong: alive at the cursor"];
  id("legend").replaceChildren(...entriesOf(picture.legend), ...said.filter(Boolean).map((textContent) => element("li", { textContent })));
  showOpLegend(picture);
}

// The strip of ops below the steps has colours of its own, unless the picture has the same.
function showOpLegend({ plan, way, opLegend }) {
  const shows = plan.nOps > 0 && way !== "op";
  id("op-legend").hidden = !shows;
  if (shows) id("op-legend").replaceChildren(element("li", { textContent: "ops:" }), ...entriesOf(opLegend));
}

export function showWaste(plan) {
  plan.reach ??= reachOf(plan);
  const { unused, holes } = unusedOf(plan, plan.reach), { arena } = plan.data;
  const bytes = (n) => `${inUnits(Math.round(n))} (${percent(n, arena)})`;
  const text = unused ? `${bytes(unused)} of the ${plannedName(plan.data)} is unused on average, of which ${bytes(holes)} lies in holes below what is in use`
    : `the whole ${plannedName(plan.data)} is in use`;
  id("waste").textContent = plan.range ? `Over all steps, ${text}.` : "";
}
