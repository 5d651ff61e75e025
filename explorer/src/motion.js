// How buffers move from where one plan has them to where another does: those of the same name, if
// there are not too many, and if motion is wanted at all.

const MOST_MOVING = 20000, MOVE_MS = 450;
const SIDES = ["x0", "x1", "y0", "y1"];

// Where each lifetime comes from.
function origins(before, plan, rectangles) {
  const place = new Map(before.plan.names.map((name, b) => [name ?? `buffer${b}`, b]));
  const from = Object.fromEntries(SIDES.map((side) => [side, rectangles[side].slice()]));
  for (let i = 0; i < plan.owner.length; i++) {
    const b = plan.owner[i], old = place.get(plan.names[b] ?? `buffer${b}`);
    if (old === undefined) continue;
    const k = before.plan.lifeStart[old] + i - plan.lifeStart[b];
    if (k >= before.plan.lifeStart[old + 1]) continue;
    for (const side of SIDES) from[side][i] = before.rectangles[side][k];
  }
  return from;
}

// Rectangles by the time, null when they have come to rest; null where nothing is to move. `before` is
// {plan, rectangles}.
export function motionFrom(before, plan, rectangles) {
  const many = Math.max(plan.owner.length, before.plan.owner.length) > MOST_MOVING;
  if (many || matchMedia("(prefers-reduced-motion: reduce)").matches) return null;
  const from = origins(before, plan, rectangles);
  let began = 0;
  return (now) => {
    began ||= now;
    const part = Math.min((now - began) / MOVE_MS, 1), eased = part * part * (3 - 2 * part);
    if (part === 1) return null;
    const between = (side) => rectangles[side].map((to, i) => from[side][i] + (to - from[side][i]) * eased);
    return { ...rectangles, ...Object.fromEntries(SIDES.map((side) => [side, between(side)])) };
  };
}
