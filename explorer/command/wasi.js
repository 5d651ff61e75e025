// The system that the command runs in (tools/os_wasi.c): WebAssembly's system interface over files in
// memory, https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md. Nothing here knows
// the page, so that tests run it under Node.
const ERRNO = { BADF: 8, EXIST: 20, INVAL: 28, ISDIR: 31, NOENT: 44, NOTDIR: 54, SPIPE: 70 };
const TYPE = { device: 2, folder: 3, file: 4 };
const CREATE = 1, ONLY_FOLDER = 2, ONLY_NEW = 4, EMPTIED = 8;
const ROOT_FD = 3;
const READ_AT_ONCE = 1 << 24; // so that a file of hundreds of megabytes is in memory once

// JavaScript Promise Integration, https://github.com/WebAssembly/js-promise-integration: a call from
// WebAssembly may wait for messages to arrive.
export const canWait = typeof WebAssembly.Suspending === "function";

class Exit extends Error {
  constructor(code) { super(`exit ${code}`); this.code = code; }
}

// What the user gave: read where it lies, which may be a disk, and never written to.
class Given {
  constructor(source) { Object.assign(this, { type: TYPE.file, source, size: source.size }); }
  read(from, to) { return this.source.slice(from, Math.min(to, from + READ_AT_ONCE)); }
  write() { return false; }
}

// What the command writes.
class Made {
  constructor() { Object.assign(this, { type: TYPE.file, room: new Uint8Array(1 << 12), size: 0 }); }
  read(from, to) { return this.room.subarray(from, Math.min(to, this.size)); }
  write(at, bytes) {
    if (at + bytes.length > this.room.length) {
      const larger = new Uint8Array(Math.max(2 * this.room.length, at + bytes.length));
      larger.set(this.room.subarray(0, this.size));
      this.room = larger;
    }
    this.room.set(bytes, at);
    this.size = Math.max(this.size, at + bytes.length);
    return true;
  }
  bytes() { return this.room.subarray(0, this.size); }
}

class Stream {
  constructor(put) { Object.assign(this, { type: TYPE.device, size: 0, put }); }
  read() { return new Uint8Array(0); }
  write(at, bytes) { this.put(bytes); return true; }
}

const FOLDER = { type: TYPE.folder, size: 0 };

// A path without "." and "..", as no such file is ever made: "a/./b" is "a/b".
const plain = (path) => path.split("/").filter((part) => part && part !== ".").join("/");
const folderOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

class System {
  constructor({ args, files, print }) {
    this.args = args;
    this.entries = new Map([["", FOLDER]]);
    for (const [path, source] of files) this.entries.set(plain(path), new Given(source));
    const stream = (fd) => ({ entry: new Stream((bytes) => print(fd, bytes)), at: 0 });
    this.open = new Map([[0, stream(0)], [1, stream(1)], [2, stream(2)], [ROOT_FD, { entry: FOLDER, at: 0, path: "" }]]);
    this.numbers = new Map();
  }

  // Of a file, for as long as the run: the same however it is named.
  numberOf(entry) {
    if (!this.numbers.has(entry)) this.numbers.set(entry, this.numbers.size + 1);
    return BigInt(this.numbers.get(entry));
  }

  get view() { return new DataView(this.memory.buffer); }
  bytesAt(at, length) { return new Uint8Array(this.memory.buffer, at, length); }
  pathAt(at, length) { return plain(new TextDecoder().decode(this.bytesAt(at, length).slice())); }

  buffersAt(list, n) {
    const { view } = this;
    return Array.from({ length: n }, (_, i) => this.bytesAt(view.getUint32(list + 8 * i, true), view.getUint32(list + 8 * i + 4, true)));
  }

  // The environment is empty; arguments are strings one behind another, each ending with a 0.
  putStrings(strings, pointers, at) {
    for (const [i, string] of strings.entries()) {
      const bytes = new TextEncoder().encode(`${string}\0`);
      this.view.setUint32(pointers + 4 * i, at, true);
      this.bytesAt(at, bytes.length).set(bytes);
      at += bytes.length;
    }
    return 0;
  }

