// The page that runs the command: files that were dropped, a verb, flags, and what comes of it. The
// command itself is in a worker (worker.js), one for each run.
import { element } from "../src/table.js";
import { compiled } from "../src/wasm_planner.js";
import { commas } from "../src/words.js";
import { commandOf, isTrace, linkOf, print, quoted, readLink, valueOf, withValue } from "./words.js";

const PATIENCE_MS = 3000; // for a run that was asked to stop, and may have something to keep
const HEAD = 4096; // bytes in which the columns of a file of CSV are named
const $ = (id) => document.getElementById(id);
const text = (id) => $(id).textContent;
const traces = new Set(); // names of files
let files = [], marking = Promise.resolve(), stop = null, again = false, urls = [];

const module = compiled(text("command"));

const size = (bytes) => `${commas(bytes)} bytes`;
const verb = () => $("question").verb.value;
const asked = () => commandOf(verb(), files.map((file) => file.name), $("flags").value, traces);

// ---- what is asked ----

function showCommand() {
  $("line").textContent = `arenaut ${asked().map(quoted).join(" ")}`;
  $("run").disabled = !files.length || !!stop;
  history.replaceState(null, "", linkOf(`${verb()} ${$("flags").value}`.trim()));
}

function showLevers() {
  for (const box of document.querySelectorAll("[data-flag]")) {
    const value = valueOf($("flags").value, box.dataset.flag);
    if (box.type === "checkbox") box.checked = value === "on";
    else if (document.activeElement !== box) box.value = value ?? "";
  }
}

function pull({ target: lever }) {
  const value = lever.type === "checkbox" ? (lever.checked ? "on" : null) : lever.value.trim() || null;
  $("flags").value = withValue($("flags").value, lever.dataset.flag, value);
  if (value && lever.dataset.flag === "--fit") $("question").verb.value = "plan"; // the only one that has it
  showCommand();
}

function showFiles() {
  $("files").replaceChildren(...files.map((file) => {
    const button = element("button", { type: "button", textContent: "remove", ariaLabel: `remove ${file.name}`,
      onclick: () => { files = files.filter((other) => other !== file); showFiles(); } });
    return element("li", {}, `${file.name}, ${size(file.size)} `, button);
  }));
  showCommand();
}

async function mark(more) {
  for (const file of more) {
    const head = await file.slice(0, HEAD).text().catch(() => ""); // of a folder, which the command names
    traces[isTrace(file.name, head) ? "add" : "delete"](file.name);
  }
}

// A file takes the place of one of its name: a command knows files by their names. One that comes while a run goes on
// runs after it, and each once it is known whether it is a trace.
function add(added) {
  const more = [...added];
  files = [...new Map([...files, ...more].map((file) => [file.name, file])).values()];
  showFiles();
  marking = marking.then(() => mark(more)).then(() => {
    showCommand();
    again ||= more.length > 0;
    if (!stop) startAgain();
  });
}

function startAgain() {
  if (again && files.length) start();
}

// A link has a verb and flags, and no file: those stay with whoever has them.
function follow() {
  const [question, ...flags] = readLink(location.hash).split(" ");
  const known = [...$("question").verb].find((radio) => radio.value === question);
  if (known) known.checked = true;
  if (known) $("flags").value = flags.join(" ");
  showLevers();
  showCommand();
}

// ---- what comes of it ----

function clear() {
  for (const url of urls) URL.revokeObjectURL(url);
  urls = [];
  $("results").textContent = $("messages").textContent = "";
  $("made").replaceChildren();
  $("picture").hidden = true;
  $("picture").removeAttribute("src");
}

function urlOf(bytes, type) {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  urls.push(url);
  return url;
}

function showMade(made) {
  $("made").replaceChildren(...made.map(([path, bytes]) => {
    const link = element("a", { textContent: `Save ${path}`, href: urlOf(bytes, "application/octet-stream"), download: path.split("/").at(-1) });
    return element("li", {}, link, ` ${size(bytes.length)}`);
  }));
  const page = made.find(([path]) => path.endsWith(".html"));
  if (!page) return;
  $("picture").src = urlOf(page[1], "text/html");
  $("picture").hidden = false;
}

const MEANINGS = { 0: "Done.", 1: "Done: the answer is no (exit 1).", 2: "The command line is wrong (exit 2).", 3: "The file is wrong (exit 3).",
  4: "A file cannot be read or written (exit 4)." };
const NO_MEMORY = "This takes more than the 2 GiB of memory that a run has here, of which a file takes its size (exit 4). Outside of the browser arenaut has no such limit.";
function meaning({ code, made }) {
  if (code === 4 && /: (out of memory|does not fit in memory)$/m.test($("messages").textContent)) return NO_MEMORY;
  if (code === 130) return `Stopped (exit 130)${made.length ? "; what was found by then can be saved below" : ""}.`;
  return MEANINGS[code] ?? `Ended with exit ${code}.`;
}

function finish(words) {
  stop = null;
  $("stop").disabled = true;
  $("status").textContent = words;
  document.documentElement.dataset.runs = Number(document.documentElement.dataset.runs ?? 0) + 1;
  showCommand();
  startAgain();
}

const unable = (error) => `This browser cannot run the command: ${error.message}.`;

// ---- a run ----

function start() {
  const args = asked(), given = files;
  const script = URL.createObjectURL(new Blob([text("worker")], { type: "text/javascript" }));
  const worker = new Worker(script), began = performance.now();
  const end = (words) => {
    worker.terminate();
    URL.revokeObjectURL(script);
    finish(`${words} ${((performance.now() - began) / 1000).toFixed(1)} s.`);
  };
  clear();
  again = false;
  stop = () => {
    worker.postMessage({ stop: true });
    $("status").textContent = "Stopping …";
    $("stop").disabled = true;
    const run = stop;
    setTimeout(() => { if (stop === run) end("Stopped; no file was made."); }, PATIENCE_MS);
  };
  $("status").textContent = "Running …";
  $("stop").disabled = false;
  showCommand();
  worker.onmessage = ({ data: { fd, text: more, done, failure } }) => {
    if (fd) print($(fd === 1 ? "results" : "messages"), more);
    if (done) { showMade(done.made); end(meaning(done)); }
    if (failure) end(failure);
  };
  worker.onerror = (event) => end(event.message || "This browser runs no command here.");
  module.then((command) => worker.postMessage({ module: command, args, files: given }), (error) => end(unable(error)));
}

// ---- the page ----

$("chosen").onchange = ({ target }) => { add(target.files); target.value = ""; };
for (const name of ["dragenter", "dragover"]) {
  addEventListener(name, (event) => { event.preventDefault(); document.body.classList.add("over"); });
}
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("over"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("over");
  add(event.dataTransfer.files);
});
$("flags").oninput = () => { showLevers(); showCommand(); };
$("question").onsubmit = (event) => { event.preventDefault(); if (files.length && !stop) start(); };
for (const radio of $("question").verb) radio.onchange = showCommand;
for (const lever of document.querySelectorAll("[data-flag]")) lever.oninput = pull;
$("stop").onclick = () => stop?.();
addEventListener("hashchange", follow);
follow();
showFiles();
module.then(() => { document.documentElement.dataset.ready = "yes"; }, (error) => finish(unable(error)));
