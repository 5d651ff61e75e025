// One run of the command, beside the page. Files are read where they lie. A message while the command
// runs asks it to stop: it is seen where WebAssembly can wait for messages; elsewhere the page ends this
// worker.
import { canWait, run } from "./wasi.js";

const LOOK_EVERY_MS = 100;

class Gone extends Error {}

function bytesOf(file, from, to) {
  try {
    return new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(from, to)));
  } catch (error) {
    if (error instanceof DOMException) throw new Gone(`${file.name} changed or is gone: drop it again.`);
    throw error;
  }
}

const sourceOf = (file) => ({ size: file.size, slice: (from, to) => bytesOf(file, from, to) });

let looked = 0, stopped = 0;
const messages = new MessageChannel();
function interrupted() {
  if (!canWait || stopped || performance.now() - looked < LOOK_EVERY_MS) return stopped;
  looked = performance.now();
  return new Promise((done) => { // behind the messages that are there
    messages.port1.onmessage = () => done(stopped);
    messages.port2.postMessage("");
  });
}

async function start({ module, args, files }) {
  const decoders = [1, 2].map(() => new TextDecoder());
  const print = (fd, bytes) => postMessage({ fd, text: decoders[fd - 1].decode(bytes, { stream: true }) });
  looked = performance.now();
  try {
    const done = await run(module, { args, files: files.map((file) => [file.name, sourceOf(file)]), print, interrupted });
    postMessage({ done }, done.made.map(([, bytes]) => bytes.buffer));
  } catch (error) { // the rest is a trap: more memory than there is, or a stack that is full
    postMessage({ failure: error instanceof Gone ? error.message : `The command gave up (${error.message}); it has at most 2 GiB of memory here.` });
  }
}

onmessage = ({ data }) => {
  if (data.module) start(data);
  else stopped = 1;
};