  putSizes(strings, count, size) {
    this.view.setUint32(count, strings.length, true);
    this.view.setUint32(size, strings.reduce((sum, string) => sum + new TextEncoder().encode(string).length + 1, 0), true);
    return 0;
  }

  putStatus(entry, at) {
    this.bytesAt(at, 64).fill(0);
    this.view.setBigUint64(at + 8, this.numberOf(entry), true);
    this.view.setUint8(at + 16, entry.type);
    this.view.setBigUint64(at + 24, 1n, true);
    this.view.setBigUint64(at + 32, BigInt(entry.size), true);
    return 0;
  }

  // The number of an open file, or an error.
  openPath(path, how, out) {
    let entry = this.entries.get(path);
    if (entry && how & ONLY_NEW) return ERRNO.EXIST;
    if (!entry && !(how & CREATE)) return ERRNO.NOENT;
    if (!entry && this.entries.get(folderOf(path)) !== FOLDER) return ERRNO.NOENT;
    if (entry && how & ONLY_FOLDER && entry !== FOLDER) return ERRNO.NOTDIR;
    if (!entry || how & EMPTIED) this.entries.set(path, entry = new Made());
    let fd = ROOT_FD + 1;
    while (this.open.has(fd)) fd++;
    this.open.set(fd, { entry, at: 0, path });
    this.view.setUint32(out, fd, true);
    return 0;
  }

  rename(from, to) {
    if (!this.entries.has(from)) return ERRNO.NOENT;
    this.entries.set(to, this.entries.get(from));
    this.entries.delete(from);
    return 0;
  }

  namesIn(folder) {
    return [...this.entries.keys()].filter((path) => path && folderOf(path) === folder)
      .map((path) => ({ name: path.slice(folder ? folder.length + 1 : 0), entry: this.entries.get(path) }));
  }

  // Entries from `cookie` on, as far as there is room; the last may be cut, as the interface wants it.
  putNames(folder, at, room, cookie, used) {
    let n = 0;
    for (const [i, { name, entry }] of this.namesIn(folder).entries()) {
      if (i < cookie || n >= room) continue;
      const bytes = new TextEncoder().encode(name), record = new Uint8Array(24 + bytes.length), fields = new DataView(record.buffer);
      fields.setBigUint64(0, BigInt(i + 1), true);
      fields.setBigUint64(8, this.numberOf(entry), true);
      fields.setUint32(16, bytes.length, true);
      fields.setUint8(20, entry.type);
      record.set(bytes, 24);
      this.bytesAt(at + n, Math.min(record.length, room - n)).set(record.subarray(0, room - n));
      n += Math.min(record.length, room - n);
    }
    this.view.setUint32(used, n, true);
    return 0;
  }

  read(file, buffers, count) {
    let total = 0;
    for (const buffer of buffers) {
      const bytes = file.entry.read(file.at, file.at + buffer.length);
      buffer.set(bytes);
      file.at += bytes.length;
      total += bytes.length;
      if (bytes.length < buffer.length) break;
    }
    this.view.setUint32(count, total, true);
    return 0;
  }

  write(file, buffers, count) {
    let total = 0;
    for (const buffer of buffers) {
      if (!file.entry.write(file.at, buffer)) return ERRNO.BADF;
      file.at += buffer.length;
      total += buffer.length;
    }
    this.view.setUint32(count, total, true);
    return 0;
  }

  seek(file, offset, whence, out) {
    if (file.entry.type !== TYPE.file) return ERRNO.SPIPE;
    const at = Number(offset) + [0, file.at, file.entry.size][whence];
    if (at < 0) return ERRNO.INVAL;
    file.at = at;
    this.view.setBigUint64(out, BigInt(at), true);
    return 0;
  }

