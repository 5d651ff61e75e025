// All that is known of one buffer.
import { element } from "./table.js";
import { commas, inUnits, shown } from "./words.js";

const MOST_OPS = 8;

const listed = (plan, ops) => {
  const text = ops.slice(0, MOST_OPS).map((op) => plan.opLabel(op)).join(", ");
  return ops.length > MOST_OPS ? `${text} and ${ops.length - MOST_OPS} more` : text;
};

const hex = (n) => `0x${BigInt(n).toString(16)}`;

function lifeOf(plan, b) {
  const parts = [];
  for (let i = plan.lifeStart[b]; i < plan.lifeStart[b + 1] && parts.length < 4; i++) {
    parts.push(`${commas(plan.number(plan.first[i]))} to ${commas(plan.number(plan.end[i] - 1))}`);
  }
  const more = plan.lifeStart[b + 1] - plan.lifeStart[b] - parts.length;
  return parts.length ? `steps ${parts.join(", ")}${more > 0 ? ` and ${more} more` : ""}` : "never";
}

// Pairs of a title and a text.
export function factsOf(plan, b) {
  const facts = [["class", plan.className(b)]];
  if (plan.shapeText(b)) facts.push(["shape", plan.shapeText(b)]);
  facts.push(["bytes", `${commas(plan.bytes(b))} (${inUnits(plan.bytes(b))})`], ["alive", lifeOf(plan, b)]);
  if (plan.isPlaced(b)) facts.push(["offset", `${commas(plan.address(b))} (${hex(plan.address(b))})`]);
  if (plan.align[b] > 1) facts.push(["alignment", commas(plan.align[b])]);
  if (plan.pools.length > 1 && plan.pool[b] >= 0) facts.push(["pool", plan.poolName(plan.pool[b])]);
  if (plan.methods.length > 1 && plan.method[b] >= 0) facts.push(["method", plan.methodName(plan.method[b])]);
  const writers = plan.nOps ? plan.writersOf(b) : [], readers = plan.nOps ? plan.readersOf(b) : [];
  if (plan.maker[b] >= 0 && !writers.length) facts.push(["made by", shown(plan.words[plan.maker[b]])]);
  if (writers.length) facts.push(["made by", listed(plan, writers)]);
  if (readers.length) facts.push(["read by", listed(plan, readers)]);
  if (plan.base[b] >= 0) facts.push(["in place", `may be written over ${plan.name(plan.base[b])}`]);
  if (plan.host[b] >= 0) facts.push(["lies in", plan.name(plan.host[b])]);
  const source = plan.sourceOf(b);
  if (source && source !== plan.names[b]) facts.push(["source", shown(source)]);
  return facts;
}

export function showCard(host, plan, b, pinned, tools = []) {
  if (b < 0) {
    host.replaceChildren(element("p", { className: "note",
      textContent: "Point at a buffer to see what it is; click to keep it." }));
    return;
  }
  const list = element("dl");
  for (const [title, text] of factsOf(plan, b)) list.append(element("dt", { textContent: title }), element("dd", { textContent: text }));
  host.replaceChildren(element("h3", { textContent: plan.name(b) }), list,
    ...tools, element("p", { className: "note", textContent: pinned ? "Esc lets it go." : "Click to keep it." }));
}
