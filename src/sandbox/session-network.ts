/**
 * The network of a session: one network namespace with nothing but a loopback, which all its allowed commands share. A server that
 * one command runs is reachable by another, and the only way out is the egress proxy. Abstract Unix sockets belong to a network
 * namespace, so those of the machine and of other sessions are out of reach, and commands of this session see each other's.
 */
import { closeSync, fstatSync, openSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type DomainList, EffectError, messageOf } from "#base";
import { createLineSplitter } from "#wire";
import type { OwnProcess, Resolve, startReaped } from "#world";
import type { EgressRecord } from "./egress-connections.ts";
import { startEgressProxy } from "./egress-proxy.ts";
import type { CommandLine } from "./sandbox.ts";
import { SESSION_FORWARDER } from "./session-forwarder.ts";

const PROXY_PORT = 3128;
const MAX_LOOPBACK_PORTS = 16;
/** A holder begins within 100 ms. */
const START_PATIENCE_MS = 10_000;
/** What the forwarder says first is a word and a number. */
const LINE_MAX_BYTES = 1024;
/** A forwarder ends as soon as its input has ended. */
const END_PATIENCE_MS = 1_000;

export interface SessionNetworkOptions {
  /** Absolute paths. */
  readonly bwrap: string;
  /** Undefined when it was not found. */
  readonly nsenter: string | undefined;
  readonly node: string;
  /** A folder of this session that nobody else can look into; the sockets of the proxy are made in it. */
  readonly folder: string;
  /** Undefined: every public host. */
  readonly domains: DomainList | undefined;
  /** Ports of the machine's 127.0.0.1 that commands reach under the same address. */
  readonly loopbackPorts: readonly number[];
  readonly clock: Clock;
  /** Awaited before a connection is opened. */
  readonly record: (entry: EgressRecord) => Promise<void>;
  readonly resolve?: Resolve;
  readonly start: typeof startReaped;
}

export interface SessionNetwork {
  /** The command line that starts `command`, a bubblewrap without `--unshare-net`, in the namespace. Throws when it was closed. */
  enter(command: CommandLine): CommandLine;
  /** Variables that lead programs to the proxy. */
  readonly env: Readonly<Record<string, string>>;
  /** False once the process that holds the namespace has ended: commands then reach nobody, and the caller opens another one. */
  isOpen(): boolean;
  /** Ends the holder and the proxy. Commands that still run reach nobody. Not while a command is being started. */
  close(): Promise<void>;
}

/** Rejects with `SandboxUnavailable` where the namespace cannot be made or entered: there is no other network for the commands. */
export async function openSessionNetwork(options: SessionNetworkOptions): Promise<SessionNetwork> {
  const cleanups: (() => void | Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    const { nsenter } = options;
    if (nsenter === undefined) throw new Error("nsenter was not found (install util-linux)");
    const routes = planRoutes(options);
    for (const { socket } of routes) rmSync(socket, { force: true });
    const [{ socket }, ...loopback] = routes;
    const proxy = await startEgressProxy({ ...options, socket, loopback });
    cleanups.push(() => proxy.close());
    const holder = await startHolder(options, routes);
    cleanups.push(() => holder.close());
    const namespaces = openNamespaces(holder);
    cleanups.push(() => namespaces.close());
    const enter = ({ file, args }: CommandLine): CommandLine => {
      return { file: nsenter, args: [...namespaces.arguments(), "--", file, ...args] };
    };
    await tryEntering(enter, holder, options);
    return { enter, env: proxyVariables(routes[0].port, options.domains), isOpen: holder.isRunning, close };
  } catch (error) {
    await close();
    const detail = `Harness could not set up the network of the session: ${messageOf(error)}`;
    throw new EffectError("SandboxUnavailable", `${detail}; the command did not run`, { cause: error });
  }
}

interface Route {
  /** On the loopback of the namespace. */
  readonly port: number;
  readonly socket: string;
}

/** The first leads to the proxy, the others to ports of the machine. */
function planRoutes({ loopbackPorts, folder }: SessionNetworkOptions): [Route, ...Route[]] {
  const ports = [...new Set(loopbackPorts)];
  const wrong = ports.find((port) => !Number.isInteger(port) || port < 1 || port > 65_535);
  if (wrong !== undefined) throw new Error(`${wrong} is not a port (network.loopback_ports)`);
  if (ports.length > MAX_LOOPBACK_PORTS) {
    throw new Error(`network.loopback_ports has more than ${MAX_LOOPBACK_PORTS} ports`);
  }
  let port = PROXY_PORT;
  while (ports.includes(port)) port += 1;
  const loopback = ports.map((one) => ({ port: one, socket: join(folder, `loopback-${one}.sock`) }));
  return [{ port, socket: join(folder, "egress.sock") }, ...loopback];
}

interface Holder {
  /** Of the forwarder. */
  readonly pid: number;
  /** Root needs no user namespace of its own, and some machines do not give it one. */
  readonly userNamespace: boolean;
  isRunning(): boolean;
  close(): Promise<void>;
}

async function startHolder(options: SessionNetworkOptions, routes: readonly Route[]): Promise<Holder> {
  if (process.getuid?.() === 0) {
    try {
      return await startHolderWith(options, routes, false);
    } catch {
      // Root in a container may lack the right; with a user namespace it is like anybody else.
    }
  }
  return startHolderWith(options, routes, true);
}

