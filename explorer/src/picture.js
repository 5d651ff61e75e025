// The picture: the raster of rectangles with what stands around it, on one canvas, and what moves
// with the pointer (step cursor, hover, the pinned buffer with its ops) on a second one above it.
import { BELOW, CURVE, GAP, LEFT, RIGHT, drawAddresses, drawArena, drawCurve, drawOps } from "./axes.js";
import { THEMES, WAYS, asNumber, opColours } from "./colours.js";
import { drawLabels, drawLevelNames } from "./labels.js";
import { lanesOf, rectanglesOf, sharedAreas } from "./layout.js";
import { motionFrom } from "./motion.js";
import { drawOver } from "./over.js";
import { Raster, mixed } from "./raster.js";
import { around, clamped, wholeOf, withStep } from "./viewport.js";
import { commas, inUnits } from "./words.js";

const MOST_PIXELS = 8e6;

export class Picture {
  constructor(base, over) {
    Object.assign(this, { base, over, theme: THEMES.light, way: "class", cursor: 0, hovered: -1, pinned: -1,
      matches: null, timings: [] });
    this.frame = { width: 1, top: 4 + CURVE + GAP, bottom: 1 };
    this.say = { bytes: inUnits, steps: (n) => `${commas(n)} steps` };
  }

  // Shows another plan, at its peak; buffers of the same name move to where they are now.
  show(plan) {
    const before = this.plan && { plan: this.plan, rectangles: this.rectangles };
    this.plan = plan;
    this.cursor = this.stepIn(plan.peakStep);
    this.lanes = lanesOf(plan);
    this.rectangles = rectanglesOf(plan, this.lanes);
    this.shared = sharedAreas(plan, this.rectangles);
    ({ colourOf: this.opColour, legend: this.opLegend } = opColours(plan));
    this.matches = null;
    this.hovered = this.pinned = -1;
    this.colourBy(this.way);
    this.view = before ? withStep(clamped(this.view, plan.range), plan.range, this.cursor) : wholeOf(plan.range);
    this.moving = before ? motionFrom(before, plan, this.rectangles) : null;
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
    if (width === this.width && height === this.height && scale === this.scale) return;
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
    const between = this.moving?.(now), rectangles = between ?? this.rectangles;
    if (!between) this.moving = null;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = this.theme.paper;
    ctx.fillRect(0, 0, this.base.width, this.base.height);
    this.drawRaster(rectangles);
    this.timings.push(performance.now() - began);
    if (this.timings.length > 100) this.timings.shift();
    ctx.putImageData(this.image, Math.round(LEFT * this.scale), Math.round(this.frame.top * this.scale));
    ctx.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    drawCurve(this, ctx);
    if (!this.moving) this.clip(ctx, () => drawLabels(this, ctx, rectangles));
    drawAddresses(this, ctx);
    const levels = drawArena(this, ctx);
    drawOps(this, ctx);
    drawLevelNames(this, ctx, levels);
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

  drawOver() {
    const ctx = this.over.getContext("2d");
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.over.width, this.over.height);
    ctx.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    drawOver(this, ctx);
  }

  // ---- where to look ----

  look(view) {
    this.view = clamped(view, this.plan.range);
    this.draw();
  }

  fit() { this.look(wholeOf(this.plan.range)); }

  // The nearest step that there is.
  stepIn(step) { return Math.min(Math.max(Math.round(step), 0), Math.max(this.plan.range - 1, 0)); }

  goTo(step) {
    this.cursor = this.stepIn(step);
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
