/**
 * The credential helper: the one process that holds provider keys. It gets them over its standard input, listens on a private
 * socket, and ends when the engine does. Loads little, because every start of the program with a key waits for it.
 */
import { chmodSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { boundHost } from "#base/bound-hosts";
import { openBox, sealBox } from "#base/sealed-box";
import { fingerprintSecret } from "#base/secret-fingerprint";
import { CredentialFileError, openSecret, readCredentialFile } from "./credential-file.ts";
import { createFrameReader, HEARTBEAT, HEARTBEAT_MS, type HelperAnswer, type HelperCommand } from "./helper-frames.ts";
import { createForwarder, type HeldCredential, type RemoteHandler } from "./helper-server.ts";
import { LOGIN_PROVIDER, parseLoginRecord, secretsOf } from "./login-record.ts";
import type { LoginStore } from "./login-store.ts";
import type { LoginTokens } from "./login-tokens.ts";

const SOCKET_NAME = "s";
const RECOVERY_NAME = "kept";
const RECOVERY_LABEL = "credential helper";
const SOCKET_MODE = 0o600;

type Bind = Extract<HelperCommand, { type: "bind" }>;
type Remote = Extract<HelperCommand, { type: "remote" }>;
type Login = Extract<HelperCommand, { type: "login" }>;
type Hello = Extract<HelperCommand, { type: "hello" }>;

/** Takes over the process; resolves never. */
export function runCredentialHelper(): void {
  keepOutOfCoreDumps();
  const credentials = new Map<string, HeldCredential>();
  const remotes = new Map<string, RemoteHandler>();
  let secrets = new Map<string, Buffer>();
  let store: { readonly path: string; readonly key: Buffer } | undefined;
  let recoveryKey: Buffer | undefined;
  let folder: string | undefined;
  let isKeeping = false;
  const toldOf = new WeakSet<Buffer>();
  let loginTokens: Promise<LoginTokens> | undefined;

  const say = (answer: HelperAnswer): void => void process.stdout.write(`${JSON.stringify(answer)}\n`);
  const end = (code: number): never => {
    if (folder !== undefined) removeFolder(folder);
    process.exit(code);
  };
  // Without the engine there is nobody to work for; a terminal's signals are the engine's to answer.
  process.stdin.on("end", () => end(0)).on("error", () => end(0));
  process.stdout.on("error", () => end(0));
  for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) process.on(signal, () => undefined);

  function listen({ pass, proxy, folder: place }: Hello): void {
    folder = place;
    const socket = join(place, SOCKET_NAME);
    rmSync(socket, { force: true }); // of a helper that died
    // An import would load all that the module could be asked for, which takes as long as the rest of the start.
    const { createServer } = process.getBuiltinModule("node:http");
    const server = createServer(
      createForwarder({ pass, proxy, credential: (id) => credentials.get(id), remote: (id) => remotes.get(id) }),
    );
    // How long an answer may take is the engine's business; it goes away when it has waited enough.
    server.requestTimeout = 0;
    server.keepAliveTimeout = 0;
    server.on("error", (error) => say({ type: "failed", detail: error.message }));
    server.listen(socket, () => {
      chmodSync(socket, SOCKET_MODE);
      say({ type: "ready", socket });
      setImmediate(() => warmUp(socket));
    });
    setInterval(() => process.stdout.write(Buffer.of(HEARTBEAT)), HEARTBEAT_MS);
  }

  /** Once for all secrets that came together, and after the socket is there. */
  function keep(): void {
    if (!isKeeping) return;
    isKeeping = false;
    if (folder !== undefined && recoveryKey !== undefined) {
      keepSecrets(join(folder, RECOVERY_NAME), recoveryKey, secrets);
    }
  }

  async function secretOf({ from }: Bind): Promise<Omit<HeldCredential, "auth">> {
    if ("secret" in from) {
      const secret = secrets.get(from.secret);
      if (secret === undefined)
        throw new CredentialFileError("unreadable", "the key was lost when the previous helper ended");
      return { secret, hosts: from.hosts.filter((host) => boundHost(host) === host) };
    }
    if (store === undefined) throw new CredentialFileError("unreadable", "the credential file was not opened");
    if (from.provider === LOGIN_PROVIDER)
      throw new CredentialFileError("unreadable", "a login is not a key of a model");
    const file = readCredentialFile(store.path);
    const entry = file?.entries.find(({ provider, name }) => provider === from.provider && name === from.name);
    if (file === undefined || entry === undefined) {
      throw new CredentialFileError("unreadable", `${from.provider}/${from.name} is no longer stored`);
    }
    const secret = openSecret(file, store.key, entry);
    if (entry.place === "file") return { secret, hosts: entry.hosts };
    const { lookUpInKeychain } = await import("./helper-keychain.ts");
    return { secret: await lookUpInKeychain(entry), hosts: entry.hosts };
  }

  /** Once for each, whether or not a model needs it: a file may hold it as well, and one that is bound was told of when it came. */
  function tell(secret: Buffer): void {
    if (toldOf.has(secret)) return;
    toldOf.add(secret);
    const fingerprint = fingerprintSecret(secret);
    if (fingerprint !== undefined) say({ type: "known", fingerprint });
  }

  /** All of a file that can be opened: one that was damaged hides no other. A keychain would ask the person. */
  function tellStored({ path, key }: NonNullable<typeof store>): void {
    const orSay = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        if (!(error instanceof CredentialFileError)) throw error;
        say({ type: "untold", detail: error.message });
      }
    };
    orSay(() => {
      const file = readCredentialFile(path);
      for (const entry of file?.entries ?? []) {
        if (file === undefined || entry.place !== "file") continue;
        orSay(() => {
          const secret = openSecret(file, key, entry);
          const record = entry.provider === LOGIN_PROVIDER ? parseLoginRecord(secret) : undefined;
          for (const one of record === undefined ? [secret] : secretsOf(record)) tell(one);
        });
      }
    });
  }

  async function bind(command: Bind): Promise<void> {
    const { id, auth } = command;
    try {
      // What a credential was bound to once it stays bound to.
      if (!credentials.has(id)) {
        const held = await secretOf(command);
        credentials.set(id, { ...held, auth });
        tell(held.secret);
      }
      say({ type: "bound", id });
    } catch (error) {
      const problem = error instanceof CredentialFileError ? error.problem : "unreadable";
      say({ type: "refused", id, problem, detail: error instanceof Error ? error.message : String(error) });
    }
  }

  function reach(remote: Remote): void {
    const { id } = remote;
    const held = new Map<string, Buffer>();
    for (const { secret } of Object.values(remote.headers)) {
      const found = secrets.get(secret);
      if (found === undefined) {
        say({ type: "refused", id, problem: "unreadable", detail: "the key was lost when the previous helper ended" });
        return;
      }
      held.set(secret, found);
    }
    // Loaded for whoever has such a server, when it is first asked.
    remotes.set(id, (request, response, url) => {
      void import("./helper-remote.ts").then(({ forwardRemote }) =>
        forwardRemote(request, response, url, { remote, secrets: held, tokens }),
      );
    });
    say({ type: "bound", id });
  }

  /** One for all servers: those of two sessions refresh together. */
  function tokens(): Promise<LoginTokens> {
    loginTokens ??= Promise.all([import("./login-tokens.ts"), loginStore()]).then(([{ createLoginTokens }, logins]) =>
      createLoginTokens(logins, tell),
    );
    return loginTokens;
  }

  async function loginStore(): Promise<LoginStore> {
    const { createLoginStore } = await import("./login-store.ts");
    if (store === undefined) throw new CredentialFileError("unreadable", "the credential file was not opened");
    return createLoginStore(store);
  }

  function prepareLogin(command: Login): void {
    remotes.set(command.id, (request, response) => {
      const clientSecret = secrets.get(command.clientSecret ?? "")?.toString("utf8");
      void import("./helper-login.ts").then(({ answerLogin }) =>
        answerLogin(request, response, { command, store: loginStore, clientSecret, tell }),
      );
    });
    say({ type: "bound", id: command.id });
  }

  function take(command: HelperCommand, body: Buffer): void {
    switch (command.type) {
      case "hello":
        listen(command);
        break;
      case "recovery":
        recoveryKey = body;
        if (folder !== undefined) secrets = keptSecrets(join(folder, RECOVERY_NAME), body);
        for (const secret of secrets.values()) tell(secret);
        break;
      case "secret":
        secrets.set(command.id, body);
        tell(body);
        if (!isKeeping) setImmediate(keep);
        isKeeping = true;
        break;
      case "store":
        store = { path: command.path, key: body };
        tellStored(store);
        break;
      case "sync":
        // From here on a helper that dies does not take a key with it.
        keep();
        say({ type: "synced" });
        break;
      case "bind":
        void bind(command);
        break;
      case "remote":
        reach(command);
        break;
      case "login":
        prepareLogin(command);
        break;
    }
  }
  const read = createFrameReader(take);
  process.stdin.on("data", (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      say({ type: "failed", detail: error instanceof Error ? error.message : String(error) });
      end(1);
    }
  });
}

