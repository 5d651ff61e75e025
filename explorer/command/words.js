// The command line of the page: its words, and what the boxes of the page stand for in it.

// As a shell would part it, with quotes and without anything else that shells do.
export function wordsOf(line) {
  return [...line.matchAll(/(?:"([^"]*)"|'([^']*)'|([^\s"']+))+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

const PLAIN = /^[\w@%+=:,./-]+$/;
export const quoted = (word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// The value of a flag in a line; null if it is not there.
export function valueOf(line, flag) {
  const words = wordsOf(line), at = words.indexOf(flag);
  return at < 0 ? null : words[at + 1] ?? "";
}

// The line with this value of a flag, or, if it is null, without the flag.
export function withValue(line, flag, value) {
  const words = wordsOf(line), at = words.indexOf(flag), given = value === null ? [] : [flag, value];
  if (at < 0) words.push(...given);
  else words.splice(at, 2, ...given);
  return words.map(quoted).join(" ");
}

// Files of these runtimes hold no plan, but programs that need less.
const PLANLESS = /\.(onnx|pt2|pb|txt|mlir)$/, REWRITES = /^--(split|reorder|recompute|fit|smallest)/;

// Where a result goes; null if there is none to write.
function outputOf(verb, names, flags) {
  if (verb === "view") return "plan.html";
  if (verb !== "plan") return null;
  if (names.some((name) => PLANLESS.test(name)) && !flags.some((word) => REWRITES.test(word))) return null;
  return names.length === 1 ? `planned_${names[0]}` : "planned";
}

// The words behind "arenaut": verb, files, where a result goes, unless the line says so, and the line.
export function commandOf(verb, names, line) {
  const flags = wordsOf(line), output = outputOf(verb, names, flags);
  const given = flags.some((word) => word === "-o" || word.startsWith("--output"));
  return [verb, ...names, ...(output && !given ? ["-o", output] : []), ...flags];
}

// What a run has printed so far, where a line may be written anew as on a terminal.
export function joined(text, more) {
  const parts = (text + more).split("\r\x1b[K");
  return parts.slice(1).reduce((so_far, part) => so_far.slice(0, so_far.lastIndexOf("\n") + 1) + part, parts[0]);
}
