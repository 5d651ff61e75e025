// What stands around the rectangles stays in its place: the canvas notes what is asked of it.
import assert from "node:assert/strict";
import test from "node:test";
import { columnsOf, paintLevels } from "../src/axes.js";

function noted() {
  const heights = [], nothing = () => {};
  return { heights, setLineDash: nothing, beginPath: nothing, stroke: nothing, moveTo: (x, y) => heights.push(y), lineTo: nothing };
}

test("a level that is higher than the curve has room is not drawn over what lies above it", () => {
  const ctx = noted(), level = (bytes) => ({ bytes, colour: "#000000", dash: [] });
  paintLevels(ctx, { x: 0, y: 100, width: 50, height: 80 }, 1000, [level(1000), level(500), level(1001)]);
  assert.deepEqual(ctx.heights, [100.5, 140.5]);
});

test("a column has the most that is alive in its steps", () => {
  const curve = { steps: [0, 1, 2, 3, 4], live: [5, 9, 2, 7, 0] };
  assert.deepEqual([...columnsOf(curve, 0, 4, 4)], [5, 9, 2, 7]);
  assert.deepEqual([...columnsOf(curve, 0, 4, 2)], [9, 7]);
  assert.deepEqual([...columnsOf(curve, 0.5, 2.5, 4)], [5, 9, 9, 2]);
  assert.deepEqual([...columnsOf(curve, 3, 4, 1)], [7]);
});
