// The strip above the picture: bytes alive over all steps, and what the allocator of a trace held, with
// the arena and the bound, and the part that the picture shows, which can be dragged, widened at its edges, or drawn anew.
import { LEFT, RIGHT, columnsOf, levelsOf, paintCurve, paintLevels, paintLine, topOfCurve } from "./axes.js";

const EDGE = 7, LEAST_DRAG = 4;

export class Overview {
  constructor(canvas, picture) {
    Object.assign(this, { canvas, picture });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { this.held = null; });
    canvas.addEventListener("dblclick", () => this.picture.fit());
  }

  resize(width, height, ratio) {
    this.box = { x: LEFT, y: 4, width: Math.max(width - LEFT - RIGHT, 10), height: height - 8 };
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.values = null;
  }

  draw() {
    const { picture, box } = this, { plan, theme, view } = picture, ctx = this.canvas.getContext("2d");
    if (!box) return;
    if (!this.values || this.of !== plan) {
      const columns = (curve) => columnsOf(curve, 0, Math.max(plan.range, 1), Math.round(box.width));
      this.values = columns(plan.curve);
      this.reserved = plan.reserved && columns(plan.reserved);
      this.of = plan;
    }
    const top = topOfCurve(plan);
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.fillStyle = theme.paper;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    ctx.fillStyle = theme.plot;
    ctx.fillRect(box.x, box.y, box.width, box.height);
    paintCurve(ctx, box, this.values, top, theme.area);
    if (this.reserved) paintLine(ctx, box, this.reserved, top, theme.reserved);
    paintLevels(ctx, box, top, levelsOf(plan, theme));
    const x0 = this.xOf(view.x0), x1 = this.xOf(view.x1);
    ctx.fillStyle = `${theme.ink}22`;
    ctx.fillRect(box.x, box.y, x0 - box.x, box.height);
    ctx.fillRect(x1, box.y, box.x + box.width - x1, box.height);
    ctx.strokeStyle = theme.ink;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x0, box.y, Math.max(x1 - x0, 2), box.height);
  }

  xOf(step) { return this.box.x + (step / Math.max(this.picture.plan.range, 1)) * this.box.width; }
  stepAt(x) { return ((x - this.box.x) / this.box.width) * Math.max(this.picture.plan.range, 1); }

  press(event) {
    const x = event.offsetX, { view } = this.picture, x0 = this.xOf(view.x0), x1 = this.xOf(view.x1);
    const whole = view.x1 - view.x0 >= Math.max(this.picture.plan.range, 1);
    this.canvas.setPointerCapture(event.pointerId);
    const edge = Math.abs(x - x0) < EDGE ? "x0" : Math.abs(x - x1) < EDGE ? "x1" : null;
    const kind = edge && !whole ? edge : x > x0 && x < x1 && !whole ? "move" : "new";
    this.held = { kind, from: x, view: { ...view } };
  }

  drag(event) {
    const { held, picture } = this;
    if (!held || (held.kind === "new" && Math.abs(event.offsetX - held.from) < LEAST_DRAG)) return;
    const by = this.stepAt(event.offsetX) - this.stepAt(held.from), v = held.view;
    if (held.kind === "move") {
      const x0 = Math.min(Math.max(v.x0 + by, 0), Math.max(picture.plan.range - (v.x1 - v.x0), 0));
      picture.look({ ...v, x0, x1: x0 + v.x1 - v.x0 });
    } else if (held.kind === "new") {
      const a = this.stepAt(held.from), b = this.stepAt(event.offsetX);
      picture.look({ ...v, x0: Math.min(a, b), x1: Math.max(a, b) });
    } else {
      const x = Math.min(Math.max(v[held.kind] + by, 0), picture.plan.range);
      const [x0, x1] = held.kind === "x0" ? [x, v.x1] : [v.x0, x];
      picture.look({ ...v, x0: Math.min(x0, x1), x1: Math.max(x0, x1) });
    }
  }
}
