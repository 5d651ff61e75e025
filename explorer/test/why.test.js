// The tables: sums, holes, groups and the text that is copied.
import assert from "node:assert/strict";
import test from "node:test";
import { asCsv, asMarkdown, grouped, holders, holes, layersOf, matcher, pathOf, total, treeOf } from "../src/why.js";
import { commas, inUnits, niceStep, percent, shown } from "../src/words.js";

const plan = {
  n: 3, pools: [{ arena: "100" }], pool: [0, 0, 0], names: ["net/a/x", "net/a/y", "net/b"],
  size: [40, 10, 20], offset: [0, 60, 80], bytes: (b) => [40, 10, 20][b], address: (b) => [0, 60, 80][b], name: (b) => plan.names[b], sourceOf: () => null, isPlaced: () => true,
};

test("bytes are added exactly", () => {
  const large = { bytes: () => 2n ** 62n };
  assert.equal(total(large, [0, 1]), 2n ** 63n);
});

test("holes are between buffers, and above the last", () => {
  assert.deepEqual(holes(plan, [1, 0]).map((h) => [h.offset, h.bytes]), [[40n, 20n], [70n, 30n]]);
  assert.deepEqual(holes(plan, []).map((h) => h.bytes), [100n]);
});

test("the arena is held up by what ends at its top", () => {
  assert.deepEqual(holders(plan), [2]);
});

test("groups are sorted by bytes", () => {
  const groups = grouped(plan, [0, 1, 2], (b) => plan.names[b].slice(0, 5));
  assert.deepEqual(groups.map((g) => [g.key, g.bytes, g.count]), [["net/a", 50n, 2], ["net/b", 20n, 1]]);
});

test("paths make a tree whose only children are taken together", () => {
  const tree = treeOf(plan, [0, 1, 2]);
  assert.equal(tree.children[0].name, "net");
  assert.deepEqual(tree.children[0].children.map((c) => [c.name, c.bytes]), [["a", 50n], ["b", 20n]]);
  assert.equal(treeOf(plan, [0]).children[0].name, "net/a/x");
});

const layersIn = (plan) => Array.from({ length: plan.n }, (_, b) => b).map(layersOf(plan));

test("modules are those of a name, or of the source", () => {
  const names = ["net/a/x", "x", "x", "x", "x", "x"], sources = ["f.py:1 in z", "f.py:1 in a.0.b", "in a.b", "/a/b/Add", "f.py:11", "node_Add_1"];
  const made = { name: (b) => names[b], sourceOf: (b) => sources[b] };
  assert.deepEqual(names.map((_, b) => pathOf(made, b).join("/")), ["net/a/x", "a/0/b/x", "a/b/x", "a/b/x", "x", "x"]);
  assert.deepEqual(layersIn({ ...made, n: 6, size: [1, 1, 1, 1, 1, 1] }), ["net/a", "a/0/b", "a/b", "a/b", "(no layer)", "(no layer)"]);
});

test("the module with most bytes is divided while there are colours", () => {
  const names = ["m/e/layer/0/x", "m/e/layer/1/x", "m/e/layer/1/in/y", "m/e/z", "m/p/q/x", "m/w"], size = [5, 5, 5, 1, 1, 1];
  const made = (n) => ({ n, size: Array.from({ length: n }, (_, b) => size[b % 6]), name: (b) => names[b % 6], sourceOf: () => null });
  assert.deepEqual(layersIn(made(6)), ["m/e/layer/0", "m/e/layer/1", "m/e/layer/1/in", "m/e", "m/p/q", "m"]);
  assert.deepEqual(layersIn(made(20004)).slice(0, 6), ["m/e", "m/e", "m/e", "m/e", "m/p", "m"]);
  const many = Array.from({ length: 9 }, (_, i) => `m/${i}/a/x`);
  assert.deepEqual(layersIn({ n: 9, size: many.map(() => 1), name: (b) => many[b], sourceOf: () => null }), many.map((_, i) => `m/${i}`));
  const deep = `${"m/".repeat(1e6)}x`;
  assert.deepEqual(layersIn({ n: 1, size: [1], name: () => deep, sourceOf: () => null }), ["m/".repeat(32).slice(0, -1)]);
});

const columns = [{ title: "name", text: (row) => row[0] }, { title: "bytes", number: true, text: (row) => commas(row[1]), plain: (row) => row[1] }];

test("a copied table is one whatever the names", () => {
  assert.equal(asMarkdown(columns, [["a|b\n`c`<i>", 1000]]), "| name | bytes |\n| --- | ---: |\n| a\\|b \\`c\\`\\<i\\> | 1,000 |");
  assert.equal(asCsv(columns, [['say "hi", you', 1000], ["=1+1", 2]]), 'name,bytes\r\n"say ""hi"", you",1000\r\n\'=1+1,2');
});

test("a search is text, or a pattern between slashes", () => {
  assert.equal(matcher("  "), null);
  assert.equal(matcher("CONV")("conv_2d"), true);
  assert.equal(matcher("/^a.c$/")("abc"), true);
  assert.equal(matcher("/(/")("("), false);
});

test("numbers in words", () => {
  assert.equal(commas(1234567n), "1,234,567");
  assert.equal(commas(-1234), "-1,234");
  assert.equal(inUnits(55296), "54.0 KiB");
  assert.equal(inUnits(672), "672 B");
  assert.equal(inUnits(2n ** 63n - 1n), "8.0 EiB");
  assert.equal(percent(1, 3), "33.3 %");
  assert.equal(percent(0n, 0n), "0.0 %");
  assert.deepEqual([0.3, 1, 3, 7, 11].map(niceStep), [0.5, 1, 5, 10, 20]);
});

test("what cannot be seen in a name is shown as a replacement", () => {
  assert.equal(shown("a\u202eb\u0000c\u200bd"), "a\ufffdb\ufffdc\ufffdd");
  assert.equal(shown("x".repeat(1 << 20)).length, 241);
});
