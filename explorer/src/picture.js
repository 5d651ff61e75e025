// The picture: the raster of rectangles with what stands around it, on one canvas, and what moves
// with the pointer (step cursor, hover, the pinned buffer with its ops) on a second one above it.
import { BELOW, CURVE, GAP, LEFT, RIGHT, drawAddresses, drawArena, drawCurve, drawOps, write } from "./axes.js";
import { THEMES, WAYS, asNumber, opColours } from "./colours.js";
import { lanesOf, rectanglesOf, sharedAreas } from "./layout.js";
import { Raster, mixed } from "./raster.js";
import { around, clamped, wholeOf, withStep } from "./viewport.js";
import { commas, inUnits, shortened } from "./words.js";

const MOST_PIXELS = 8e6, LETTER = 6.4, MOST_LABELS = 600, MOST_MOVING = 20000, MOVE_MS = 450, LEAST_LETTERS = 12;

// A name cut to a few letters says less than the size alone.
function linesOf(name, bytes, height) {
  if (name && bytes && height >= 30) return [name, bytes];
  return [name || bytes].filter(Boolean);
}

export class Picture {
  constructor(base, over) {
    Object.assign(this, { base, over, theme: THEMES.light, way: "class", cursor: 0, hovered: -1, pinned: -1,
      matches: null, timings: [] });
    this.frame = { width: 1, top: 4 + CURVE + GAP, bottom: 1 };
    this.say = { bytes: inUnits, steps: (n) => `${commas(n)} steps` };
  }

  // Shows another plan; buffers of the same name move to where they are now.
  show(plan) {
    const before = this.plan && { plan: this.plan, rectangles: this.rectangles };
    this.plan = plan;
    this.lanes = lanesOf(plan);
    this.rectangles = rectanglesOf(plan, this.lanes);
    this.shared = sharedAreas(plan, this.rectangles);
    this.opColour = opColours(plan).colourOf;
    this.matches = null;
    this.hovered = this.pinned = -1;
    this.colourBy(this.way);
    this.view = before ? clamped(this.view, plan.range) : wholeOf(plan.range);
    this.moving = before ? this.motionFrom(before) : null;
    this.draw();
  }

  colourBy(way) {
    const { of, legend } = WAYS[way](this.plan, this.say);
    const palette = [...new Set(legend.map((entry) => entry.colour))], place = new Map(palette.map((hex, i) => [hex, i]));
    this.way = way;
    this.legend = legend;
    this.codes = new Uint8Array(this.plan.n);
    for (let b = 0; b < this.plan.n; b++) {
      const hex = of(b);
      if (!place.has(hex)) {
        place.set(hex, palette.length);
        palette.push(hex);
      }
      this.codes[b] = place.get(hex);
    }
    this.palette = palette;
    this.paint();
  }

