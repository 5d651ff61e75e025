// Columns are read as they were written, whatever the numbers and the names.
import assert from "node:assert/strict";
import test from "node:test";
import { numbers, texts } from "../src/decode.js";

const varint = (n) => {
  const bytes = [];
  for (; n >= 128n; n >>= 7n) bytes.push(Number(n & 127n) | 128);
  bytes.push(Number(n));
  return bytes;
};
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const column = (values, unit = 1n) => (
  { n: values.length, unit: String(unit), values: base64(values.flatMap((v) => varint(BigInt(v) / unit))) });
const steps = (values) => {
  let before = 0n;
  const bytes = values.flatMap((v) => {
    const step = BigInt.asIntN(64, v - before);
    before = v;
    return varint(step < 0n ? -2n * step - 1n : 2n * step);
  });
  return { n: values.length, unit: "1", steps: base64(bytes) };
};

test("numbers are doubles where these are exact", () => {
  const values = [0, 1, 127, 128, 300, 2 ** 40, 2 ** 48];
  const read = numbers(column(values));
  assert.deepEqual([...read.values], values);
  assert.equal(read.exact, null);
});

test("a column has a unit", () => {
  assert.deepEqual([...numbers(column([64, 128, 6400], 64n)).values], [64, 128, 6400]);
});

test("numbers of 64 bits are exact", () => {
  const values = [2n ** 63n - 1n, 1n, 2n ** 53n + 1n];
  assert.deepEqual([...numbers(column(values)).exact], values);
  assert.deepEqual([...numbers(steps(values)).exact], values);
  assert.deepEqual([...numbers({ n: 2, all: String(2n ** 63n - 1n) }).exact], [2n ** 63n - 1n, 2n ** 63n - 1n]);
});

test("a product with the unit that no double holds is exact", () => {
  const values = [2n ** 54n, 3n * 2n ** 54n];
  assert.deepEqual([...numbers(column(values, 2n ** 54n)).exact], values);
});

test("differences go up and down", () => {
  const values = [10n, 7n, 7n, 0n, 2n ** 30n];
  assert.deepEqual([...numbers(steps(values)).values], values.map(Number));
});

test("one number may stand for all", () => {
  assert.deepEqual([...numbers({ n: 3, all: "5" }).values], [5, 5, 5]);
  assert.equal(numbers({ n: 0, all: "0" }).values.length, 0);
});

test("texts go on where the one before began the same", () => {
  const bytes = [...varint(4n), ...varint(0n), ...Buffer.from("a/b"), ...varint(0n),
    ...varint(3n), ...varint(2n), ...Buffer.from("cd"), ...varint(1n), ...varint(0n)];
  assert.deepEqual(texts({ n: 4, texts: base64(bytes) }), ["a/b", null, "a/cd", ""]);
});

test("a text of a megabyte and one that is no UTF-8", () => {
  const long = "x".repeat(1 << 20);
  const bytes = [...varint(BigInt(long.length + 1)), 0, ...Buffer.from(long), ...varint(2n), 0, 0xff];
  assert.deepEqual(texts({ n: 2, texts: base64(bytes) }), [long, "\ufffd"]);
});
