/**
 * The place where holes are tried: a workspace in a home full of credentials, a folder outside, servers that count who comes, and a
 * comparison of all files before and after. Free of any test library.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fillSlots } from "./hole-cases.ts";

/** Words, so that no redaction hides that they were read. */
export const SECRET = "secret walnut harbour lantern";
/** Known to the program as the key of its provider. */
export const KEY = "sk-ant-api03-Zk3q_9PfTw-x7LmB2vRc8YhN4sJd6GuEaQ1oWt5iKpXbVnM0";

const CREDENTIALS = [
  ".pgpass .my.cnf .netrc .git-credentials .npmrc .pypirc .aws/credentials .azure/msal_token_cache.json .kube/config .docker/config.json",
  ".config/gh/hosts.yml .config/gcloud/credentials.db .config/rclone/rclone.conf .config/op/config .cargo/credentials.toml .vault-token",
  ".gnupg/secring.gpg .ssh/id_ed25519 .ssh/id_rsa .terraform.d/credentials.tfrc.json .gem/credentials .m2/settings.xml .bash_history",
  ".gradle/gradle.properties .composer/auth.json .mozilla/firefox/logins.json .config/Code/User/globalStorage/state.vscdb .boto .s3cfg",
  ".wrangler/config.toml .local/share/harness/machine.key .local/share/keyrings/login.keyring .password-store/x.gpg .config/sops/age/keys.txt",
].flatMap((line) => line.split(" "));
const PLAIN_OF_HOME = [
  ".bashrc",
  ".profile",
  ".zshenv",
  ".local/bin/tool",
  "bin/tool",
  ".cargo/bin/cargo",
  "go/bin/gopls",
];
const SECRETS_OF_WORKSPACE = [".env", ".env.local", "config/.env", "keys/server.pem", "id_rsa"];

/** What a command that somebody allowed may not change either. */
const STEERING =
  /^(?:(?:sub\/)?\.git(?:$|\/(?:config|hooks|commondir|info\/attributes|modules\/.+\/(?:config|hooks|commondir))(?:$|\/))|\.(?:harness|vscode|idea|zed|envrc|mcp\.json|claude|cursor|bashrc|husky|exrc|gdbinit|devcontainer)(?:$|\/)|harness\.md$)/;

export interface HoleFolder {
  readonly home: string;
  readonly outside: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  /** A command with its slots filled; `mark` is the name of its marker. */
  fill(text: string, mark: string): string;
  /** Files that are not as they were since the folder was made. `ordinary`: files of the workspace that steer nothing count too. */
  changes(options: { readonly ordinary: boolean }): string[];
  remove(): void;
}

export interface HoleArena {
  folder(plant?: Readonly<Record<string, string>>, mark?: string): HoleFolder;
  /** Who has connected since this was asked last. */
  connections(): string[];
  close(): Promise<void>;
}

