// Waste over time: at each step, how high addresses are in use. Between that and the bytes alive lie
// holes; above it, what the arena keeps for other steps.

// As a curve over the steps of plan.curve, pools added up. The highest buffer takes its steps first,
// and no step is taken twice: O(n log n + steps).
export function reachOf(plan) {
  const { steps } = plan.curve, m = steps.length, live = new Float64Array(m);
  const at = m === plan.range + 1 ? (step) => step : indexIn(steps);
  const top = (i) => plan.offset[plan.owner[i]] + plan.size[plan.owner[i]];
  for (let k = 0; k < plan.pools.length; k++) {
    const order = [];
    for (let i = 0; i < plan.owner.length; i++) if (plan.pool[plan.owner[i]] === k && plan.isPlaced(plan.owner[i])) order.push(i);
    order.sort((a, b) => top(b) - top(a));
    const next = Int32Array.from({ length: m + 1 }, (_, i) => i);
    const free = (i) => {
      while (next[i] !== i) {
        next[i] = next[next[i]];
        i = next[i];
      }
      return i;
    };
    for (const i of order) {
      for (let s = free(at(plan.first[i])), end = at(plan.end[i]); s < end; s = free(s)) {
        live[s] += top(i);
        next[s] = s + 1;
      }
    }
  }
  return { steps, live };
}

const indexIn = (steps) => {
  const place = new Map(Array.from(steps, (step, i) => [step, i]));
  return (step) => place.get(step);
};

// Of the arena, on average over all steps: what is not alive, and of that what lies in holes.
export function unusedOf(plan, reach) {
  const { steps, live } = plan.curve, arena = Number(plan.data.arena);
  let unused = 0, holes = 0, length = 0;
  for (let i = 0; i + 1 < steps.length; i++) {
    const by = steps[i + 1] - steps[i], used = Math.min(live[i], arena);
    unused += (arena - used) * by;
    holes += Math.max(reach.live[i] - used, 0) * by;
    length += by;
  }
  return length ? { unused: unused / length, holes: holes / length } : { unused: 0, holes: 0 };
}
