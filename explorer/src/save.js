// The picture as a file: what the canvas shows as PNG, or the rectangles that are seen as SVG.
import { LEFT } from "./axes.js";
import { commas, plannedName, shortened } from "./words.js";

const MOST_RECTANGLES = 5000, LEAST_SIDE = 0.3;

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function asPng(picture, name) {
  const whole = document.createElement("canvas");
  whole.width = picture.base.width;
  whole.height = picture.base.height;
  const ctx = whole.getContext("2d");
  for (const canvas of [picture.base, picture.over]) ctx.drawImage(canvas, 0, 0);
  whole.toBlob((blob) => download(blob, name), "image/png");
}

const escaped = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const round = (n) => String(Math.round(n * 10) / 10);

// The largest rectangles that are seen; says in the picture how many are not drawn.
export function svgOf(picture) {
  const { plan, rectangles, frame, theme } = picture, seen = [];
  for (const i of rectangles.order) {
    const left = Math.max(picture.xOf(rectangles.x0[i]), LEFT), right = Math.min(picture.xOf(rectangles.x1[i]), LEFT + frame.width);
    const top = Math.max(picture.yOf(rectangles.y1[i]), frame.top), bottom = Math.min(picture.yOf(rectangles.y0[i]), frame.bottom);
    if (right > left && bottom > top) seen.push({ b: plan.owner[i], left, top, width: Math.max(right - left, LEAST_SIDE), height: Math.max(bottom - top, LEAST_SIDE) });
  }
  seen.sort((x, y) => y.width * y.height - x.width * x.height);
  const drawn = seen.slice(0, MOST_RECTANGLES);
  const boxes = drawn.map((r) => {
    const letters = Math.floor((r.width - 6) / 6.4), title = `${plan.name(r.b)}: ${commas(plan.bytes(r.b))} bytes at ${commas(plan.address(r.b))}`;
    const label = letters >= 4 && r.height >= 13 ? `<text x="${round(r.left + r.width / 2)}" y="${round(r.top + r.height / 2 + 4)}">${escaped(shortened(plan.name(r.b), letters))}</text>` : "";
    return `<rect x="${round(r.left)}" y="${round(r.top)}" width="${round(r.width)}" height="${round(r.height)}" fill="${picture.palette[picture.codes[r.b]]}"><title>${escaped(title)}</title></rect>${label}`;
  });
  const note = `${plan.file}: ${plannedName(plan.data)} ${commas(plan.data.arena)} bytes`
    + (seen.length > drawn.length ? `; ${seen.length - drawn.length} smaller rectangles are not drawn` : "");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(picture.width)} ${round(picture.height)}">`
    + `<style>rect{stroke:#1a1a1a;stroke-width:.5}text{font:11px sans-serif;text-anchor:middle}</style>`
    + `<rect width="100%" height="100%" fill="${theme.plot}" stroke="none"/><text x="${LEFT}" y="20" style="text-anchor:start" fill="${theme.ink}">${escaped(note)}</text>`
    + `${boxes.join("\n")}</svg>\n`;
}
