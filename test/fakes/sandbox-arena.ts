/**
 * A workspace with everything around it that a hostile command would go for: files outside, a home folder with secrets,
 * repositories with hooks, sockets, servers that count who comes, and a process to signal. It runs one script at a time in
 * a real sandbox and says what the script achieved.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { homedir, networkInterfaces } from "node:os";
import { dirname, join } from "node:path";
import { type Confinement, createDomainList } from "#base";
import { isSecretFile } from "#governance";
import { createSandboxes, type EgressRecord } from "#sandbox";
import { createProcesses, createSystemClock } from "#world";
import { processesWith } from "./marked-processes.ts";

const SCRIPT_TIMEOUT_MS = 8_000;
const SECRET = "secret-3f9ac1";
const LOOK_MS = 3;
const ALLOWED_ADDRESS = "127.0.0.2";
/** `rebind.test` is on the list, but leads to an address that the list does not name. */
const DOMAINS = ["allowed.test", "rebind.test", ALLOWED_ADDRESS];

export interface EscapeScript {
  readonly name: string;
  /** What it goes for. */
  readonly aim: "write" | "read" | "network" | "survive";
  /** Bash. It prints `ESCAPED` when it knows that it got out. */
  readonly script: string;
  /** Default: that of the machine; for the aim `network` both `none` and `listed` are run. */
  readonly network?: "open" | "none" | "listed";
  /** The workspace is no repository. */
  readonly bare?: true;
  readonly timeoutMs?: number;
}

export interface Attempt {
  /** Paths outside the workspace, or protected ones in it, that are not as they were. */
  readonly writes: readonly string[];
  /** Connections to servers that are not on the list. */
  readonly connections: readonly string[];
  readonly survivors: number;
  /** The output has a secret in it. */
  readonly leaked: boolean;
  readonly claimed: boolean;
  readonly output: string;
  readonly records: readonly EgressRecord[];
}

export interface SandboxArena {
  /** `unconfined` runs it without a sandbox, to see that it would succeed; only for scripts that harm nobody. */
  attempt(
    script: EscapeScript,
    network: "open" | "none" | "listed",
    how?: { readonly unconfined?: true; readonly confinement?: Confinement },
  ): Promise<Attempt>;
  close(): Promise<void>;
}

