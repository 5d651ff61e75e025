// What is looked at, as the part of the address behind '#', so that a link shows the same.

const number = (text) => (text !== undefined && text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined);
const pair = (text) => {
  const parts = (text ?? "").split("..").map(number);
  return parts.length === 2 && parts.every((part) => part !== undefined) && parts[0] < parts[1] ? parts : undefined;
};

// Leaves out what the text does not say, or says wrongly.
export function readLink(hash) {
  const said = Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));
  const steps = pair(said.t), heights = pair(said.a);
  const found = { step: number(said.step), buffer: number(said.buf), plan: number(said.plan), query: said.q, colour: said.c,
    view: steps && { x0: steps[0], x1: steps[1], y0: heights?.[0] ?? 0, y1: heights?.[1] ?? 1 } };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

const short = (n) => String(Number(n.toPrecision(9)));

export function writeLink({ view, whole, step, buffer, plan, query, colour }) {
  const said = new URLSearchParams();
  if (plan) said.set("plan", plan);
  if (view && !whole) {
    said.set("t", `${short(view.x0)}..${short(view.x1)}`);
    if (view.y0 > 0 || view.y1 < 1) said.set("a", `${short(view.y0)}..${short(view.y1)}`);
  }
  if (step !== undefined) said.set("step", step);
  if (buffer >= 0) said.set("buf", buffer);
  if (query) said.set("q", query);
  if (colour && colour !== "class") said.set("c", colour);
  return String(said);
}
