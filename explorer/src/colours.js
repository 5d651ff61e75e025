// Colours of buffers. Categories have Okabe and Ito's colours, quantities those of cividis: both can
// be told apart by the colour-blind. What is drawn by the canvas needs them as numbers 0xAABBGGRR.

const CATEGORIES = ["#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#f0e442", "#0072b2", "#d55e00", "#999999"];
// Kinds of ops, which stand below buffers: none of the colours of these (Paul Tol's "muted").
const OPS = ["#332288", "#44aa99", "#117733", "#999933", "#ddcc77", "#cc6677", "#882255", "#aa4499"];
const AMOUNTS = ["#00224e", "#3b496c", "#575d6d", "#7d7c78", "#a69d75", "#d3c164", "#fee838"];
// As in the still picture, by the number of the class.
const CLASSES = ["#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#f0e442", "#999999"];
const OTHERS = "#999999";

export const THEMES = {
  light: { paper: "#ffffff", plot: "#f6f7f9", ink: "#1a1a1a", soft: "#5f6368", line: "#c9cdd2",
    grid: "#e3e6ea", area: "#0072b2", bound: "#0072b2", today: "#c24e00", peak: "#b34700", reserved: "#8f3f72" },
  dark: { paper: "#16181c", plot: "#1d2026", ink: "#eceff3", soft: "#a6adb8", line: "#3b414b",
    grid: "#2b3038", area: "#56b4e9", bound: "#56b4e9", today: "#ff9a57", peak: "#ff9a57", reserved: "#e29ac4" },
};

export function asNumber(hex) {
  const n = parseInt(hex.slice(1), 16);
  return (0xff000000 | ((n & 255) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
}

// The most frequent texts get a colour each, the others share one.
function byText(n, textOf, colours = CATEGORIES) {
  const weight = new Map();
  for (let b = 0; b < n; b++) weight.set(textOf(b), (weight.get(textOf(b)) ?? 0) + 1);
  const ranked = [...weight.keys()].sort((a, b) => weight.get(b) - weight.get(a) || (a < b ? -1 : 1));
  const fits = ranked.length <= colours.length;
  const named = ranked.slice(0, fits ? ranked.length : colours.length - 1);
  const colour = new Map(named.map((text, i) => [text, colours[i]]));
  const legend = named.map((text) => ({ text, colour: colour.get(text) }));
  if (!fits) legend.push({ text: `${ranked.length - named.length} others`, colour: OTHERS });
  const colourOf = (text) => colour.get(text) ?? OTHERS;
  return { of: (b) => colourOf(textOf(b)), colourOf, legend };
}

// Seven shades from the smallest to the largest, evenly by the logarithm.
function byAmount(n, amountOf, textOf) {
  let least = Infinity, most = 0;
  for (let b = 0; b < n; b++) {
    const amount = amountOf(b);
    if (amount > 0 && amount < least) least = amount;
    if (amount > most) most = amount;
  }
  const low = Math.log(Math.max(least === Infinity ? 1 : least, 1)), span = Math.log(Math.max(most, 1)) - low;
  const rank = (amount) => (span > 0 && amount > 0
    ? Math.max(0, Math.min(AMOUNTS.length - 1, Math.floor(((Math.log(amount) - low) / span) * AMOUNTS.length))) : 0);
  const steps = span > 0 ? AMOUNTS.length : 1;
  const legend = AMOUNTS.slice(0, steps).map((colour, i) => (
    { colour, text: `from ${textOf(Math.ceil(Math.exp(low + (span * i) / AMOUNTS.length)))}` }));
  return { of: (b) => AMOUNTS[rank(amountOf(b))], legend };
}

function lifeOf(plan, b) {
  let sum = 0;
  for (let i = plan.lifeStart[b]; i < plan.lifeStart[b + 1]; i++) sum += plan.end[i] - plan.first[i];
  return sum;
}

export function opTextOf(plan, b) {
  if (plan.maker[b] >= 0) return shownWord(plan, plan.maker[b]);
  const writers = plan.nOps ? plan.writersOf(b) : [];
  return writers.length ? plan.opWord(writers[0]) : "(from outside)";
}

const shownWord = (plan, word) => plan.words[word] || "(no name)";

function byClass(plan) {
  const used = new Set();
  for (let b = 0; b < plan.n; b++) if (plan.isPlaced(b)) used.add(plan.cls[b]);
  const legend = [...used].sort((a, b) => a - b)
    .map((cls) => ({ text: plan.data.classes[cls], colour: CLASSES[cls] }));
  return { of: (b) => CLASSES[plan.cls[b]], legend };
}

// Kinds of ops have the same colours in the strip of ops and, if asked for, in the picture.
export const opColours = (plan) => byText(plan.nOps, (op) => plan.opWord(op), OPS);

function byOp(plan) {
  if (!plan.nOps) return byText(plan.n, (b) => opTextOf(plan, b), OPS);
  const { colourOf, legend } = opColours(plan);
  return { of: (b) => colourOf(opTextOf(plan, b)), legend: [...legend, { text: "(from outside)", colour: OTHERS }] };
}

// In a comparison: what came is green, what went grey, what grew orange, what moved blue.
const CHANGES = { came: "#009e73", went: "#999999", grew: "#d55e00", shrank: "#cc79a7", moved: "#56b4e9", same: "#d9d9d9" };

function byChange(plan) {
  const legend = Object.entries(CHANGES).map(([text, colour]) => ({ text, colour }));
  return { of: (b) => CHANGES[plan.change?.[b] ?? "same"], legend: legend.filter(({ text }) => plan.change?.includes(text)) };
}

export const WAYS = {
  class: byClass,
  op: byOp,
  layer: (plan) => byText(plan.n, plan.layerOf),
  size: (plan, say) => byAmount(plan.n, (b) => plan.size[b], say.bytes),
  lifetime: (plan, say) => byAmount(plan.n, (b) => lifeOf(plan, b), say.steps),
  change: byChange,
  pool: (plan) => byText(plan.n, (b) => (plan.pool[b] < 0 ? "(none)" : plan.poolName(plan.pool[b]))),
};
