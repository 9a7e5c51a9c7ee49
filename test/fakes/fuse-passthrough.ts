/**
 * A file system (FUSE) that shows a folder and whose writes fail with an error of choice for as long as a file names one. The kernel lets
 * nobody make a real file system read-only while a file on it is open for writing; a network disk does it all the time. Run as a process:
 * `node fuse-passthrough.ts FOLDER MOUNT_POINT ERROR_FILE`. Knows one user, no extended attributes and no device files.
 */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { constants as os } from "node:os";
import { join } from "node:path";

const [folder = "", mountPoint = "", errorFile = ""] = process.argv.slice(2);
const { O_ACCMODE, O_RDWR } = { O_ACCMODE: 3, O_RDWR: fs.constants.O_RDWR };
const ROOT = 1;
const IN_HEADER_BYTES = 40;
const MAX_WRITE_BYTES = 128 * 1024;
/** Pages of a mapping that were changed before: they are not a write of now. */
const WRITTEN_BACK = 1;
const [HAS_MODE, HAS_OWNER, HAS_SIZE, HAS_TIMES, HAS_HANDLE] = [1, 6, 8, 48, 64];
const [GET_HANDLE, NODE_BYTES] = [1, 8];

/** Where each node is; a name that is gone keeps its node while somebody has it open. */
const paths = new Map<number, string>([[ROOT, ""]]);
const nodes = new Map<string, number>([["", ROOT]]);
const opened = new Map<number, Set<number>>();
const sockets = new Set<string>();
let lastNode = ROOT;

const real = (path: string): string => join(folder, path);
const pathOf = (node: number): string => paths.get(node) ?? fail(os.errno.ENOENT);

function fail(errno: number): never {
  throw Object.assign(new Error(), { errno });
}

function nodeOf(path: string): number {
  const known = nodes.get(path);
  if (known !== undefined) return known;
  lastNode += 1;
  nodes.set(path, lastNode);
  paths.set(lastNode, path);
  return lastNode;
}

function forgetName(path: string): void {
  nodes.delete(path);
  sockets.delete(path);
}

function moveNames(from: string, to: string): void {
  forgetName(to);
  for (const [path, node] of [...nodes]) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    const moved = to + path.slice(from.length);
    nodes.delete(path);
    nodes.set(moved, node);
    paths.set(node, moved);
    if (sockets.delete(path)) sockets.add(moved);
  }
}

function statOf(node: number, handle?: number): fs.Stats {
  const path = pathOf(node);
  const descriptor = handle ?? (nodes.get(path) === node ? undefined : [...(opened.get(node) ?? [])][0]);
  const stats = descriptor === undefined ? fs.lstatSync(real(path)) : fs.fstatSync(descriptor);
  if (sockets.has(path)) stats.mode = (stats.mode & 0o7777) | fs.constants.S_IFSOCK;
  return stats;
}

function putAll64(out: Buffer, start: number, values: readonly number[]): void {
  for (const [index, value] of values.entries()) out.writeBigUInt64LE(BigInt(value), start + index * 8);
}

function putAll32(out: Buffer, start: number, values: readonly number[]): void {
  for (const [index, value] of values.entries()) out.writeUInt32LE(value, start + index * 4);
}

function attributes(node: number, stats: fs.Stats): Buffer {
  const out = Buffer.alloc(88);
  const times = [stats.atimeMs, stats.mtimeMs, stats.ctimeMs];
  putAll64(out, 0, [node, stats.size, stats.blocks]);
  times.forEach((ms, at) => {
    out.writeBigUInt64LE(BigInt(Math.floor(ms / 1000)), 24 + at * 8);
    out.writeUInt32LE(Math.floor((ms % 1000) * 1e6), 48 + at * 4);
  });
  putAll32(out, 60, [stats.mode, stats.nlink, stats.uid, stats.gid, 0, 4096]);
  return out;
}

function entry(path: string): Buffer {
  const stats = fs.lstatSync(real(path));
  const node = nodeOf(path);
  const head = Buffer.alloc(40);
  head.writeBigUInt64LE(BigInt(node), 0);
  return Buffer.concat([head, attributes(node, sockets.has(path) ? statOf(node) : stats)]);
}

function attributeReply(node: number, handle?: number): Buffer {
  return Buffer.concat([Buffer.alloc(16), attributes(node, statOf(node, handle))]);
}

function open(node: number, flags: number): Buffer {
  if ((flags & O_ACCMODE) !== fs.constants.O_RDONLY) refuseWrites();
  const descriptor = fs.openSync(real(pathOf(node)), (flags & O_ACCMODE) === fs.constants.O_RDONLY ? "r" : O_RDWR);
  return opening(node, descriptor);
}

function opening(node: number, descriptor: number): Buffer {
  opened.set(node, (opened.get(node) ?? new Set()).add(descriptor));
  const out = Buffer.alloc(16);
  out.writeBigUInt64LE(BigInt(descriptor), 0);
  return out;
}

