// The ways to split that there were: bytes to reserve at least, against the ops and the
// multiplications that each adds; and a table that says the same. Only where a model was split.
import { Table } from "./table.js";
import { commas, notTheSame } from "./words.js";

const WIDTH = 420, HEIGHT = 210, LEFT = 8, INSET = 14, BELOW = 24;

const id = (name) => document.getElementById(name);

function shape(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const asText = (way, i) => `${i} ${way.stages}: at least ${commas(way.bytes)} bytes, ${commas(way.ops)} ops and ${commas(way.macs)} multiplications more${way.rounded ? `; ${notTheSame(way.rounded)}` : ""}`;

// Bytes upwards from 0, what is added to the right; the way that was taken is the large one.
function plot(ways, name, added) {
  const most = Math.max(1, ...ways.map((way) => Number(added(way)))), top = Number(ways[0].bytes) * 1.1;
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Ways to split: bytes against ${name}`, class: "ways" });
  const foot = (x, anchor, text) => picture.append(shape("text", { x, y: HEIGHT - 6, "text-anchor": anchor }, text));
  picture.append(shape("rect", { x: LEFT, y: 1, width: WIDTH - 2 * LEFT, height: HEIGHT - BELOW - 1 }));
  ways.forEach((way, i) => {
    const point = shape("circle", { r: way.taken ? 8 : 4, class: way.taken ? "taken" : "",
      cx: LEFT + INSET + Number(added(way)) / most * (WIDTH - 2 * (LEFT + INSET)), cy: (1 - Number(way.bytes) / top) * (HEIGHT - BELOW) });
    point.append(shape("title", {}, asText(way, i)));
    picture.append(point);
  });
  foot(LEFT + INSET, "start", "0");
  foot(WIDTH / 2, "middle", name);
  foot(WIDTH - LEFT - INSET, "end", commas(most));
  return picture;
}

export function showWays(ways, onCopy) {
  if (!ways) return;
  const number = (title, value) => ({ title, number: true, key: value, text: (row) => commas(value(row)), plain: (row) => String(value(row)) });
  id("split").hidden = false;
  id("front").replaceChildren(plot(ways, "ops more", (way) => way.ops), plot(ways, "multiplications more", (way) => way.macs));
  new Table(id("ways"), { caption: "Bytes to reserve at least, with what the runtime keeps", onCopy, onPick: () => {},
    columns: [{ title: "stages", text: (row) => row.stages }, number("bytes", (row) => row.bytes), number("ops more", (row) => row.ops),
      number("multiplications more", (row) => row.macs),
      ...(ways.some((way) => way.rounded) ? [number("ops rounded otherwise", (row) => row.rounded)] : []), { title: "taken", text: (row) => (row.taken ? "taken" : "") }] }).set(ways);
}