export async function createSandboxArena(): Promise<SandboxArena> {
  // Not in /tmp, which a command does not see at all: here it sees everything and must not change it.
  const caches = join(homedir(), ".cache");
  mkdirSync(caches, { recursive: true });
  const base = mkdtempSync(join(caches, "harness-arena-"));
  const victim = spawn("sleep", ["600"], { stdio: "ignore" });
  const servers = await startServers(base);

  const attempt: SandboxArena["attempt"] = async (script, network, how) => {
    const folder = mkdtempSync(join(base, "case-"));
    const places = furnish(folder, script.bare === true);
    const mark = `mark-${randomUUID()}`;
    const env = {
      ...process.env,
      HOME: places.home,
      XDG_CACHE_HOME: join(folder, "caches"),
      SSH_AUTH_SOCK: servers.socketPath,
    };
    const records: EgressRecord[] = [];
    const sandbox = createSandboxes({
      env,
      clock: createSystemClock(),
      ownPaths: [places.own],
      isSecret: isSecretFile,
      resolve: async (name) => {
        if (name === "allowed.test") return [{ address: ALLOWED_ADDRESS, family: 4 }];
        if (name === "rebind.test") return [{ address: "127.0.0.1", family: 4 }];
        throw new Error(`${name} does not exist`);
      },
    }).open({
      mode: how?.unconfined ? "off" : "required",
      root: places.workspace,
      processes: createProcesses({ root: places.workspace, env }),
      // Scripts use it, and it is not among the programs of the machine.
      readOnlyPaths: [dirname(process.execPath)],
      directNetwork: network === "open",
      ...(network === "open" ? {} : { domains: createDomainList([network === "none" ? [] : DOMAINS]) }),
    });
    sandbox.recordTo({
      status: async () => undefined,
      connection: async (entry) => void records.push(entry),
    });
    const isReader = how?.confinement === "reader";
    const before = snapshot(places, isReader);
    servers.seen.length = 0;
    const taken = new Set<string>();
    // What a repository that a script begins is like is seen when it has ended.
    const free = FREE.filter((name) => script.bare !== true || !name.startsWith(".git/"));
    const looking = setInterval(() => {
      for (const name of takenNames(places.workspace, free)) taken.add(name);
    }, LOOK_MS);
    let output = "";
    await sandbox.processes.run(
      {
        file: "bash",
        args: ["-c", script.script],
        confinement: how?.unconfined ? "outside" : (how?.confinement ?? "workspace"),
        env: {
          WS: places.workspace,
          OUT: places.outside,
          OWN: places.own,
          VICTIM: String(victim.pid),
          ENGINE: String(process.pid),
          MARK: mark,
          NODE: process.execPath,
          SOCK: servers.socketPath,
          TCP: String(servers.tcpPort),
          UDP: String(servers.udpPort),
          WEB: String(servers.webPort),
          HOST_IP: hostAddress(),
        },
        timeoutMs: script.timeoutMs ?? SCRIPT_TIMEOUT_MS,
        onOutput: (_stream, chunk) => {
          output += chunk.toString("utf8");
        },
      },
      new AbortController().signal,
    );
    clearInterval(looking);
    const survivors = processesWith(mark).length;
    const after = snapshot(places, isReader);
    await sandbox.close();
    // A command may begin a repository, but not with hooks or with settings that run something.
    if (script.bare && !/fsmonitor|hookspath/i.test(after.get(join(places.workspace, ".git/config")) ?? "")) {
      for (const name of [".git/hooks", ".git/config"]) after.delete(join(places.workspace, name));
    }
    const names = new Set([...before.keys(), ...after.keys()]);
    const writes = [...names].filter((name) => before.get(name) !== after.get(name));
    for (const name of taken) writes.push(`${name}, while it ran`);
    if (victim.exitCode !== null || victim.signalCode !== null) writes.push("the victim process was ended");
    rmSync(folder, { recursive: true, force: true });
    return {
      writes,
      connections: network === "open" && !isReader ? [] : [...servers.seen],
      survivors,
      leaked: output.includes(SECRET),
      claimed: /^ESCAPED/m.test(output),
      output,
      records,
    };
  };

  return {
    attempt,
    async close() {
      victim.kill("SIGKILL");
      await servers.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

interface Places {
  readonly workspace: string;
  readonly outside: string;
  readonly home: string;
  readonly own: string;
}

function furnish(folder: string, bare: boolean): Places {
  const places = {
    workspace: join(folder, "workspace"),
    outside: join(folder, "outside"),
    home: join(folder, "home"),
    own: join(folder, "home/.local/share/harness"),
  };
  const put = (path: string, content: string, mode = 0o644): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode });
    chmodSync(path, mode);
  };
  put(join(places.outside, "file.txt"), "outside\n");
  put(join(places.outside, "script.sh"), "#!/bin/sh\n", 0o755);
  for (const name of [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".npmrc",
    ".docker/config.json",
    ".kube/config",
  ]) {
    put(join(places.home, name), `${SECRET}\n`, 0o600);
  }
  put(join(places.home, ".config/gcloud/credentials.db"), `${SECRET}\n`);
  put(join(places.home, ".mozilla/firefox/logins.json"), `${SECRET}\n`);
  put(join(places.home, ".bashrc"), "# mine\n");
  put(join(places.own, "sessions.db"), `${SECRET}\n`);
  put(join(places.workspace, "src/main.ts"), "export {};\n");
  put(join(places.workspace, ".vscode/settings.json"), "{}\n");
  put(join(places.workspace, "tools/zed/settings.json"), "{}\n");
  symlinkSync("tools/zed", join(places.workspace, ".zed"));
  symlinkSync(places.outside, join(places.workspace, "way-out"));
  if (!bare) repository(join(places.workspace, ".git"));
  repository(join(places.workspace, "packages/nested/.git"));
  repository(join(places.workspace, ".git/modules/sub"), bare);
  return places;

  function repository(git: string, leaveOut = false): void {
    if (leaveOut) return;
    put(join(git, "HEAD"), "ref: refs/heads/main\n");
    put(join(git, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
    put(join(git, "hooks/pre-commit.sample"), "#!/bin/sh\n", 0o755);
    mkdirSync(join(git, "objects"), { recursive: true });
    mkdirSync(join(git, "refs/heads"), { recursive: true });
  }
}

/** Names in the workspace that must be as they were; those that are not there must not be. */
const PROTECTED = [
  ".harness .vscode .idea .zed .cursor .claude .envrc harness.md harness.yaml .mcp.json .bashrc .profile .vimrc .exrc",
  ".gitconfig .devcontainer tools/zed .git/hooks .git/config .git/config.worktree .git/commondir .git/modules/sub/hooks",
  ".git/modules/sub/config packages/nested/.git/hooks packages/nested/.git/config packages/nested/.git/commondir",
].flatMap((line) => line.split(" "));

/** Not there at the beginning, and obeyed as soon as they are; looked at while a script runs. */
const FREE = [
  ".harness .idea .cursor .claude .fleet .devcontainer .git/commondir .git/modules/sub/commondir",
  "packages/nested/.git/commondir",
].flatMap((line) => line.split(" "));

/** Those at which there is more than a placeholder. */
function takenNames(workspace: string, free: readonly string[]): string[] {
  return free.filter((name) => {
    const path = join(workspace, name);
    try {
      const info = lstatSync(path, { throwIfNoEntry: false });
      if (info === undefined) return false;
      if (info.isDirectory()) return readdirSync(path).length > 0;
      return !info.isFile() || readFileSync(path, "utf8") !== ".\n";
    } catch {
      // It went while it was looked at.
      return false;
    }
  });
}

/** `whole`: all of the workspace, not only what is protected in it. */
function snapshot({ workspace, outside, home }: Places, whole: boolean): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (path: string, skip: (name: string) => boolean = () => false): void => {
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info === undefined) return;
    const mode = (info.mode & 0o7777).toString(8);
    if (info.isSymbolicLink()) found.set(path, `-> ${readlinkSync(path)}`);
    else if (info.isFile()) found.set(path, `${mode} ${readFileSync(path, "utf8")}`);
    else if (!info.isDirectory()) found.set(path, "special");
    else {
      found.set(path, mode);
      for (const name of readdirSync(path)) if (!skip(name)) walk(join(path, name));
    }
  };
  walk(outside);
  walk(home);
  if (whole) walk(workspace);
  // A hook of a repository that a command began is moved aside under a name that git does not run.
  for (const name of PROTECTED) walk(join(workspace, name), (entry) => /\.held-back(-\d+)?$|\.sample$/.test(entry));
  return found;
}

