// Numbers and names as the page shows them, in the words of the reports.

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function commas(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

// 54.0 KiB, rounded down; 672 B below 1 KiB.
export function inUnits(bytes) {
  let value = Number(bytes), unit = -1;
  if (value < 1024) return `${value} B`;
  while (value >= 1024 && unit + 1 < UNITS.length) {
    value /= 1024;
    unit++;
  }
  return `${(Math.floor(value * 10) / 10).toFixed(1)} ${UNITS[unit]}`;
}

// Of ops whose tiles may be rounded otherwise than the whole.
export const notTheSame = (ops) => `not the same bits: tiles of ${commas(ops)} ${ops === 1 ? "op" : "ops"} may be rounded otherwise`;

// 12.3 %, rounded to nearest.
export function percent(part, whole) {
  const tenths = Number(whole) ? Math.round((Number(part) / Number(whole)) * 1000) : 0;
  return `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

// Where the runtime keeps more than tensors in its arena, the plan is of the head alone.
export const plannedName = (data) => (data.head === undefined ? "arena" : "head");

// What could turn the direction of writing, or is not seen at all, becomes a replacement character;
// very long text is cut in the middle.
export function shown(text, most = 240) {
  // eslint-disable-next-line no-control-regex
  const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  const cut = text.length > most
    ? `${text.slice(0, most >> 1)}\u2026${text.slice(text.length - (most >> 1))}` : text;
  return cut.replace(unseen, "\ufffd");
}

// The end of a long name says most of a layer's path.
export function shortened(text, columns) {
  return text.length <= columns ? text : `\u2026${text.slice(text.length - columns + 1)}`;
}

// The beginning says most of a kind of op.
export function begun(text, columns) {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}\u2026`;
}

// The next number of the form 1, 2 or 5 times a power of ten.
export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, Number.MIN_VALUE)));
  for (const digit of [1, 2, 5]) if (digit * power >= least) return digit * power;
  return 10 * power;
}

export function nicePowerOfTwo(least) {
  return 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(least, 1))));
}
