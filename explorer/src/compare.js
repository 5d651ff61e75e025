// What changed between two plans, as `arenaut diff` has it: buffers are the same if they have the
// same name, the k-th of a name being the k-th there too; of the rest, those of the same size, class
// and lifetime, in their order.

const nameOf = (plan, b) => plan.names[b] ?? "";
const shapeOf = (plan, b) => {
  const i = plan.lifeStart[b], end = plan.lifeStart[b + 1];
  const life = i < end ? `${plan.number(plan.first[i])} ${plan.number(plan.end[end - 1])}` : "";
  return `${plan.bytes(b)} ${plan.cls[b]} ${life}`;
};

function paired(before, after, keyOf, pairs) {
  const waiting = new Map();
  for (let b = 0; b < after.n; b++) {
    if (pairs.has(b) || !keyOf(after, b)) continue;
    const key = keyOf(after, b);
    if (!waiting.has(key)) waiting.set(key, []);
    waiting.get(key).push(b);
  }
  const taken = new Set(pairs.values()), next = new Map();
  for (let a = 0; a < before.n; a++) {
    const key = taken.has(a) ? "" : keyOf(before, a);
    if (!key) continue;
    const k = next.get(key) ?? 0, b = waiting.get(key)?.[k];
    if (b === undefined) continue;
    next.set(key, k + 1);
    pairs.set(b, a);
  }
}

// Per buffer of `after`, the one of `before`.
export function pairsOf(before, after) {
  const pairs = new Map();
  paired(before, after, nameOf, pairs);
  paired(before, after, shapeOf, pairs);
  return pairs;
}

function kindOf(before, a, after, b) {
  if (before.bytes(a) < after.bytes(b)) return "grew";
  if (before.bytes(a) > after.bytes(b)) return "shrank";
  const moved = before.isPlaced(a) !== after.isPlaced(b)
    || (after.isPlaced(b) && (before.address(a) !== after.address(b) || before.poolName(before.pool[a]) !== after.poolName(after.pool[b])));
  return moved ? "moved" : "same";
}

// {kind, a, b}: kind is came, went, grew, shrank, moved or same; a or b is -1 where there is none.
export function changesOf(before, after) {
  const pairs = pairsOf(before, after), found = [], gone = new Set(pairs.values());
  for (let b = 0; b < after.n; b++) {
    const a = pairs.get(b) ?? -1;
    found.push({ kind: a < 0 ? "came" : kindOf(before, a, after, b), a, b });
  }
  for (let a = 0; a < before.n; a++) if (!gone.has(a)) found.push({ kind: "went", a, b: -1 });
  return found;
}