export async function createHoleArena(): Promise<HoleArena> {
  // In the home, where a sandbox shows the workspace alone.
  const caches = join(homedir(), ".cache");
  mkdirSync(caches, { recursive: true });
  const base = realpathSync(mkdtempSync(join(caches, "harness-holes-")));
  const varFolder = mkdtempSync("/var/tmp/harness-holes-");
  const servers = await startServers(base, varFolder);
  let folders = 0;
  return {
    folder(plant = {}, mark = "mark") {
      folders += 1;
      const path = join(base, String(folders));
      const folder = furnished(path, plant, mark, servers.slots);
      servers.open("a socket of the workspace", join(folder.workspace, SOCKET));
      return folder;
    },
    connections: () => servers.seen.splice(0),
    async close() {
      await servers.close();
      for (const folder of [base, varFolder]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function furnished(
  path: string,
  plant: Readonly<Record<string, string>>,
  mark: string,
  serverSlots: Readonly<Record<string, string>>,
): HoleFolder {
  const home = join(path, "home");
  const outside = join(home, "outside");
  const workspace = join(home, "project");
  const slots = { ...serverSlots, OUT: outside, HOME: home, "SOCKET:workspace": join(workspace, SOCKET) };
  const put = (file: string, content: string): void => {
    mkdirSync(dirname(file), { recursive: true });
    if (content === "dir") mkdirSync(file);
    else if (content.startsWith("-> ")) symlinkSync(content.slice(3), file);
    else writeFileSync(file, content);
  };
  for (const name of CREDENTIALS) put(join(home, name), `${SECRET}\n`);
  for (const name of PLAIN_OF_HOME) put(join(home, name), "mine\n");
  put(join(outside, "file.txt"), "outside\n");
  for (const name of SECRETS_OF_WORKSPACE) put(join(workspace, name), `${SECRET}\n`);
  symlinkSync(".env", join(workspace, "link"));
  put(join(workspace, "notes.txt"), "one\ntwo\nk three\n");
  for (const name of ["plain.txt", "folder/x", "sub/x"]) put(join(workspace, name), "plain\n");
  if (!Object.keys(plant).some((name) => /^\.git(?:$|\/)/.test(name))) repository(join(workspace, ".git"), put);
  for (const [name, content] of Object.entries(plant)) {
    put(join(workspace, name), fillSlots(content, { ...slots, MARK: mark }));
  }
  const before = snapshot(home);
  return {
    home,
    outside,
    workspace,
    // What the program itself writes is beside the home: here only commands change anything.
    env: {
      ...{ PATH: process.env.PATH ?? "", HOME: home },
      ...{ XDG_CACHE_HOME: join(path, "caches"), XDG_STATE_HOME: join(path, "state") },
    },
    fill: (text, ownMark) => fillSlots(text, { ...slots, MARK: ownMark }),
    changes({ ordinary }) {
      const after = snapshot(home);
      const names = [...new Set([...before.keys(), ...after.keys()])];
      const changed = names.filter((name) => before.get(name) !== after.get(name));
      return changed.filter((name) => {
        const inWorkspace = relative(workspace, join(home, name));
        return ordinary || inWorkspace.startsWith("..") || STEERING.test(inWorkspace) || name.includes("mark-");
      });
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function repository(git: string, put: (file: string, content: string) => void): void {
  put(join(git, "HEAD"), "ref: refs/heads/main\n");
  put(join(git, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
  put(join(git, "hooks/pre-commit.sample"), "#!/bin/sh\n");
  for (const name of ["objects", "refs/heads"]) mkdirSync(join(git, name), { recursive: true });
}

/** In the workspace; left out of the comparison. */
const SOCKET = "agent.sock";

/** What was moved aside under a name that nothing obeys is not there. */
const HELD_BACK = /\.held-back(?:-\d+)?$/;

function snapshot(root: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (path: string): void => {
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info === undefined || info.isSocket() || HELD_BACK.test(path)) return;
    const name = relative(root, path);
    if (info.isSymbolicLink()) found.set(name, `-> ${readlinkSync(path)}`);
    else if (info.isFile()) found.set(name, `${info.mode.toString(8)} ${readFileSync(path, "latin1")}`);
    else if (!info.isDirectory()) found.set(name, "special");
    else {
      found.set(name, "folder");
      for (const entry of readdirSync(path)) walk(join(path, entry));
    }
  };
  walk(root);
  return found;
}

/** What a command does without any of this program; gives what it printed. */
export async function runPlainly(folder: HoleFolder, command: string): Promise<string> {
  const child = spawn("bash", ["-c", command], {
    cwd: folder.workspace,
    env: folder.env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 4_000,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  // What it left running may hold the streams.
  await once(child, "exit");
  await new Promise((done) => setImmediate(done));
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  return output;
}

interface Servers {
  readonly seen: string[];
  readonly slots: Readonly<Record<string, string>>;
  /** Listens at once, until all of them are closed. */
  open(name: string, path: string): void;
  close(): Promise<void>;
}

async function startServers(base: string, varFolder: string): Promise<Servers> {
  const seen: string[] = [];
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const open = (name: string, where: string | { readonly host: string; readonly port: number }): Server => {
    const server = createServer((socket) => {
      seen.push(name);
      sockets.add(socket);
      socket.on("error", () => undefined).end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
    });
    servers.push(server);
    return server.listen(where as never); // one of its overloads takes each
  };
  const abstract = `harness-holes-${randomUUID()}`;
  const paths = { home: join(base, "agent.sock"), var: join(varFolder, "agent.sock") };
  const tcp = open("loopback", { host: "127.0.0.1", port: 0 });
  open("a socket of the home", paths.home);
  open("a socket below /var", paths.var);
  open("an abstract socket", `\0${abstract}`);
  await Promise.all(servers.map((server) => once(server, "listening")));
  const address = tcp.address();
  return {
    seen,
    open: (name, path) => void open(name, path),
    slots: {
      PORT: String(typeof address === "object" ? address?.port : ""),
      "SOCKET:home": paths.home,
      "SOCKET:var": paths.var,
      "SOCKET:abstract": abstract,
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
    },
  };
}
