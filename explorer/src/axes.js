// What stands around the rectangles, drawn by the canvas: bytes alive with bound and arena above, and
// what the allocator of a trace held, addresses at the left, ops and methods below. All take the picture (picture.js), whose `frame` has
// the plot's edges in pixels of the screen.
import { begun, commas, inUnits, nicePowerOfTwo, niceStep, plannedName, shortened } from "./words.js";

export const LEFT = 84, RIGHT = 14, CURVE = 84, GAP = 22, BELOW = 58;
const LEAST_APART = 10;
const SMALL = "11px system-ui, sans-serif", STRONG = "600 11px system-ui, sans-serif";

export function write(ctx, text, x, y, { colour, halo, align = "left", font = SMALL }) {
  ctx.font = font;
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  if (halo) {
    ctx.strokeStyle = halo;
    ctx.lineWidth = 3;
    ctx.lineJoin = "round";
    ctx.strokeText(text, x, y);
  }
  ctx.fillText(text, x, y);
}

function line(ctx, x1, y1, x2, y2, colour, dash = [], width = 1) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
  ctx.setLineDash([]);
}

// The index of the last change at or before a step; -1 before the first.
function changeAt(steps, step) {
  let low = 0, high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle] <= step) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// The most bytes alive in each of `columns` equal parts of [x0, x1).
export function columnsOf(curve, x0, x1, columns) {
  const { steps, live } = curve, found = new Float64Array(columns);
  let k = changeAt(steps, x0);
  for (let c = 0; c < columns; c++) {
    const from = x0 + ((x1 - x0) * c) / columns, end = x0 + ((x1 - x0) * (c + 1)) / columns;
    while (k + 1 < steps.length && steps[k + 1] <= from) k++;
    found[c] = k >= 0 ? live[k] : 0;
    while (k + 1 < steps.length && steps[k + 1] < end) {
      k++;
      if (live[k] > found[c]) found[c] = live[k];
    }
  }
  return found;
}

export function paintCurve(ctx, box, values, top, colour) {
  ctx.beginPath();
  ctx.moveTo(box.x, box.y + box.height);
  values.forEach((bytes, c) => {
    const y = box.y + box.height - (bytes / top) * box.height;
    ctx.lineTo(box.x + (c * box.width) / values.length, y);
    ctx.lineTo(box.x + ((c + 1) * box.width) / values.length, y);
  });
  ctx.lineTo(box.x + box.width, box.y + box.height);
  ctx.closePath();
  ctx.fillStyle = `${colour}3c`;
  ctx.fill();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.stroke();
}

// The highest byte in use: what lies between it and the curve of bytes alive is holes. And what the
// allocator of a trace held: there, it was reserved for nothing.
export function paintLine(ctx, box, values, top, colour) {
  ctx.beginPath();
  values.forEach((bytes, c) => {
    const y = box.y + box.height - (bytes / top) * box.height;
    ctx.lineTo(box.x + (c * box.width) / values.length, y);
    ctx.lineTo(box.x + ((c + 1) * box.width) / values.length, y);
  });
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.stroke();
}

// Those that are not above all that is drawn.
export function paintLevels(ctx, box, top, levels) {
  for (const { bytes, colour, dash } of levels.filter((level) => level.bytes <= top)) {
    const y = Math.round(box.y + box.height - (bytes / top) * box.height) + 0.5;
    line(ctx, box.x, y, box.x + box.width, y, colour, dash);
  }
}

export function levelsOf(plan, theme) {
  const levels = [{ bytes: Number(plan.data.arena), colour: theme.ink, dash: [], name: plannedName(plan.data) }];
  if (plan.data.bound !== plan.data.arena) levels.push({ bytes: Number(plan.data.bound), colour: theme.bound, dash: [7, 4], name: "bound" });
  const today = plan.data.today;
  if (today && today.arena !== plan.data.arena) levels.push({ bytes: Number(today.arena), colour: theme.today, dash: [2, 3], name: "now" });
  return levels;
}

export const topOfCurve = (plan) =>
  Math.max(1, Number(plan.data.arena), Number(plan.data.peak.live), Number(plan.data.reserved ?? 0)) * 1.04;

// Bytes alive, and the levels, over the steps that are seen.
export function drawCurve(p, ctx) {
  const { plan, theme, frame, view } = p, top = topOfCurve(plan);
  const box = { x: LEFT, y: 4, width: frame.width, height: CURVE };
  ctx.fillStyle = theme.plot;
  ctx.fillRect(box.x, box.y, box.width, box.height);
  paintCurve(ctx, box, columnsOf(plan.curve, view.x0, view.x1, frame.width), top, theme.area);
  if (plan.reach) paintLine(ctx, box, columnsOf(plan.reach, view.x0, view.x1, frame.width), top, theme.peak);
  if (plan.reserved) paintLine(ctx, box, columnsOf(plan.reserved, view.x0, view.x1, frame.width), top, theme.reserved);
  paintLevels(ctx, box, top, levelsOf(plan, theme));
  const unit = nicePowerOfTwo(top / 3);
  for (let at = 0; at < top; at += unit) {
    write(ctx, inUnits(at), LEFT - 8, box.y + box.height - (at / top) * box.height + 4, { colour: theme.soft, align: "right" });
  }
  write(ctx, "bytes alive", LEFT + 6, box.y + 13, { colour: theme.soft, halo: theme.plot });
  if (plan.reach) write(ctx, "highest byte in use", LEFT + 72, box.y + 13, { colour: theme.peak, halo: theme.plot });
  if (plan.reserved) write(ctx, "reserved", LEFT + 186, box.y + 13, { colour: theme.reserved, halo: theme.plot });
}

