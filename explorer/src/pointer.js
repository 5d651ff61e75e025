// Pointer, wheel and touch on the picture: a drag moves it, the wheel shows more or fewer steps (with
// shift: bytes; with ctrl, which a pinch on a touchpad also sends: both), two fingers do both.
import { moved, zoomed } from "./viewport.js";

const STILL = 4, WHEEL = 0.0016;

export class Pointers {
  constructor(picture, { onHover, onClick }) {
    const target = picture.over;
    Object.assign(this, { picture, onHover, onClick, down: new Map() });
    target.addEventListener("pointerdown", (event) => this.press(event));
    target.addEventListener("pointermove", (event) => this.move(event));
    target.addEventListener("pointerup", (event) => this.release(event));
    target.addEventListener("pointercancel", (event) => this.down.delete(event.pointerId));
    target.addEventListener("pointerleave", () => onHover(-1));
    target.addEventListener("dblclick", () => picture.fit());
    target.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  press(event) {
    this.picture.over.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.down.size === 1) this.began = { x: event.offsetX, y: event.offsetY, far: false };
  }

  move(event) {
    const { picture } = this, before = this.down.get(event.pointerId), now = { x: event.offsetX, y: event.offsetY };
    if (!before) {
      this.onHover(picture.bufferAt(now.x, now.y));
      return;
    }
    if (Math.hypot(now.x - this.began.x, now.y - this.began.y) > STILL) this.began.far = true;
    if (this.down.size === 2) this.pinch(event.pointerId, now);
    else if (this.began.far) {
      picture.look(moved(picture.view, picture.plan.range, picture.stepAt(before.x) - picture.stepAt(now.x),
        picture.heightAt(before.y) - picture.heightAt(now.y)));
    }
    this.down.set(event.pointerId, now);
  }

  pinch(id, now) {
    const { picture } = this, before = this.down.get(id);
    const [, other] = [...this.down].find(([key]) => key !== id);
    const by = (a, b) => Math.min(Math.max(Math.abs(a) / Math.max(Math.abs(b), 20), 0.5), 2);
    this.began.far = true;
    picture.look(zoomed(picture.view, picture.plan.range, picture.stepAt(other.x), picture.heightAt(other.y),
      by(before.x - other.x, now.x - other.x), by(before.y - other.y, now.y - other.y)));
  }

  release(event) {
    this.down.delete(event.pointerId);
    if (this.down.size || !this.began || this.began.far) return;
    this.onClick(event.offsetX, event.offsetY);
  }

  // Where nothing more can be shown, the wheel scrolls the page.
  wheel(event) {
    const { picture } = this, amount = event.deltaY || event.deltaX;
    const factor = Math.exp(amount * WHEEL * (event.deltaMode ? 30 : 1));
    const bytes = event.shiftKey || event.ctrlKey, steps = !event.shiftKey;
    const view = zoomed(picture.view, picture.plan.range, picture.stepAt(event.offsetX), picture.heightAt(event.offsetY),
      steps ? factor : 1, bytes ? factor : 1);
    const same = ["x0", "x1", "y0", "y1"].every((key) => view[key] === picture.view[key]);
    if (same && !bytes) return;
    event.preventDefault();
    picture.look(view);
  }
}
