// One run of the command, beside the page. Files are read where they lie. A message while the command
// runs asks it to stop: it is seen where WebAssembly can wait for messages; elsewhere the page ends this
// worker.
import { canWait, run } from "./wasi.js";

const LOOK_EVERY_MS = 100;

const sourceOf = (file) => ({ size: file.size,
  slice: (from, to) => new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(from, to))) });

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
  } catch (error) { // a trap: more memory than WebAssembly can address, or a stack that is full
    postMessage({ failure: error.message });
  }
}

onmessage = ({ data }) => {
  if (data.module) start(data);
  else stopped = 1;
};
