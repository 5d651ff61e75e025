// Peak against time of a training step: the fastest schedules found, the proven bound below them, the
// floor, and the schedule of this plan; and which of its ops run again.
import { Table } from "./table.js";
import { commas } from "./words.js";

const WIDTH = 520, HEIGHT = 240, LEFT = 8, INSET = 14, BELOW = 24;

const id = (name) => document.getElementById(name);

function shape(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const share = (part, whole) => (Number(whole) ? 100 * Number(part) / Number(whole) : 0);
const percent = (value) => `${value.toFixed(2)} %`;

// Bytes to the right, from 0 to the peak where each op runs once; added time upwards.
function plot(curve) {
  const { before, base, points, floor, now } = curve;
  const found = points.filter((point) => point.fits), possible = points.filter((point) => BigInt(point.budget) >= BigInt(floor));
  const most = Math.max(1e-9, ...found.map((point) => share(point.added, base)), ...possible.map((point) => share(point.bound, base)), share(now.added, base));
  const x = (bytes) => LEFT + INSET + Math.min(1.02, share(bytes, before) / 100) * (WIDTH - 2 * (LEFT + INSET));
  const y = (time) => (HEIGHT - BELOW - INSET) * (1 - share(time, base) / most) + INSET / 2;
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Bytes alive at once against added time", class: "ways curve" });
  picture.append(shape("rect", { x: LEFT, y: 1, width: WIDTH - 2 * LEFT, height: HEIGHT - BELOW - 1 }));
  const line = (kind, of) => picture.append(shape("polyline", { class: kind, points: of.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }));
  line("bound", [[before, 0], ...possible.map((point) => [point.budget, point.bound])]);
  line("found", [[before, 0], ...found.map((point) => [point.budget, point.added])]);
  picture.append(shape("line", { class: "floor", x1: x(floor), x2: x(floor), y1: 1, y2: HEIGHT - BELOW }));
  const dot = (kind, bytes, time, text) => {
    const point = shape("circle", { r: kind ? 8 : 4, class: kind, cx: x(bytes), cy: y(time) });
    point.append(shape("title", {}, text));
    picture.append(point);
  };
  for (const point of found) {
    dot("", point.budget, point.added, `${point.percent} %: ${commas(point.peak)} bytes, ${percent(share(point.added, base))} more time, at least ${percent(share(point.bound, base))}`);
  }
  dot("taken", now.arena, now.added, `this plan: ${commas(now.arena)} bytes, ${percent(share(now.added, base))} more time`);
  const late = x(floor) > WIDTH / 2; // on the side of its line where there is room
  picture.append(shape("text", { x: x(floor) + (late ? -4 : 4), y: HEIGHT - BELOW - 6, "text-anchor": late ? "end" : "start" }, `floor ${commas(floor)}`),
    shape("text", { x: WIDTH - LEFT - INSET, y: HEIGHT - 6, "text-anchor": "end" }, `${commas(before)} bytes alive at once`),
    shape("text", { x: LEFT + 6, y: 16, "text-anchor": "start" }, `+${percent(most)} time`));
  return picture;
}

export function showCurve(curve, onCopy) {
  if (!curve) return;
  const column = (title, value, text) => ({ title, number: true, key: (row) => value(row) ?? -1, text: (row) => (value(row) === null ? "" : text(value(row))), plain: (row) => String(value(row) ?? "") });
  const time = (title, value) => column(title, value, percent), bytes = (title, value) => column(title, value, commas);
  const impossible = (row) => BigInt(row.budget) < BigInt(curve.floor);
  id("training").hidden = false;
  id("curve").replaceChildren(plot(curve));
  new Table(id("points"), { caption: `The fastest schedules found. ${BigInt(curve.floor) ? `Every rematerialization has ${commas(curve.floor)} bytes alive at once (proven)` : "Nothing is proven"}`, onCopy, onPick: () => {},
    columns: [bytes("budget", (row) => row.budget), { title: "found", text: (row) => (row.fits ? "" : impossible(row) ? "impossible (proven)" : "none") },
      time("time more", (row) => (row.fits ? share(row.added, curve.base) : null)), time("at least (proven)", (row) => (impossible(row) ? null : share(row.bound, curve.base))),
      bytes("ops again", (row) => (row.fits ? row.ops : null))] }).set(curve.points);
  new Table(id("again"), { caption: "Ops of this plan that run again", onCopy, onPick: () => {},
    columns: [bytes("op", (row) => row.number), { title: "kind", text: (row) => row.op }, bytes("times more", (row) => row.times)] }).set(curve.again);
}