function directory(path: string, offset: number, size: number): Buffer {
  const names = [".", "..", ...fs.readdirSync(real(path))];
  const parts: Buffer[] = [];
  let bytes = 0;
  for (const [index, name] of names.entries()) {
    if (index < offset) continue;
    const text = Buffer.from(name);
    const part = Buffer.alloc(Math.ceil((24 + text.length) / 8) * 8);
    part.writeBigUInt64LE(1n, 0);
    part.writeBigUInt64LE(BigInt(index + 1), 8);
    part.writeUInt32LE(text.length, 16);
    text.copy(part, 24);
    bytes += part.length;
    if (bytes > size) break;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function change(node: number, body: Buffer): Buffer {
  refuseWrites();
  const valid = body.readUInt32LE(0);
  const handle = (valid & HAS_HANDLE) === 0 ? undefined : Number(body.readBigUInt64LE(8));
  const path = real(pathOf(node));
  const seconds = (at: number, nanosAt: number): number =>
    Number(body.readBigInt64LE(at)) + body.readUInt32LE(nanosAt) / 1e9;
  if ((valid & HAS_MODE) !== 0) fs.chmodSync(path, body.readUInt32LE(68) & 0o7777);
  if ((valid & HAS_OWNER) !== 0) return fail(os.errno.EPERM);
  if ((valid & HAS_SIZE) !== 0) {
    const size = Number(body.readBigUInt64LE(16));
    if (handle === undefined) fs.truncateSync(path, size);
    else fs.ftruncateSync(handle, size);
  }
  if ((valid & HAS_TIMES) !== 0) {
    const { atimeMs, mtimeMs } = statOf(node, handle);
    const atime = (valid & 16) === 0 ? atimeMs / 1000 : (valid & 128) === 0 ? seconds(32, 56) : Date.now() / 1000;
    const mtime = (valid & 32) === 0 ? mtimeMs / 1000 : (valid & 256) === 0 ? seconds(40, 60) : Date.now() / 1000;
    if (handle === undefined) fs.utimesSync(path, atime, mtime);
    else fs.futimesSync(handle, atime, mtime);
  }
  return attributeReply(node, handle);
}

function write(body: Buffer): Buffer {
  const [handle, offset] = [Number(body.readBigUInt64LE(0)), Number(body.readBigUInt64LE(8))];
  const [size, flags] = [body.readUInt32LE(16), body.readUInt32LE(20)];
  if ((flags & WRITTEN_BACK) === 0) refuseWrites();
  const out = Buffer.alloc(8);
  out.writeUInt32LE(fs.writeSync(handle, body, 40, size, offset), 0);
  return out;
}

function space(): Buffer {
  const { blocks, bfree, bavail, files, ffree, bsize } = fs.statfsSync(folder);
  const out = Buffer.alloc(80);
  putAll64(out, 0, [blocks, bfree, bavail, files, ffree]);
  putAll32(out, 40, [bsize, 255, bsize]);
  return out;
}

function refuseWrites(): void {
  let name: string;
  try {
    name = fs.readFileSync(errorFile, "utf8");
  } catch {
    return; // nobody has written one: writes go through
  }
  fail(os.errno[name as keyof typeof os.errno]);
}

/** The reply to one request; nothing where the kernel expects none. Throws with an `errno`. */
function reply(operation: number, node: number, body: Buffer): Buffer | undefined {
  const names = (from: number): string[] => body.toString("utf8", from).split("\0");
  const child = (name = "", parent = node): string => join(pathOf(parent), name);
  const handle = (): number => Number(body.readBigUInt64LE(0));
  const changing = (effect: () => void, made?: string): Buffer => {
    refuseWrites();
    effect();
    return made === undefined ? Buffer.alloc(0) : entry(made);
  };
  switch (operation) {
    case 1: // lookup
      return entry(child(names(0)[0]));
    case 2: // forget
    case 36: // interrupt
    case 42: // forget many
      return undefined;
    case 3: // attributes
      return attributeReply(
        node,
        (body.readUInt32LE(0) & GET_HANDLE) === 0 ? undefined : Number(body.readBigUInt64LE(8)),
      );
    case 4:
      return change(node, body);
    case 5: // read a link
      return Buffer.from(fs.readlinkSync(real(pathOf(node))));
    case 6: {
      // make a link
      const [name, target = ""] = names(0);
      return changing(() => fs.symlinkSync(target, real(child(name))), child(name));
    }
    case 8: {
      // a file, or what looks like a socket
      const [mode, path] = [body.readUInt32LE(0), child(names(16)[0])];
      return changing(() => {
        fs.writeFileSync(real(path), "", { flag: "wx", mode: mode & 0o7777 });
        if ((mode & fs.constants.S_IFMT) === fs.constants.S_IFSOCK) sockets.add(path);
      }, path);
    }
    case 9: {
      const path = child(names(8)[0]);
      return changing(() => fs.mkdirSync(real(path), { mode: body.readUInt32LE(0) & 0o7777 }), path);
    }
    case 10:
      return changing(() => {
        fs.unlinkSync(real(child(names(0)[0])));
        forgetName(child(names(0)[0]));
      });
    case 11:
      return changing(() => {
        fs.rmdirSync(real(child(names(0)[0])));
        forgetName(child(names(0)[0]));
      });
    case 12: // rename
    case 45: {
      // rename with flags, which nobody here needs
      const at = operation === 12 ? NODE_BYTES : 16;
      if (operation === 45 && body.readUInt32LE(8) !== 0) return fail(os.errno.EINVAL);
      const [from, to] = names(at);
      const target = child(to, Number(body.readBigUInt64LE(0)));
      return changing(() => {
        fs.renameSync(real(child(from)), real(target));
        moveNames(child(from), target);
      });
    }
    case 13: {
      const path = child(names(NODE_BYTES)[0]);
      return changing(() => fs.linkSync(real(pathOf(Number(body.readBigUInt64LE(0)))), real(path)), path);
    }
    case 14:
      return open(node, body.readUInt32LE(0));
    case 15: {
      // read
      const out = Buffer.alloc(body.readUInt32LE(16));
      return out.subarray(0, fs.readSync(handle(), out, 0, out.length, Number(body.readBigUInt64LE(8))));
    }
    case 16:
      return write(body);
    case 17:
      return space();
    case 18: {
      // release
      opened.get(node)?.delete(handle());
      fs.closeSync(handle());
      return Buffer.alloc(0);
    }
    case 20: // fsync
      fs.fsyncSync(handle());
      return Buffer.alloc(0);
    case 25: // close of one of several
    case 29: // close of a folder
    case 30: // fsync of a folder
      return Buffer.alloc(0);
    case 26: {
      // the handshake
      const out = Buffer.alloc(64);
      out.writeUInt32LE(7, 0);
      out.writeUInt32LE(31, 4);
      out.writeUInt32LE(MAX_WRITE_BYTES, 8);
      out.writeUInt32LE(1 << 5, 12);
      out.writeUInt32LE(MAX_WRITE_BYTES, 20);
      out.writeUInt32LE(1, 24);
      return out;
    }
    case 27: // a folder
      return Buffer.alloc(16);
    case 28:
      return directory(pathOf(node), Number(body.readBigUInt64LE(8)), body.readUInt32LE(16));
    case 35: {
      // create
      refuseWrites();
      const path = child(names(16)[0]);
      const made = fs.openSync(real(path), fs.constants.O_CREAT | O_RDWR, body.readUInt32LE(4) & 0o7777);
      return Buffer.concat([entry(path), opening(nodeOf(path), made)]);
    }
    default:
      return fail(os.errno.ENOSYS);
  }
}

function serve(device: number): void {
  const input = Buffer.alloc(MAX_WRITE_BYTES + 64 * 1024);
  for (;;) {
    let bytes: number;
    try {
      bytes = fs.readSync(device, input);
    } catch (error) {
      if (errnoOf(error) === os.errno.ENODEV) return; // unmounted
      if (errnoOf(error) === os.errno.ENOENT || errnoOf(error) === os.errno.EINTR) continue; // called off
      throw error;
    }
    const [operation, node] = [input.readUInt32LE(4), Number(input.readBigUInt64LE(16))];
    const out = Buffer.alloc(16);
    input.copy(out, 8, 8, 16);
    let body: Buffer | undefined;
    try {
      body = reply(operation, node, input.subarray(IN_HEADER_BYTES, bytes));
    } catch (error) {
      out.writeInt32LE(-(errnoOf(error) ?? os.errno.EIO), 4);
      body = Buffer.alloc(0);
    }
    if (body === undefined) continue;
    out.writeUInt32LE(16 + body.length, 0);
    try {
      fs.writeSync(device, Buffer.concat([out, body]));
    } catch (error) {
      // Whoever asked is gone.
      if (errnoOf(error) !== os.errno.ENOENT) throw error;
    }
  }
}

/** Positive, as the kernel counts them. */
function errnoOf(error: unknown): number | undefined {
  return error instanceof Error && "errno" in error && typeof error.errno === "number"
    ? Math.abs(error.errno)
    : undefined;
}

const device = fs.openSync("/dev/fuse", O_RDWR);
const options = "fd=3,rootmode=40700,user_id=0,group_id=0,default_permissions,allow_other";
execFileSync("mount", ["-i", "-t", "fuse", "-o", options, "harness", mountPoint], {
  stdio: ["ignore", "ignore", "inherit", device],
});
serve(device);
