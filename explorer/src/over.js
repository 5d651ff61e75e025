// What moves with the pointer, on the canvas above the picture: the step cursor, the outlines of the
// buffers that are pointed at and kept, and the ops of the one that is kept. All take the picture.
import { LEFT, write } from "./axes.js";
import { shortened } from "./words.js";

const MOST_OPS = 40;

function drawStep(p, ctx, step, colour, dash, width) {
  const x = Math.round(p.xOf(step + 0.5)) + 0.5;
  if (x < LEFT || x > LEFT + p.frame.width) return;
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(x, 4);
  ctx.lineTo(x, p.frame.bottom + 20);
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawStepLabel(p, ctx) {
  const { frame, theme } = p, x = p.xOf(p.cursor + 0.5);
  if (x < LEFT || x > LEFT + frame.width) return;
  const align = x > LEFT + frame.width / 2 ? "right" : "left";
  write(ctx, shortened(p.plan.stepLabel(p.cursor), 60), x + (align === "left" ? 5 : -5), frame.top - 7,
    { colour: theme.ink, align, font: "600 12px system-ui, sans-serif" });
}

function outline(p, ctx, b, width) {
  const { plan, rectangles, theme } = p;
  for (let i = plan.lifeStart[b]; i < plan.lifeStart[b + 1]; i++) {
    const x = p.xOf(rectangles.x0[i]), y = p.yOf(rectangles.y1[i]);
    const w = Math.max(p.xOf(rectangles.x1[i]) - x, 2), h = Math.max(p.yOf(rectangles.y0[i]) - y, 2);
    for (const [colour, line] of [[theme.paper, width + 2], [theme.ink, width]]) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = line;
      ctx.strokeRect(x, y, w, h);
    }
  }
}

// An arrow from a height down to the step of an op, with a text to one side of it.
function drawTick(p, ctx, op, low, { colour, dash, text, align }) {
  const { frame } = p, step = p.plan.stepOf(op), x = p.xOf(step + 0.5);
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
  if (text) write(ctx, text, x + (align === "right" ? -3 : 3), frame.bottom + 34, { colour, align, font: "600 11px system-ui, sans-serif" });
}

// From a buffer down to the op that makes it and to those that read it.
function drawOpsOf(p, ctx, b) {
  const { plan, theme } = p, low = p.yOf(p.rectangles.y0[plan.lifeStart[b]]);
  plan.readersOf(b).slice(0, MOST_OPS).forEach((op, i) =>
    drawTick(p, ctx, op, low, { colour: theme.area, dash: [3, 3], text: i ? "" : "reads", align: "left" }));
  plan.writersOf(b).slice(0, 1).forEach((op) =>
    drawTick(p, ctx, op, low, { colour: theme.peak, dash: [], text: "makes", align: "right" }));
}

export function drawOver(p, ctx) {
  const { theme } = p;
  drawStep(p, ctx, p.plan.peakStep, theme.peak, [4, 3], 1);
  drawStep(p, ctx, p.cursor, theme.ink, [], 1.2);
  drawStepLabel(p, ctx);
  p.clip(ctx, () => {
    if (p.hovered >= 0 && p.hovered !== p.pinned) outline(p, ctx, p.hovered, 1.5);
    if (p.pinned >= 0) outline(p, ctx, p.pinned, 2.5);
  });
  if (p.pinned >= 0) drawOpsOf(p, ctx, p.pinned);
}