/** Should this process crash, what the system writes of its memory leaves out all that holds keys. */
function keepOutOfCoreDumps(): void {
  try {
    writeFileSync("/proc/self/coredump_filter", "0");
  } catch {
    // Not Linux, or no /proc: docs/guide/credentials.md says what that means.
  }
}

/**
 * While the engine still works on its first request: a request of our own, which is refused, goes through all the code that the
 * engine's will go through.
 */
function warmUp(socketPath: string): void {
  const { request } = process.getBuiltinModule("node:http");
  const sent = request({ socketPath, host: "127.0.0.1", method: "POST" }, (response) => {
    response.resume();
    process.getBuiltinModule("node:https");
  });
  sent.on("error", () => undefined); // the engine went away at once
  sent.end();
}

/** Keys of the environment are nowhere else any more: a helper that takes over after a crash finds them here, sealed. */
function keepSecrets(path: string, key: Buffer, secrets: ReadonlyMap<string, Buffer>): void {
  const plain = Buffer.from(JSON.stringify([...secrets].map(([id, secret]) => [id, secret.toString("base64")])));
  try {
    writeFileSync(path, sealBox(key, plain, RECOVERY_LABEL), { mode: 0o600 });
  } catch {
    rmSync(path, { force: true }); // a disk that is full: a helper that takes over then says that the key was lost
  } finally {
    plain.fill(0);
  }
}

function keptSecrets(path: string, key: Buffer): Map<string, Buffer> {
  try {
    const plain = openBox(key, readFileSync(path), RECOVERY_LABEL);
    const entries = plain === undefined ? [] : (JSON.parse(plain.toString()) as [string, string][]); // sealed by us
    return new Map(entries.map(([id, secret]) => [id, Buffer.from(secret, "base64")]));
  } catch {
    return new Map(); // the first helper of a run finds nothing; a later one that finds nothing says so when it is asked
  }
}

function removeFolder(folder: string): void {
  try {
    for (const name of [SOCKET_NAME, RECOVERY_NAME]) rmSync(join(folder, name), { force: true });
    rmdirSync(folder);
  } catch {
    // The engine takes it away too; who is first does not matter.
  }
}