  get calls() {
    const with_ = (fd, what) => (this.open.has(fd) ? what(this.open.get(fd)) : ERRNO.BADF);
    return {
      args_get: (pointers, at) => this.putStrings(this.args, pointers, at),
      args_sizes_get: (count, size) => this.putSizes(this.args, count, size),
      environ_get: () => 0,
      environ_sizes_get: (count, size) => this.putSizes([], count, size),
      clock_time_get: (clock, precision, out) => {
        this.view.setBigUint64(out, BigInt(Math.round((clock ? performance.now() : Date.now()) * 1e6)), true);
        return 0;
      },
      fd_close: (fd) => (this.open.delete(fd) ? 0 : ERRNO.BADF),
      fd_fdstat_get: (fd, out) => with_(fd, ({ entry }) => {
        this.bytesAt(out, 24).fill(0xff);
        this.bytesAt(out, 8).fill(0);
        this.view.setUint8(out, entry.type);
        return 0;
      }),
      fd_filestat_get: (fd, out) => with_(fd, ({ entry }) => this.putStatus(entry, out)),
      fd_prestat_get: (fd, out) => {
        if (fd !== ROOT_FD) return ERRNO.BADF;
        this.view.setUint32(out, 0, true);
        this.view.setUint32(out + 4, 1, true);
        return 0;
      },
      fd_prestat_dir_name: (fd, at) => { this.bytesAt(at, 1)[0] = "/".charCodeAt(0); return 0; },
      fd_read: (fd, list, n, count) => with_(fd, (file) => (file.entry === FOLDER ? ERRNO.ISDIR : this.read(file, this.buffersAt(list, n), count))),
      fd_write: (fd, list, n, count) => with_(fd, (file) => this.write(file, this.buffersAt(list, n), count)),
      fd_seek: (fd, offset, whence, out) => with_(fd, (file) => this.seek(file, offset, whence, out)),
      fd_readdir: (fd, at, room, cookie, used) => with_(fd, ({ path }) => this.putNames(path, at, room, Number(cookie), used)),
      path_open: (fd, flags, at, length, how, rights, inherited, mode, out) => this.openPath(this.pathAt(at, length), how, out),
      path_filestat_get: (fd, flags, at, length, out) => {
        const entry = this.entries.get(this.pathAt(at, length));
        return entry ? this.putStatus(entry, out) : ERRNO.NOENT;
      },
      path_create_directory: (fd, at, length) => {
        const path = this.pathAt(at, length);
        if (this.entries.has(path)) return ERRNO.EXIST;
        if (this.entries.get(folderOf(path)) !== FOLDER) return ERRNO.NOENT;
        this.entries.set(path, FOLDER);
        return 0;
      },
      path_rename: (fd, at, length, fd2, at2, length2) => this.rename(this.pathAt(at, length), this.pathAt(at2, length2)),
      path_unlink_file: (fd, at, length) => (this.entries.delete(this.pathAt(at, length)) ? 0 : ERRNO.NOENT),
      proc_exit: (code) => { throw new Exit(code); },
    };
  }
}

// Runs the command: `args` without its name; `files`: pairs of a path and its bytes, with `size` and
// `slice(from, to)`, a Uint8Array; `print(fd, bytes)`; `interrupted()`, which may return a promise where
// WebAssembly waits for such. {code, made}: the exit code, and pairs of a path and bytes written.
export async function run(module, { args, files, print, interrupted = () => 0 }) {
  const system = new System({ args: ["arenaut", ...args], files, print: (fd, bytes) => print(fd, bytes.slice()) });
  const asked = canWait ? new WebAssembly.Suspending(interrupted) : interrupted;
  const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system.calls, page: { interrupted: asked } });
  system.memory = exports.memory;
  const start = canWait ? WebAssembly.promising(exports._start) : exports._start;
  let code = 0;
  try {
    await start();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    ({ code } = error);
  }
  const made = [...system.entries].filter(([, entry]) => entry instanceof Made).map(([path, entry]) => [path, entry.bytes().slice()]);
  return { code, made };
}