  // The colour of each lifetime: strong if it is alive at the cursor, pale else; what a search did
  // not find nearly vanishes.
  paint() {
    const { plan, theme, matches, cursor } = this, n = plan.owner.length;
    const plot = asNumber(theme.plot), dark = theme === THEMES.dark;
    const strong = this.palette.map((hex) => asNumber(hex));
    const pale = strong.map((c) => mixed(c, plot, dark ? 125 : 160)), gone = strong.map((c) => mixed(c, plot, 232));
    if (!this.colour || this.colour.length !== n) this.colour = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      const b = plan.owner[i], code = this.codes[b];
      const alive = plan.first[i] <= cursor && cursor < plan.end[i];
      this.colour[i] = matches ? (matches[b] ? strong : gone)[code] : (alive ? strong : pale)[code];
    }
  }

  resize(width, height, ratio) {
    const scale = Math.min(ratio, Math.sqrt(MOST_PIXELS / Math.max(width * height, 1)));
    this.width = width;
    this.height = height;
    this.scale = scale;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    this.frame = { width: Math.max(width - LEFT - RIGHT, 10), top: 4 + CURVE + GAP, bottom: Math.max(height - BELOW, 4 + CURVE + GAP + 10) };
    const w = Math.max(1, Math.round(this.frame.width * scale)), h = Math.max(1, Math.round((this.frame.bottom - this.frame.top) * scale));
    this.raster = new Raster(w, h);
    this.image = new ImageData(new Uint8ClampedArray(this.raster.pixels.buffer), w, h);
    if (this.plan) this.draw();
  }

  xOf(step) { return LEFT + ((step - this.view.x0) / (this.view.x1 - this.view.x0)) * this.frame.width; }
  yOf(y) {
    const { top, bottom } = this.frame;
    return bottom - ((y - this.view.y0) / (this.view.y1 - this.view.y0)) * (bottom - top);
  }
  stepAt(x) { return this.view.x0 + ((x - LEFT) / this.frame.width) * (this.view.x1 - this.view.x0); }
  heightAt(y) {
    const { top, bottom } = this.frame;
    return this.view.y0 + ((bottom - y) / (bottom - top)) * (this.view.y1 - this.view.y0);
  }
  inPlot(x, y) { return x >= LEFT && x < LEFT + this.frame.width && y >= this.frame.top && y < this.frame.bottom; }

  // The buffer under the pointer; -1 if there is none.
  bufferAt(x, y) {
    if (!this.inPlot(x, y)) return -1;
    const life = this.raster.at(Math.floor((x - LEFT) * this.scale), Math.floor((y - this.frame.top) * this.scale));
    return life < 0 ? -1 : this.plan.owner[life];
  }

  // ---- drawing ----

  draw() {
    if (this.asked || !this.raster) return;
    this.asked = true;
    requestAnimationFrame((now) => {
      this.asked = false;
      this.drawNow(now);
    });
  }

  drawNow(now) {
    const ctx = this.base.getContext("2d"), began = performance.now();
    const rectangles = this.moving ? this.moving(now) : this.rectangles;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = this.theme.paper;
    ctx.fillRect(0, 0, this.base.width, this.base.height);
    this.drawRaster(rectangles);
    this.timings.push(performance.now() - began);
    if (this.timings.length > 100) this.timings.shift();
    ctx.putImageData(this.image, Math.round(LEFT * this.scale), Math.round(this.frame.top * this.scale));
    ctx.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    drawCurve(this, ctx);
    this.clip(ctx, () => this.drawLabels(ctx, rectangles));
    drawAddresses(this, ctx);
    const levels = drawArena(this, ctx);
    drawOps(this, ctx);
    this.drawLevelNames(ctx, levels);
    this.drawOver();
    this.onDrawn?.();
    if (this.moving) this.draw();
  }

  drawRaster(rectangles) {
    const { raster, view, theme } = this;
    raster.clear(asNumber(theme.plot));
    raster.draw(rectangles, view, this.colour, asNumber("#000000"));
    if (this.moving) return;
    for (const area of this.shared) raster.hatch(view, area, 0xff1a1a1a);
    if (!rectangles.depth) return;
    for (const i of rectangles.order) {
      if (rectangles.depth[this.plan.owner[i]]) {
        raster.dot(view, rectangles.x0[i], rectangles.x1[i], rectangles.y0[i], rectangles.y1[i], 0xff1a1a1a);
      }
    }
  }

  clip(ctx, paint) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, this.frame.top, this.frame.width, this.frame.bottom - this.frame.top);
    ctx.clip();
    paint();
    ctx.restore();
  }

  // Name and bytes where there is room for them, in the part of a rectangle that is seen.
  drawLabels(ctx, { order, x0, x1, y0, y1 }) {
    const { view, frame, plan } = this, sx = frame.width / (view.x1 - view.x0), sy = (frame.bottom - frame.top) / (view.y1 - view.y0);
    const leastWidth = 40 / sx, leastHeight = 14 / sy, hasNames = !this.moving;
    this.labels = [];
    for (let k = 0; k < order.length && this.labels.length < MOST_LABELS && hasNames; k++) {
      const i = order[k];
      if (x1[i] - x0[i] < leastWidth || y1[i] - y0[i] < leastHeight) continue;
      if (x1[i] <= view.x0 || x0[i] >= view.x1 || y1[i] <= view.y0 || y0[i] >= view.y1) continue;
      const left = Math.max(this.xOf(x0[i]), LEFT), right = Math.min(this.xOf(x1[i]), LEFT + frame.width);
      const top = Math.max(this.yOf(y1[i]), frame.top), bottom = Math.min(this.yOf(y0[i]), frame.bottom);
      this.drawLabel(ctx, plan.owner[i], this.colour[i], left, right, top, bottom);
    }
  }

  drawLabel(ctx, b, fill, left, right, top, bottom) {
    const letters = Math.floor((right - left - 8) / LETTER), height = bottom - top;
    if (letters < 4 || height < 13) return;
    const bytes = commas(this.plan.bytes(b)), whole = this.plan.name(b), name = shortened(whole, letters);
    const bright = ((fill & 255) * 3 + ((fill >> 8) & 255) * 6 + ((fill >> 16) & 255)) / 10 > 110;
    const style = { colour: bright ? "#000000" : "#ffffff", halo: bright ? "#ffffffb0" : "#00000090", align: "center" };
    const x = (left + right) / 2, y = (top + bottom) / 2 + 4;
    const lines = linesOf(letters >= Math.min(LEAST_LETTERS, whole.length) ? name : "", bytes.length <= letters ? bytes : "", height);
    if (!lines.length || !this.takeRoom(x, y - 4, Math.max(...lines.map((line) => line.length)) * LETTER, lines.length * 14)) return;
    lines.forEach((text, i) => write(ctx, text, x, y + (i - (lines.length - 1) / 2) * 14, style));
  }

  // Where buffers share their areas, labels would lie over one another.
  takeRoom(x, y, width, height) {
    const box = { x0: x - width / 2, x1: x + width / 2, y0: y - height / 2, y1: y + height / 2 };
    const meets = (other) => box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1;
    if (this.shared.length && this.labels.some(meets)) return false;
    this.labels.push(box);
    return true;
  }

  // At the right end of their lines, apart from one another.
  drawLevelNames(ctx, levels) {
    const x = LEFT + this.frame.width - 4, font = "600 11px system-ui, sans-serif";
    let lowest = this.frame.top;
    for (const { y, text, colour } of levels.sort((a, b) => a.y - b.y)) {
      const at = Math.max(y - 4, lowest + 13);
      lowest = at;
      ctx.font = font;
      const width = ctx.measureText(text).width;
      ctx.fillStyle = `${this.theme.plot}cc`;
      ctx.fillRect(x - width - 3, at - 10, width + 6, 13);
      write(ctx, text, x, at, { colour, align: "right", font });
    }
  }

  // ---- what moves with the pointer ----

  drawOver() {
    const ctx = this.over.getContext("2d"), { theme, frame, plan } = this;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.over.width, this.over.height);
    ctx.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    this.drawStep(ctx, plan.peakStep, theme.peak, [4, 3], 1);
    this.drawStep(ctx, this.cursor, theme.ink, [], 1.2);
    const label = shortened(plan.stepLabel(this.cursor), 60), x = this.xOf(this.cursor + 0.5);
    if (x >= LEFT && x <= LEFT + frame.width) {
      const align = x > LEFT + frame.width / 2 ? "right" : "left";
      write(ctx, label, x + (align === "left" ? 5 : -5), frame.top - 7, { colour: theme.ink, align, font: "600 12px system-ui, sans-serif" });
    }
    this.clip(ctx, () => {
      if (this.hovered >= 0 && this.hovered !== this.pinned) this.outline(ctx, this.hovered, 1.5);
      if (this.pinned >= 0) this.outline(ctx, this.pinned, 2.5);
    });
    if (this.pinned >= 0) this.drawOpsOf(ctx, this.pinned);
  }

  drawStep(ctx, step, colour, dash, width) {
    const x = Math.round(this.xOf(step + 0.5)) + 0.5;
    if (x < LEFT || x > LEFT + this.frame.width) return;
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(x, 4);
    ctx.lineTo(x, this.frame.bottom + 20);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  outline(ctx, b, width) {
    const { plan, rectangles, theme } = this;
    for (let i = plan.lifeStart[b]; i < plan.lifeStart[b + 1]; i++) {
      const x = this.xOf(rectangles.x0[i]), y = this.yOf(rectangles.y1[i]);
      const w = Math.max(this.xOf(rectangles.x1[i]) - x, 2), h = Math.max(this.yOf(rectangles.y0[i]) - y, 2);
      for (const [colour, line] of [[theme.paper, width + 2], [theme.ink, width]]) {
        ctx.strokeStyle = colour;
        ctx.lineWidth = line;
        ctx.strokeRect(x, y, w, h);
      }
    }
  }

  // From the pinned buffer down to the op that makes it and to those that read it.
  drawOpsOf(ctx, b) {
    const { plan, rectangles, frame, theme } = this, MOST = 40;
    const low = this.yOf(rectangles.y0[plan.lifeStart[b]]);
    const tick = (op, colour, dash, text, side) => {
      const step = plan.stepOf(op), x = this.xOf(step + 0.5);
      if (step < 0 || x < LEFT || x > LEFT + frame.width) return;
      ctx.strokeStyle = colour;
      ctx.fillStyle = colour;
      ctx.lineWidth = 1.5;
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(x, Math.min(Math.max(low, frame.top), frame.bottom));
      ctx.lineTo(x, frame.bottom + 4);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.beginPath();
      ctx.moveTo(x, frame.bottom + 2);
      ctx.lineTo(x - 4, frame.bottom - 5);
      ctx.lineTo(x + 4, frame.bottom - 5);
      ctx.fill();
      if (text) write(ctx, text, x + side * 3, frame.bottom + 34, { colour, align: side < 0 ? "right" : "left", font: "600 11px system-ui, sans-serif" });
    };
    plan.readersOf(b).slice(0, MOST).forEach((op, i) => tick(op, theme.area, [3, 3], i ? "" : "reads", 1));
    plan.writersOf(b).slice(0, 1).forEach((op) => tick(op, theme.peak, [], "makes", -1));
  }

  // ---- moving from one plan to another ----

  motionFrom(before) {
    const { plan, rectangles } = this, n = plan.owner.length;
    if (n > MOST_MOVING || before.plan.owner.length > MOST_MOVING || matchMedia("(prefers-reduced-motion: reduce)").matches) return null;
    const place = new Map(before.plan.names.map((name, b) => [name ?? `buffer${b}`, b]));
    const from = { x0: rectangles.x0.slice(), x1: rectangles.x1.slice(), y0: rectangles.y0.slice(), y1: rectangles.y1.slice() };
    for (let i = 0; i < n; i++) {
      const b = plan.owner[i], old = place.get(plan.names[b] ?? `buffer${b}`);
      if (old === undefined) continue;
      const k = before.plan.lifeStart[old] + i - plan.lifeStart[b];
      if (k >= before.plan.lifeStart[old + 1]) continue;
      for (const key of ["x0", "x1", "y0", "y1"]) from[key][i] = before.rectangles[key][k];
    }
    let began = 0;
    return (now) => {
      began ||= now;
      const part = Math.min((now - began) / MOVE_MS, 1), eased = part * part * (3 - 2 * part);
      if (part === 1) {
        this.moving = null;
        return rectangles;
      }
      const between = (key) => rectangles[key].map((to, i) => from[key][i] + (to - from[key][i]) * eased);
      return { ...rectangles, x0: between("x0"), x1: between("x1"), y0: between("y0"), y1: between("y1") };
    };
  }

  // ---- where to look ----

  look(view) {
    this.view = clamped(view, this.plan.range);
    this.draw();
  }

  fit() { this.look(wholeOf(this.plan.range)); }

  goTo(step) {
    this.cursor = Math.min(Math.max(Math.round(step), 0), Math.max(this.plan.range - 1, 0));
    this.view = withStep(this.view, this.plan.range, this.cursor);
    this.paint();
    this.draw();
  }

  // Brings a buffer into the middle unless it is large enough to be seen as it is.
  lookAt(b) {
    const { plan, rectangles, view } = this, i = plan.lifeStart[b];
    if (i === plan.lifeStart[b + 1] || !plan.isPlaced(b)) return;
    const r = { x0: rectangles.x0[i], x1: rectangles.x1[i], y0: rectangles.y0[i], y1: rectangles.y1[i] };
    const inside = r.x0 < view.x1 && r.x1 > view.x0 && r.y0 < view.y1 && r.y1 > view.y0;
    const width = this.xOf(r.x1) - this.xOf(r.x0), height = this.yOf(r.y0) - this.yOf(r.y1);
    if (!inside || width < 3 || height < 3) this.look(around(r, plan.range));
  }
}