async function startHolderWith(
  { bwrap, node, start, clock }: SessionNetworkOptions,
  routes: readonly Route[],
  userNamespace: boolean,
): Promise<Holder> {
  const ended = Promise.withResolvers<void>();
  let isRunning = true;
  const forwarder = [node, "-e", SESSION_FORWARDER, ...routes.flatMap(({ port, socket }) => [String(port), socket])];
  const holder = await start(
    { program: bwrap, args: [...holderArguments(userNamespace), "--", ...forwarder], cwd: "/", env: {} },
    () => {
      isRunning = false;
      ended.resolve();
    },
  );
  const close = async (): Promise<void> => {
    holder.stdin.end();
    await within(ended.promise, END_PATIENCE_MS, clock);
    holder.kill();
    await ended.promise;
  };
  const answered = holder.awaitAnswer();
  try {
    const line = await within(Promise.race([firstLine(holder), ended.promise]), START_PATIENCE_MS, clock);
    const pid = /^ready (\d+)$/.exec(line ?? "")?.[1];
    if (pid === undefined) throw new Error(holder.errors().trim() || `${bwrap} did not start the forwarder`);
    return { pid: Number(pid), userNamespace, isRunning: () => isRunning, close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    answered();
  }
}

/** Neither `--dev` nor `--disable-userns`: each adds an inner user namespace, and an ordinary user could then not enter. */
function holderArguments(userNamespace: boolean): string[] {
  return [
    ...(userNamespace ? ["--unshare-user"] : []),
    "--unshare-net",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
    // For ports of the machine below 1024.
    "--cap-add",
    "CAP_NET_BIND_SERVICE",
    "--ro-bind",
    "/",
    "/",
    "--chdir",
    "/",
  ];
}

interface Namespaces {
  /** For nsenter. */
  arguments(): string[];
  close(): void;
}

/** Keeps them open here. A process id would lead somewhere else, perhaps to the open network, once the holder has ended. */
function openNamespaces({ pid, userNamespace }: Holder): Namespaces {
  const opened: number[] = [];
  const close = () => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor);
  };
  try {
    for (const kind of userNamespace ? (["net", "user"] as const) : (["net"] as const)) {
      const descriptor = openSync(`/proc/${pid}/ns/${kind}`, "r");
      opened.push(descriptor);
      if (fstatSync(descriptor).ino === statSync(`/proc/self/ns/${kind}`).ino) {
        throw new Error("bubblewrap did not create a namespace");
      }
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    arguments() {
      const [net, user] = opened.map((descriptor) => `/proc/${process.pid}/fd/${descriptor}`);
      if (net === undefined) throw new EffectError("SandboxUnavailable", "the network of the session was closed");
      return [...(user === undefined ? [] : [`--user=${user}`, "--preserve-credentials"]), `--net=${net}`];
    },
    close,
  };
}

/** Runs a shell that does nothing, as commands will run: in a bubblewrap inside the namespace. */
async function tryEntering(
  enter: SessionNetwork["enter"],
  { userNamespace }: Holder,
  { bwrap, start, clock }: SessionNetworkOptions,
): Promise<void> {
  const shell = ["--ro-bind", "/", "/", "--die-with-parent", "--", "/bin/sh", "-c", ":"];
  const { file, args } = enter({ file: bwrap, args: [...(userNamespace ? ["--unshare-user"] : []), ...shell] });
  const ended = Promise.withResolvers<number | null>();
  const trial = await start({ program: file, args, cwd: "/", env: {} }, ended.resolve);
  const answered = trial.awaitAnswer();
  const code = await within(ended.promise, START_PATIENCE_MS, clock);
  answered();
  if (code === 0) return;
  trial.kill();
  throw new Error(trial.errors().trim() || `${file} could not enter the namespace`);
}

/** For what most programs obey, and for those that have variables of their own. */
function proxyVariables(port: number, domains: DomainList | undefined): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  // Loopback inside is the session's own; one that the list names is the machine's, behind the proxy.
  const own = ["localhost", "127.0.0.1", "::1"].filter((host) => domains?.entries.includes(host) !== true);
  const variables = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: own.join(",") };
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  const java = ["http", "https"].map((scheme) => `-D${scheme}.proxyHost=127.0.0.1 -D${scheme}.proxyPort=${port}`);
  return {
    ...variables,
    ...Object.fromEntries(lower),
    NODE_USE_ENV_PROXY: "1",
    MAVEN_OPTS: java.join(" "),
    GRADLE_OPTS: java.join(" "),
  };
}

function firstLine({ stdout }: OwnProcess): Promise<string> {
  return new Promise((resolve) => {
    const lines = createLineSplitter(LINE_MAX_BYTES);
    stdout.on("data", (chunk: Buffer) => {
      const [line] = lines.push(chunk);
      if (line !== undefined) resolve("bytes" in line ? new TextDecoder().decode(line.bytes) : "");
    });
  });
}

/** Undefined when it takes longer. */
async function within<Value>(done: Promise<Value>, patienceMs: number, clock: Clock): Promise<Value | undefined> {
  const over = new AbortController();
  try {
    return await Promise.race([done, clock.sleep(patienceMs, over.signal).then(() => undefined)]);
  } finally {
    over.abort();
  }
}
