// The part of the world that is seen: steps [x0, x1), heights [y0, y1). All is plain data, so that
// it can be put into a link.

export const WHOLE_HEIGHT = { y0: 0, y1: 1 };
const LEAST_STEPS = 2, LEAST_HEIGHT = 1e-9;

export const wholeOf = (range) => ({ x0: 0, x1: Math.max(range, 1), ...WHOLE_HEIGHT });

// Moves [low, high) into [0, most), and makes it no shorter than `least`.
function within(low, high, least, most) {
  const length = Math.min(Math.max(high - low, Math.min(least, most)), most);
  const middle = (low + high) / 2;
  const from = Math.min(Math.max(middle - length / 2, 0), most - length);
  return [from, from + length];
}

export function clamped(view, range) {
  const [x0, x1] = within(view.x0, view.x1, LEAST_STEPS, Math.max(range, 1));
  const [y0, y1] = within(view.y0, view.y1, LEAST_HEIGHT, 1);
  return { x0, x1, y0, y1 };
}

// A factor below 1 shows less; (x, y) stays where it is.
export function zoomed(view, range, x, y, byX, byY) {
  return clamped({ x0: x - (x - view.x0) * byX, x1: x + (view.x1 - x) * byX,
    y0: y - (y - view.y0) * byY, y1: y + (view.y1 - y) * byY }, range);
}

export function moved(view, range, dx, dy) {
  const width = view.x1 - view.x0, height = view.y1 - view.y0;
  const x0 = Math.min(Math.max(view.x0 + dx, 0), Math.max(Math.max(range, 1) - width, 0));
  const y0 = Math.min(Math.max(view.y0 + dy, 0), 1 - height);
  return { x0, x1: x0 + width, y0, y1: y0 + height };
}

// So far that [x0, x1) and [y0, y1) are in the middle, with something around them.
export function around(rectangle, range) {
  const width = (rectangle.x1 - rectangle.x0) * 2, height = (rectangle.y1 - rectangle.y0) * 2;
  return clamped({ x0: rectangle.x0 - width, x1: rectangle.x1 + width,
    y0: rectangle.y0 - height, y1: rectangle.y1 + height }, range);
}

// The same with a step brought into view, if it is not.
export function withStep(view, range, step) {
  const width = view.x1 - view.x0;
  if (step >= view.x0 && step + 1 <= view.x1) return view;
  return clamped({ ...view, x0: step + 0.5 - width / 2, x1: step + 0.5 + width / 2 }, range);
}
