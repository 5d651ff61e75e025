// Texts in the picture: name and bytes of buffers where there is room for them, and the names of the
// lines of arena, bound and what the runtime needs now. All take the picture.
import { LEFT, write } from "./axes.js";
import { commas, shortened } from "./words.js";

const LETTER = 6.4, MOST_LABELS = 600, LEAST_LETTERS = 12;

// A name cut to a few letters says less than the size alone.
function linesOf(name, bytes, height) {
  if (name && bytes && height >= 30) return [name, bytes];
  return [name || bytes].filter(Boolean);
}

// Where buffers share their areas, labels would lie over one another.
function takesRoom(p, labels, x, y, width, height) {
  const box = { x0: x - width / 2, x1: x + width / 2, y0: y - height / 2, y1: y + height / 2 };
  const meets = (other) => box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1;
  if (p.shared.length && labels.some(meets)) return false;
  labels.push(box);
  return true;
}

const isBright = (fill) => ((fill & 255) * 3 + ((fill >> 8) & 255) * 6 + ((fill >> 16) & 255)) / 10 > 110;

function drawLabel(p, ctx, labels, b, fill, { left, right, top, bottom }) {
  const letters = Math.floor((right - left - 8) / LETTER), height = bottom - top;
  if (letters < 4 || height < 13) return;
  const bytes = commas(p.plan.bytes(b)), whole = p.plan.name(b), name = shortened(whole, letters), bright = isBright(fill);
  const style = { colour: bright ? "#000000" : "#ffffff", halo: bright ? "#ffffffb0" : "#00000090", align: "center" };
  const x = (left + right) / 2, y = (top + bottom) / 2 + 4;
  const lines = linesOf(letters >= Math.min(LEAST_LETTERS, whole.length) ? name : "", bytes.length <= letters ? bytes : "", height);
  if (!lines.length || !takesRoom(p, labels, x, y - 4, Math.max(...lines.map((line) => line.length)) * LETTER, lines.length * 14)) return;
  lines.forEach((text, i) => write(ctx, text, x, y + (i - (lines.length - 1) / 2) * 14, style));
}

// In the part of each rectangle that is seen.
export function drawLabels(p, ctx, { order, x0, x1, y0, y1 }) {
  const { view, frame, plan } = p, leastWidth = (40 / frame.width) * (view.x1 - view.x0);
  const leastHeight = (14 / (frame.bottom - frame.top)) * (view.y1 - view.y0), labels = [];
  for (let k = 0; k < order.length && labels.length < MOST_LABELS; k++) {
    const i = order[k];
    if (x1[i] - x0[i] < leastWidth || y1[i] - y0[i] < leastHeight) continue;
    if (x1[i] <= view.x0 || x0[i] >= view.x1 || y1[i] <= view.y0 || y0[i] >= view.y1) continue;
    drawLabel(p, ctx, labels, plan.owner[i], p.colour[i],
      { left: Math.max(p.xOf(x0[i]), LEFT), right: Math.min(p.xOf(x1[i]), LEFT + frame.width),
        top: Math.max(p.yOf(y1[i]), frame.top), bottom: Math.min(p.yOf(y0[i]), frame.bottom) });
  }
}

// At the right end of their lines, apart from one another: above the line, but where there are several
// lanes below it, in its own lane.
export function drawLevelNames(p, ctx, levels) {
  const x = LEFT + p.frame.width - 4, font = "600 11px system-ui, sans-serif", by = p.lanes.length > 1 ? 12 : -4;
  let lowest = p.frame.top;
  for (const { y, text, colour } of levels.sort((a, b) => a.y - b.y)) {
    const at = Math.max(y + by, lowest + 13);
    lowest = at;
    ctx.font = font;
    const width = ctx.measureText(text).width;
    ctx.fillStyle = `${p.theme.plot}cc`;
    ctx.fillRect(x - width - 3, at - 10, width + 6, 13);
    write(ctx, text, x, at, { colour, align: "right", font });
  }
}