// Addresses of each lane, and the names of the pools where there are several.
export function drawAddresses(p, ctx) {
  const { plan, theme, frame, lanes } = p;
  for (const lane of lanes) {
    const low = p.yOf(lane.low), high = p.yOf(lane.low + lane.height);
    const perByte = (low - high) / lane.bytes, unit = nicePowerOfTwo(44 / perByte);
    const from = Math.max(0, ((frame.bottom - low) / -perByte)), to = Math.min(lane.bytes, (low - frame.top) / perByte);
    for (let at = Math.ceil(from / unit) * unit; at <= to; at += unit) {
      const y = low - at * perByte;
      if (lanes.length > 1 && at > 0 && y - high < LEAST_APART) continue; // the lane above has its 0 there
      line(ctx, LEFT - 4, y, LEFT, y, theme.line);
      write(ctx, inUnits(at), LEFT - 8, y + 4, { colour: theme.soft, align: "right" });
    }
    if (lanes.length > 1 && high < frame.bottom && low > frame.top) {
      write(ctx, plan.poolName(lane.pool), LEFT + 4, Math.max(high, frame.top) + 12, { colour: theme.ink, font: STRONG });
    }
  }
}

// The lines of arena, bound and today's arena in the plot.
export function drawArena(p, ctx) {
  const { plan, theme, frame, lanes } = p;
  const names = [];
  for (const lane of lanes) {
    const pool = plan.pools[lane.pool], single = lanes.length === 1;
    const levels = [{ name: plannedName(plan.data), bytes: pool.arena, colour: theme.ink, dash: [] },
      { name: "bound", bytes: single ? plan.data.bound : pool.bound, colour: theme.bound, dash: [7, 4] }];
    const today = plan.data.today;
    if (single && today && today.arena !== plan.data.arena) levels.push({ name: "now", bytes: today.arena, colour: theme.today, dash: [2, 3] });
    if (levels[0].bytes === levels[1].bytes) levels.splice(1, 1);
    for (const { name, bytes, colour, dash } of levels) {
      const y = p.yOf(lane.low + (Number(bytes) / lane.bytes) * lane.height);
      if (y < frame.top - 1 || y > frame.bottom + 1 || Number(bytes) > lane.bytes) continue;
      line(ctx, LEFT, Math.round(y) + 0.5, LEFT + frame.width, Math.round(y) + 0.5, colour, dash, 1.4);
      names.push({ y, text: `${name} ${commas(bytes)}`, colour });
    }
  }
  return names;
}

// Ops by type, one above the other with called methods, and numbers of steps.
export function drawOps(p, ctx) {
  const { plan, theme, frame, view } = p;
  const y = frame.bottom + 4, scale = frame.width / (view.x1 - view.x0);
  ctx.fillStyle = theme.plot;
  ctx.fillRect(LEFT, y, frame.width, 16);
  if (plan.stepOp.length) {
    const each = Math.max(1, Math.floor(1 / scale));
    for (let step = Math.floor(view.x0); step < view.x1; step += each) {
      const op = plan.opAt(step);
      if (op < 0) continue;
      ctx.fillStyle = p.opColour(plan.opWord(op));
      const x = p.xOf(step), from = Math.max(x, LEFT), to = Math.min(p.xOf(step + each), LEFT + frame.width);
      ctx.fillRect(from, y, Math.max(to - from - (scale > 4 ? 1 : 0), 1), 16);
      const letters = Math.floor((scale - 6) / 6.3);
      if (letters >= 5) write(ctx, begun(plan.opWord(op), letters), p.xOf(step) + 3, y + 12, { colour: "#000000", halo: "#ffffffb0" });
    }
    drawMethods(p, ctx, y + 18);
  }
  drawNumbers(p, ctx, y + 50);
}

// Stretches of steps of one method: what is called stands out from the entries around it.
function drawMethods(p, ctx, y) {
  const { plan, theme, frame, view } = p;
  if (plan.methods.length < 2) return;
  const last = Math.min(Math.ceil(view.x1), plan.range), each = Math.max(1, Math.floor((view.x1 - view.x0) / frame.width));
  let from = Math.floor(view.x0);
  for (let step = from; step <= last; step += each) {
    if (step < last && plan.methodAt(step) === plan.methodAt(from)) continue;
    const x0 = Math.max(p.xOf(from), LEFT), x1 = Math.min(p.xOf(Math.min(step, last)), LEFT + frame.width);
    const method = plan.methodAt(from);
    if (method >= 0 && x1 > x0) {
      ctx.strokeStyle = theme.line;
      ctx.strokeRect(x0 + 0.5, y + 0.5, Math.max(x1 - x0 - 2, 1), 15);
      const letters = Math.floor((x1 - x0 - 8) / 6.3);
      if (letters >= 3) write(ctx, shortened(plan.methodName(method), letters), x0 + 4, y + 12, { colour: theme.ink });
    }
    from = step;
  }
}

function drawNumbers(p, ctx, y) {
  const { plan, theme, frame, view } = p;
  const unit = Math.max(1, niceStep(((view.x1 - view.x0) / frame.width) * 90));
  const origin = Number(plan.origin), first = Math.ceil((view.x0 + origin) / unit) * unit;
  for (let at = first; at < view.x1 + origin; at += unit) {
    const x = p.xOf(at - origin + 0.5);
    if (x < LEFT || x > LEFT + frame.width - 20) continue;
    write(ctx, commas(plan.number(at - origin)), x, y, { colour: theme.soft, align: "center" });
  }
}
