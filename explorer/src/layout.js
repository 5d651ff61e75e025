// Where things lie in the world: steps to the right, and upwards from 0 to 1 one lane for each pool
// that is used, as high as its share of the bytes, but never too low to be seen.

const LEAST_SHARE = 0.12, GAP = 0.015;

// The highest address worth showing: today's arena too, if it is not far off.
function topOf(plan, k) {
  const arena = Number(plan.pools[k].arena), today = Number(plan.data.today?.arena ?? 0);
  const shows = plan.pools.length === 1 && today > arena && today <= 2 * arena;
  return Math.max(shows ? today : arena, 1);
}

// {pool, bytes, low, height}, the first pool lowest.
export function lanesOf(plan) {
  const used = plan.pools.map((_, k) => k).filter((k) => plan.pools[k].arena !== "0");
  if (!used.length && plan.pools.length) used.push(0);
  const tops = used.map((k) => topOf(plan, k));
  const sum = tops.reduce((a, b) => a + b, 0);
  const weights = tops.map((top) => Math.max(top / sum, LEAST_SHARE));
  const whole = weights.reduce((a, b) => a + b, 0);
  const room = Math.max(1 - GAP * (used.length - 1), 0.5), gap = used.length > 1 ? (1 - room) / (used.length - 1) : 0;
  let low = 0;
  return used.map((pool, i) => {
    const height = (weights[i] / whole) * room;
    const lane = { pool, bytes: tops[i], low, height };
    low += height + gap;
    return lane;
  });
}

// Of each lifetime, the rectangle: x0, x1 in steps and y0, y1 in the world. Those that are drawn
// are in `order`: hosts before what lies in them.
export function rectanglesOf(plan, lanes) {
  const n = plan.owner.length;
  const laneOf = new Map(lanes.map((lane) => [lane.pool, lane]));
  const y0 = new Float64Array(n), y1 = new Float64Array(n);
  const depth = depths(plan), order = [];
  for (let i = 0; i < n; i++) {
    const b = plan.owner[i], lane = laneOf.get(plan.pool[b]);
    if (!lane || !plan.size[b]) continue;
    const scale = lane.height / lane.bytes;
    y0[i] = lane.low + plan.offset[b] * scale;
    y1[i] = y0[i] + plan.size[b] * scale;
    order.push(i);
  }
  if (depth) order.sort((a, b) => depth[plan.owner[a]] - depth[plan.owner[b]] || a - b);
  return { n, x0: plan.first, x1: plan.end, y0, y1, order: Int32Array.from(order), depth };
}

// How many hosts each buffer lies in, one in the other; null if none lies in any.
function depths(plan) {
  if (!plan.host.some((host) => host >= 0)) return null;
  const depth = new Int32Array(plan.n);
  for (let b = 0; b < plan.n; b++) {
    for (let host = plan.host[b]; host >= 0; host = plan.host[host]) depth[b]++;
  }
  return depth;
}

// Areas that two buffers hold at once: results over operands, or reaching into them.
export function sharedAreas(plan, rectangles) {
  const found = [];
  const pair = (a, b) => {
    if (plan.pool[a] < 0 || plan.pool[a] !== plan.pool[b]) return;
    const { y0, y1 } = rectangles;
    for (let i = plan.lifeStart[a]; i < plan.lifeStart[a + 1]; i++) {
      for (let k = plan.lifeStart[b]; k < plan.lifeStart[b + 1]; k++) {
        const area = { a, b, x0: Math.max(plan.first[i], plan.first[k]), x1: Math.min(plan.end[i], plan.end[k]),
          y0: Math.max(y0[i], y0[k]), y1: Math.min(y1[i], y1[k]) };
        if (area.x0 < area.x1 && area.y0 < area.y1) found.push(area);
      }
    }
  };
  for (let b = 0; b < plan.n; b++) if (plan.base[b] >= 0) pair(b, plan.base[b]);
  for (let i = 0; i < plan.upper.length; i++) pair(plan.upper[i], plan.lower[i]);
  return found;
}
