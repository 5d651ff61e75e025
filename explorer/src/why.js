// Why the arena is as big as it is: what is alive at a step, what lies unused there, which buffers
// reach the highest address, and what groups of buffers take. Bytes are exact, as the file has them.

export const total = (plan, buffers) => buffers.reduce((sum, b) => sum + BigInt(plan.bytes(b)), 0n);

// Addresses below what each pool needs at which none of the buffers lies.
export function holes(plan, alive) {
  const found = [];
  plan.pools.forEach((pool, k) => {
    const here = alive.filter((b) => plan.pool[b] === k)
      .map((b) => [BigInt(plan.address(b)), BigInt(plan.bytes(b))])
      .sort((x, y) => (x[0] < y[0] ? -1 : x[0] > y[0] ? 1 : 0));
    let used = 0n;
    for (const [offset, size] of [...here, [BigInt(pool.arena), 0n]]) {
      if (offset > used) found.push({ pool: k, offset: used, bytes: offset - used });
      if (offset + size > used) used = offset + size;
    }
  });
  return found;
}

// Those that end where their pool's arena ends: without them it would be smaller.
export function holders(plan) {
  const found = [];
  const arenas = plan.pools.map((pool) => Number(pool.arena));
  for (let b = 0; b < plan.n; b++) {
    if (!plan.isPlaced(b)) continue;
    const nearly = plan.offset[b] + plan.size[b] >= arenas[plan.pool[b]] * (1 - 1e-12);
    if (nearly && BigInt(plan.address(b)) + BigInt(plan.bytes(b)) === BigInt(plan.pools[plan.pool[b]].arena)) found.push(b);
  }
  return found.sort((a, b) => Number(BigInt(plan.bytes(b)) - BigInt(plan.bytes(a))) || a - b);
}

// {key, bytes, count} for each group, the largest first.
export function grouped(plan, buffers, keyOf) {
  const groups = new Map();
  for (const b of buffers) {
    const key = keyOf(b), group = groups.get(key) ?? { key, bytes: 0n, count: 0 };
    group.bytes += BigInt(plan.bytes(b));
    group.count++;
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => (a.bytes === b.bytes ? (a.key < b.key ? -1 : 1) : a.bytes < b.bytes ? 1 : -1));
}

const partsOf = (name) => name.split(/[/.;:]+/).filter(Boolean);

// The path of a buffer, from the outermost module to its own name: of its name ("a/b.c" is a, b, c), or, where that is no
// path, of the source of the op that makes it: "file.py:11 in a.b", or a name like "/a/b/Add".
export function pathOf(plan, b) {
  const own = partsOf(plan.name(b)), source = plan.sourceOf(b) ?? "";
  if (own.length > 1) return own;
  const modules = source.match(/(?:^| )in (\S+)$/)?.[1] ?? source.match(/^([^\s:]+)\/[^/:\s]+$/)?.[1] ?? "";
  return [...partsOf(modules), ...own];
}

// As many layers as there are colours; beyond so many buffers two modules will do; no file has modules so deep but on purpose.
const MOST_LAYERS = 8, MOST_DIVIDED = 20000, MOST_MODULES = 32;

// The layer of a buffer, as a function: its outermost two modules, and while those are few, the one with most bytes is divided
// by the next module within it.
export function layersOf(plan) {
  const named = (parts) => parts.join("/") || "(no layer)";
  if (plan.n > MOST_DIVIDED) return (b) => named(pathOf(plan, b).slice(0, -1).slice(0, 2));
  const modules = Array.from({ length: plan.n }, (_, b) => pathOf(plan, b).slice(0, -1).slice(0, MOST_MODULES));
  const grouping = (buffers, depth) => {
    const groups = new Map();
    for (const b of buffers) {
      const name = named(modules[b].slice(0, depth));
      if (!groups.has(name)) groups.set(name, { name, depth, bytes: 0, buffers: [] });
      const group = groups.get(name);
      group.bytes += plan.size[b];
      group.buffers.push(b);
    }
    return [...groups.values()];
  };
  let groups = grouping(modules.keys(), 2);
  const isOpen = ({ buffers, depth }) => buffers.some((b) => modules[b].length > depth);
  for (let open = groups.filter(isOpen); open.length;) {
    const largest = open.reduce((a, b) => (b.bytes > a.bytes ? b : a)), parts = grouping(largest.buffers, largest.depth + 1);
    open = open.filter((group) => group !== largest);
    if (groups.length - 1 + parts.length > MOST_LAYERS) continue;
    groups = [...groups.filter((group) => group !== largest), ...parts];
    open.push(...parts.filter(isOpen));
  }
  const names = new Array(plan.n);
  for (const { name, buffers } of groups) for (const b of buffers) names[b] = name;
  return (b) => names[b];
}

// The paths of buffers as a tree: {name, bytes, children}, the largest first. Beyond `most` levels,
// and where a node has only one child, nothing is added that says more.
export function treeOf(plan, buffers, most = 6) {
  const root = { name: "", bytes: 0n, children: new Map() };
  for (const b of buffers) {
    const bytes = BigInt(plan.bytes(b));
    let node = root;
    root.bytes += bytes;
    for (const part of pathOf(plan, b).slice(0, most)) {
      if (!node.children.has(part)) node.children.set(part, { name: part, bytes: 0n, children: new Map() });
      node = node.children.get(part);
      node.bytes += bytes;
    }
  }
  const settle = (node) => {
    let children = [...node.children.values()];
    while (node.name && children.length === 1 && children[0].bytes === node.bytes) {
      node.name += `/${children[0].name}`;
      children = [...children[0].children.values()];
    }
    node.children = children.map(settle).sort((a, b) => (a.bytes === b.bytes ? 0 : a.bytes < b.bytes ? 1 : -1));
    return node;
  };
  return settle(root);
}

// Text of a table for an issue or a spreadsheet. A cell that a spreadsheet would take for a formula
// is quoted as text; one that would end a Markdown cell is escaped.
export function asMarkdown(columns, rows) {
  const cell = (text) => String(text).replace(/[\\|`*_<>[\]]/g, "\\$&").replace(/\s+/g, " ");
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(columns.map((c) => cell(c.title))), line(columns.map((c) => (c.number ? "---:" : "---"))),
    ...rows.map((row) => line(columns.map((c) => cell(c.text(row)))))].join("\n");
}

export function asCsv(columns, rows) {
  const cell = (text) => {
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  };
  return [columns.map((c) => c.title), ...rows.map((row) => columns.map((c) => String(c.plain ? c.plain(row) : c.text(row))))]
    .map((cells) => cells.map(cell).join(",")).join("\r\n");
}

// Buffers whose name, shape, op or class has the text, or matches it as a /regular expression/.
export function matcher(query) {
  const text = query.trim();
  if (!text) return null;
  const expression = /^\/(.+)\/$/.exec(text);
  if (!expression) return (candidate) => candidate.toLowerCase().includes(text.toLowerCase());
  try {
    const pattern = new RegExp(expression[1], "im");
    return (candidate) => pattern.test(candidate);
  } catch {
    return () => false;
  }
}
