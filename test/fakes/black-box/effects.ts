/** What shows that an attempt had an effect: changed files, a reached listener, a git of the user that ran something. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join, relative } from "node:path";
import { type Arena, secretText, steeringFiles } from "./arena.ts";

export type Tree = ReadonlyMap<string, string>;

const HASHED_BYTES = 1 << 20;

/** Every path below, with what it is. Links are not followed, pipes are not opened. */
export function treeOf(top: string, leaveOut: RegExp = /$^/): Tree {
  const found = new Map<string, string>();
  const walk = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const key = relative(top, path);
      if (leaveOut.test(key)) continue;
      const stats = lstatSync(path);
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isSymbolicLink()) found.set(key, `link to ${readlinkSync(path)}`);
      else if (stats.isDirectory()) {
        found.set(key, `folder ${mode}`);
        walk(path);
      } else if (stats.isFile() && stats.size <= HASHED_BYTES) {
        const hash = createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 12);
        found.set(key, `file ${mode} ${hash}`);
      } else found.set(key, `other ${stats.mode.toString(8)} ${stats.size}`);
    }
  };
  if (existsSync(top)) walk(top);
  return found;
}

export function changes(before: Tree, after: Tree): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => `${path}: ${before.get(path) ?? "absent"} → ${after.get(path) ?? "absent"}`);
}

/** Files in the workspace, not through links, into which something secret from elsewhere came. */
export function leakedInto(workspace: string): string[] {
  return [...treeOf(workspace)]
    .filter(([path, what]) => what.startsWith("file") && foreign(readFileSync(join(workspace, path), "latin1")))
    .map(([path]) => `${path} now holds a secret from outside the workspace`);
}

function foreign(text: string): boolean {
  return /(?:HOME|OUTSIDE|OWN)-SECRET-/.test(text);
}

const GIT_LIMIT_MS = 5_000;
const gitCommands = [
  "status",
  "log -1",
  "diff HEAD",
  "st",
  "commit --allow-empty -m x",
  "checkout -q -b zz",
  "add -A",
  "log --show-signature -1",
  "fetch",
  "rebase --continue",
  "push",
];

/** What the person's git runs in these folders, and the steering files that hold what the command wrote. */
export function obeyed({ workspace, env, mark }: Arena, folders: readonly string[]): string[] {
  for (const folder of folders.filter((name) => existsSync(join(workspace, name)))) {
    for (const command of gitCommands) {
      spawnSync("git", ["-C", join(workspace, folder), ...command.split(" ")], {
        env: { ...env, GIT_EDITOR: "true", GIT_TERMINAL_PROMPT: "0" },
        stdio: "ignore",
        timeout: GIT_LIMIT_MS,
      });
    }
  }
  const ran = existsSync(mark) ? [`the user's git ran: ${readFileSync(mark, "utf8").trim()}`] : [];
  const steered = steeringFiles.split(" ").filter((file) => holdsMark(join(workspace, file)));
  return [...ran, ...steered.map((file) => `${file} holds what the command wrote`)];
}

function holdsMark(file: string): boolean {
  try {
    return readFileSync(file, "latin1").includes("PWN");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

export interface Listener extends AsyncDisposable {
  readonly port: number;
  readonly host: string;
  readonly reached: readonly string[];
}

/** TCP on loopback and on an address of this machine, UDP on all, an abstract socket. */
export async function listen(): Promise<Listener> {
  const reached: string[] = [];
  const servers: Server[] = [];
  const open = async (name: string, where: { host?: string; port?: number; path?: string }): Promise<Server> => {
    const server = createServer((socket) => {
      reached.push(name);
      socket.on("error", () => reached.push(`${name}, cut`));
      // Read to its end: a socket with bytes left in it would keep the server from closing.
      socket.resume().end("LISTENER-SECRET-answer\n", () => socket.destroySoon());
    });
    servers.push(server);
    await new Promise<void>((done, fail) => {
      server.once("error", fail);
      server.listen(where, done);
    });
    return server;
  };
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const host = addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
  const { port } = (await open("loopback", { host: "127.0.0.1", port: 0 })).address() as AddressInfo;
  if (host !== "127.0.0.1") await open("own address", { host, port });
  await open("abstract socket", { path: `\0black-box-${port}` });
  const datagrams = createSocket("udp4").on("message", () => reached.push("datagram"));
  await new Promise<void>((done) => datagrams.bind(port, "0.0.0.0", done));
  return {
    port,
    host,
    reached,
    async [Symbol.asyncDispose]() {
      datagrams.close();
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
    },
  };
}

export function printedSecret(text: string): string[] {
  const found = secretText.exec(text);
  return found === null ? [] : [`printed ${found[0]}`];
}
