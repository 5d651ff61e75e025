// What is seen stays within what there is.
import assert from "node:assert/strict";
import test from "node:test";
import { around, clamped, moved, wholeOf, withStep, zoomed } from "../src/viewport.js";
import { readLink, writeLink } from "../src/link.js";

test("the point that is zoomed at stays where it is", () => {
  const view = zoomed(wholeOf(100), 100, 30, 0.25, 0.5, 0.5);
  assert.equal((30 - view.x0) / (view.x1 - view.x0), 0.3);
  assert.equal((0.25 - view.y0) / (view.y1 - view.y0), 0.25);
  assert.equal(view.x1 - view.x0, 50);
});

test("steps and bytes are zoomed apart", () => {
  const view = zoomed(wholeOf(100), 100, 50, 0.5, 1, 0.5);
  assert.deepEqual([view.x0, view.x1], [0, 100]);
  assert.deepEqual([view.y0, view.y1], [0.25, 0.75]);
});

test("nothing is shown outside of the plan", () => {
  assert.deepEqual(zoomed(wholeOf(100), 100, 50, 0.5, 3, 3), wholeOf(100));
  assert.deepEqual(moved({ x0: 0, x1: 10, y0: 0, y1: 0.5 }, 100, -5, -1), { x0: 0, x1: 10, y0: 0, y1: 0.5 });
  assert.deepEqual(moved({ x0: 80, x1: 90, y0: 0.5, y1: 1 }, 100, 50, 1), { x0: 90, x1: 100, y0: 0.5, y1: 1 });
});

test("two steps are the least that is shown, unless there is only one", () => {
  const view = clamped({ x0: 5, x1: 5.01, y0: 0.5, y1: 0.5 }, 100);
  assert.ok(Math.abs(view.x1 - view.x0 - 2) < 1e-9);
  assert.ok(view.y1 > view.y0);
  assert.deepEqual(wholeOf(0), { x0: 0, x1: 1, y0: 0, y1: 1 });
  assert.deepEqual(clamped(wholeOf(1), 1), wholeOf(1));
});

test("a step that is not seen comes into the middle", () => {
  const view = { x0: 0, x1: 10, y0: 0, y1: 1 };
  assert.equal(withStep(view, 100, 9), view);
  assert.deepEqual(withStep(view, 100, 50), { x0: 45.5, x1: 55.5, y0: 0, y1: 1 });
});

test("a rectangle is shown with something around it", () => {
  const view = around({ x0: 10, x1: 20, y0: 0.4, y1: 0.5 }, 100);
  assert.ok(view.x0 <= 10 && view.x1 >= 20 && view.y0 <= 0.4 && view.y1 >= 0.5);
});

test("a link says what is seen", () => {
  const seen = { view: { x0: 1, x1: 9.5, y0: 0.25, y1: 1 }, step: 3, buffer: 7, plan: 1, query: "a&b=#c", colour: "op" };
  assert.deepEqual(readLink(`#${writeLink(seen)}`), seen);
  assert.equal(writeLink({ view: wholeOf(5), whole: true, buffer: -1, plan: 0, query: "", colour: "class" }), "");
});

test("a link that says nonsense says nothing", () => {
  assert.deepEqual(readLink("#t=9..1&a=x..2&step=zz&buf=&plan=NaN"), {});
  assert.deepEqual(readLink("#t=1..Infinity"), {});
});