interface Servers {
  readonly socketPath: string;
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly webPort: number;
  readonly seen: string[];
  close(): Promise<void>;
}

async function startServers(base: string): Promise<Servers> {
  const seen: string[] = [];
  const socketPath = join(base, "agent.sock");
  const listening: Server[] = [];
  const listen = async (server: Server, where: string | { host: string; port: number }): Promise<number> => {
    listening.push(server);
    if (typeof where === "string") server.listen(where);
    else server.listen(where.port, where.host);
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  };
  const counting = (name: string): Server =>
    createServer((socket) => {
      seen.push(name);
      socket.on("error", () => undefined).end("ESCAPED\n");
    });
  const tcpPort = await listen(counting("tcp"), { host: "0.0.0.0", port: 0 });
  await listen(counting("tcp6"), { host: "::1", port: tcpPort }).catch(() => 0);
  await listen(counting("unix"), socketPath);
  // The one server that may be reached; it sends whoever asks for /away somewhere else.
  const web = createHttpServer((request, response) => {
    if (request.url === "/away") response.writeHead(302, { location: `http://127.0.0.1:${tcpPort}/` }).end();
    else response.end(`host=${request.headers.host}\n`);
  });
  const webPort = await listen(web, { host: ALLOWED_ADDRESS, port: 0 });
  const udp = createSocket("udp4", () => seen.push("udp"));
  udp.bind(0, "0.0.0.0");
  await once(udp, "listening");
  return {
    socketPath,
    tcpPort,
    udpPort: udp.address().port,
    webPort,
    seen,
    async close() {
      udp.close();
      await Promise.all(listening.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function hostAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}
