// The command line of the page: its words, and what the boxes of the page stand for in it.

// As a shell would part it, with quotes and without anything else that shells do; a quote without an end reaches to
// the end of the line.
const QUOTED = /"([^"]*)(?:"|$)|'([^']*)(?:'|$)/;
const WORD = new RegExp(`(?:${QUOTED.source}|[^\\s"'])+`, "g"), QUOTES = new RegExp(QUOTED, "g");
export function wordsOf(line) {
  return [...line.matchAll(WORD)].map(([word]) => word.replace(QUOTES, "$1$2"));
}

const PLAIN = /^[\w@%+=:,./-]+$/;
export const quoted = (word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// Where a flag is among words, how many of them are its own, and its value: null if it is not there.
function flagIn(words, flag) {
  const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  if (at < 0) return { at: words.length, n: 0, value: null };
  if (words[at] !== flag) return { at, n: 1, value: words[at].slice(flag.length + 1) };
  const next = words[at + 1] ?? "-";
  return next.startsWith("-") ? { at, n: 1, value: "" } : { at, n: 2, value: next };
}

export const valueOf = (line, flag) => flagIn(wordsOf(line), flag).value;

// The line with this value of a flag, or, if it is null, without the flag.
export function withValue(line, flag, value) {
  const words = wordsOf(line), { at, n } = flagIn(words, flag);
  words.splice(at, n, ...(value === null ? [] : [flag, value]));
  return words.map(quoted).join(" ");
}

// A verb and flags as a link has them; a "%" that begins no escape stands for itself.
export const linkOf = (line) => `#${encodeURI(line.replace(/\p{Cs}/gu, "\ufffd"))}`;
export const readLink = (hash) => hash.slice(1).replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
  try { return decodeURI(escapes); } catch { return escapes; }
});

// Beside an ONNX model, what has the name of no format is its data: it is there to read, and no input.
const INPUT = /\.(tflite|lite|pte|onnx|pt2|pb|txt|mlir|csv|json|c|cc|h)$/i, ONNX = /\.onnx$/i;
const inputsOf = (names) => (names.some((name) => ONNX.test(name)) ? names.filter((name) => INPUT.test(name)) : names);

// By extension: files that hold a plan, those that hold a program that needs less, and those that are never written.
const PLANS = /\.(tflite|lite|pte|csv|json)$/, PROGRAMS = /\.(onnx|pt2)$/i, NEITHER = /\.(pb|txt|mlir)$/i;
const REWRITES = ["--split", "--reorder", "--recompute"], ONE_POOL = /\.(tflite|lite|csv)$/;

// Whether this is the beginning of an allocator's trace: CSV that holds no plan, since streams and devices have pools
// of their own.
export function isTrace(name, head) {
  const columns = head.split(/[\r\n]/, 1)[0].split(",").map((column) => column.trim().replaceAll('"', ""));
  return /\.csv$/i.test(name) && ["event", "size"].every((column) => columns.includes(column));
}

// A plan goes into a file of the model's own format where such a file can hold it, else into JSON.
function planOf(name, pools, traces) {
  const planned = `planned_${name.replace(/\.\w+$/, (extension) => extension.toLowerCase())}`;
  const held = PROGRAMS.test(planned) || (PLANS.test(planned) && !(pools > 1 && ONE_POOL.test(planned)));
  return held && !traces.has(name) ? planned : `${planned}.plan.json`;
}

// Where a result goes; null if there is none to write.
function outputOf(verb, names, line, traces) {
  if (verb === "view") return "plan.html";
  if (verb !== "plan" || names.some((name) => NEITHER.test(name))) return null;
  const rewrites = REWRITES.some((flag) => ![null, "off"].includes(valueOf(line, flag)));
  if (names.some((name) => PROGRAMS.test(name)) && !rewrites) return null;
  const pools = wordsOf(line).filter((word) => /^--pool(=|$)/.test(word)).length;
  if (names.length === 1) return planOf(names[0], pools, traces);
  return names.every((name) => planOf(name, pools, traces) === `planned_${name}`) ? "planned" : null;
}

const free = (output, names) => (names.includes(output) ? free(`new_${output}`, names) : output);
const asFile = (name) => (name.startsWith("-") ? `./${name}` : name);

// The words behind "arenaut": verb, files, where a result goes, unless the line says so, and the line. `traces`: which of
// the files are traces.
export function commandOf(verb, names, line, traces = new Set()) {
  const flags = wordsOf(line), inputs = inputsOf(names), output = outputOf(verb, inputs, line, traces);
  const given = !output || flags.some((word) => /^(-[fqv]*o|--output)/.test(word));
  return [verb, ...inputs.map(asFile), ...(given ? [] : ["-o", free(output, names)]), ...flags];
}

// Prints more into an element, where the last line may be written anew as on a terminal. Every part is a text of its
// own, so that megabytes of them are not copied for each.
export function print(element, more) {
  for (const [i, part] of more.split("\r\x1b[K").entries()) {
    if (i) eraseLine(element);
    element.append(part);
  }
}

function eraseLine(element) {
  for (let last = element.lastChild; last; last = element.lastChild) {
    const kept = last.data.lastIndexOf("\n") + 1;
    if (kept) return void (last.data = last.data.slice(0, kept));
    last.remove();
  }
}
