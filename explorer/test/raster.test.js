// Every rectangle leaves a pixel, and each pixel says whose it is.
import assert from "node:assert/strict";
import test from "node:test";
import { Raster, mixed } from "../src/raster.js";
import { wholeOf } from "../src/viewport.js";

const WHITE = 0xffffffff, BLACK = 0xff000000, RED = 0xff0000ff;
const rectangles = (...list) => ({ order: Int32Array.from(list, (_, i) => i), x0: list.map((r) => r[0]), x1: list.map((r) => r[1]),
  y0: list.map((r) => r[2]), y1: list.map((r) => r[3]) });

function drawn(raster, view, ...list) {
  raster.clear(WHITE);
  raster.draw(rectangles(...list), view, Uint32Array.from(list, () => RED), BLACK);
  return raster;
}

test("a rectangle fills its pixels, the first row at the top", () => {
  const raster = drawn(new Raster(10, 10), wholeOf(10), [2, 4, 0.5, 0.75]);
  const filled = [];
  raster.ids.forEach((id, at) => { if (id) filled.push([at % 10, Math.floor(at / 10)]); });
  assert.deepEqual(filled, [[2, 3], [3, 3], [2, 4], [3, 4]]);
  assert.equal(raster.pixels[32], RED);
});

test("what is smaller than a pixel is one", () => {
  const raster = drawn(new Raster(10, 10), wholeOf(1e9), [5e8, 5e8 + 1, 0.5, 0.5 + 1e-12]);
  assert.equal(raster.ids.filter(Boolean).length, 1);
});

test("what is not seen costs no pixel", () => {
  const view = { x0: 4, x1: 6, y0: 0, y1: 1 };
  assert.equal(drawn(new Raster(10, 10), view, [0, 4, 0, 1], [6, 9, 0, 1]).ids.some(Boolean), false);
});

test("what is seen in part is cut", () => {
  const raster = drawn(new Raster(10, 10), { x0: 5, x1: 6, y0: 0.5, y1: 0.6 }, [0, 100, 0, 1]);
  assert.equal(raster.ids.every((id) => id === 1), true);
});

test("the pointer finds the nearest within its reach", () => {
  const raster = drawn(new Raster(20, 20), wholeOf(20), [10, 11, 0.5, 0.55]);
  assert.equal(raster.at(10, 9), 0);
  assert.equal(raster.at(12, 9), 0);
  assert.equal(raster.at(14, 9), -1);
  assert.equal(raster.at(-5, 40), -1);
});

test("a hatch leaves most of what is below it", () => {
  const raster = drawn(new Raster(70, 70), wholeOf(70), [0, 70, 0, 1]);
  raster.hatch(wholeOf(70), { x0: 0, x1: 70, y0: 0, y1: 1 }, BLACK);
  const dark = raster.pixels.filter((p) => p === BLACK).length;
  assert.ok(dark > 70 * 70 * 0.2 && dark < 70 * 70 * 0.4);
  assert.equal(raster.ids.every((id) => id === 1), true);
});

test("colours are mixed channel by channel", () => {
  assert.equal(mixed(BLACK, WHITE, 0), BLACK);
  assert.equal(mixed(WHITE, BLACK, 256), BLACK);
  assert.equal(mixed(0xff0000ff, 0xff00ff00, 128), 0xff007f7f);
});
