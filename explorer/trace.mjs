// What a page did, for benchmarks: between marks that it sets (performance.mark), the time that passed
// and what of it its main thread was at work, by the processor's own clock, which other work of the
// machine does not change.

export async function traced(page, work) {
  await page.tracing.start({ categories: ["toplevel", "blink.user_timing"] });
  await work();
  return JSON.parse(Buffer.from(await page.tracing.stop()).toString()).traceEvents;
}

// Milliseconds up to one mark, from another or from when the page was asked for. Of a task that a mark
// lies in, the part counts that is on its side.
export function until(events, to, from) {
  const marks = events.filter(({ cat }) => cat.includes("blink.user_timing")), named = (name) => marks.find((event) => event.name === name);
  const end = named(to), began = from ? named(from) : null, since = began?.ts ?? -Infinity;
  const tasks = events.filter(({ pid, tid, cat, tdur, dur }) => pid === end.pid && tid === end.tid && cat === "toplevel" && tdur && dur);
  const within = ({ ts, dur }) => Math.max(Math.min(ts + dur, end.ts) - Math.max(ts, since), 0) / dur;
  return { passed: began ? (end.ts - began.ts) / 1000 : end.args.data.startTime, work: tasks.reduce((sum, task) => sum + task.tdur * within(task), 0) / 1000 };
}
