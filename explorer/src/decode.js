// Columns of the page's data, as src/report/page/page_columns.c writes them.

export function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const MOST_DIGITS = 7; // of seven bits: what a double holds exactly

// The numbers as doubles; null where one has more digits than a double.
function asDoubles(bytes, n, unit, differences) {
  const values = new Float64Array(n);
  let at = 0, before = 0;
  for (let i = 0; i < n; i++) {
    let value = 0, scale = 1, digits = 0, byte;
    do {
      if (++digits > MOST_DIGITS) return null;
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    if (differences) value = before + (value % 2 ? -(value + 1) / 2 : value / 2);
    before = value;
    values[i] = value * unit;
    if (value * unit > Number.MAX_SAFE_INTEGER) return null;
  }
  return values;
}

function asIntegers(bytes, n, unit, differences) {
  const values = new BigUint64Array(n);
  let at = 0, before = 0n;
  for (let i = 0; i < n; i++) {
    let value = 0n, shift = 0n, byte;
    do {
      byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte > 127);
    if (differences) value = before + (value & 1n ? -((value + 1n) >> 1n) : value >> 1n);
    before = BigInt.asUintN(64, value);
    values[i] = before * unit;
  }
  return values;
}

// {values, exact}: doubles and, only where these are not enough, the same numbers as integers.
export function numbers(column) {
  const { n } = column;
  if (column.all !== undefined) {
    const all = BigInt(column.all);
    const safe = all <= BigInt(Number.MAX_SAFE_INTEGER);
    return { values: new Float64Array(n).fill(Number(all)),
      exact: safe ? null : new BigUint64Array(n).fill(all) };
  }
  const differences = column.steps !== undefined;
  const bytes = bytesOf(differences ? column.steps : column.values);
  const unit = BigInt(column.unit);
  const values = unit <= BigInt(Number.MAX_SAFE_INTEGER)
    ? asDoubles(bytes, n, Number(unit), differences) : null;
  if (values) return { values, exact: null };
  const exact = asIntegers(bytes, n, unit, differences);
  return { values: Float64Array.from(exact, Number), exact };
}

// Texts, null where there is none. Bytes that are no UTF-8 become U+FFFD.
export function texts(column) {
  if (column.count) return Array.from({ length: column.n }, (_, i) => String(i));
  const bytes = bytesOf(column.texts);
  const decoder = new TextDecoder();
  const found = new Array(column.n);
  let at = 0, buffer = new Uint8Array(256);
  const number = () => {
    let value = 0, scale = 1, byte;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  };
  for (let i = 0; i < column.n; i++) {
    const rest = number() - 1;
    if (rest < 0) {
      found[i] = null;
      continue;
    }
    const same = number(), length = same + rest;
    if (length > buffer.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(buffer.subarray(0, same));
      buffer = larger;
    }
    buffer.set(bytes.subarray(at, at + rest), same);
    at += rest;
    found[i] = decoder.decode(buffer.subarray(0, length));
  }
  return found;
}
