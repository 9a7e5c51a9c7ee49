/**
 * The sandbox of one session, as a process port: what runs through it runs inside, or not at all when it has to. It finds
 * out at the first command what there is, says so once, and keeps the protected names before and after each one.
 */
import { realpathSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import {
  type Clock,
  childEnvironment,
  type DomainList,
  EffectError,
  type ProcessExit,
  type ProcessPort,
  type ProcessSpec,
  type Resolve,
} from "#base";
import { type EgressProxy, type EgressRecord, startEgressProxy } from "./egress-proxy.ts";
import { createNameGuard, type NameGuard } from "./name-guard.ts";
import { nestedRepositories } from "./nested-repositories.ts";
import { type PlannedPolicy, planPolicy } from "./policy.ts";
import { isExecutable, probeSandbox } from "./probe.ts";
import type { Probe, Sandbox, SandboxNetwork, SandboxPolicy } from "./sandbox.ts";
import { createSessionFolder, type SessionFolder } from "./session-folder.ts";
import { setInside } from "./steering-variables.ts";
import { createWorkspaceReader, type TriedReaders } from "./workspace-reader.ts";

export type SandboxMode = "auto" | "required" | "off";

export interface SandboxStatus {
  readonly mode: SandboxMode;
  readonly active: boolean;
  readonly backend?: Sandbox["name"];
  /** What the network of a command is: that of the machine, none, or the hosts of the list. */
  readonly network: "open" | "none" | "listed";
  readonly domains?: readonly string[];
  /** One line for a person. */
  readonly detail: string;
}

export interface SandboxesOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files and folders of the harness itself, hidden from every command. */
  readonly ownPaths: readonly string[];
  readonly clock: Clock;
  /** For tests: how hosts are resolved, and which probe is answered. */
  readonly resolve?: Resolve;
  readonly probe?: () => Promise<Probe>;
}

export interface SandboxSession {
  readonly mode: SandboxMode;
  /** The workspace, absolute and real. */
  readonly root: string;
  /** Starts programs outside. */
  readonly processes: ProcessPort;
  /** Of this workspace, besides what is hidden from every session. */
  readonly hidden?: readonly string[];
  /** What it may reach; absent: the network is left as it is, empty: there is none. */
  readonly domains?: DomainList;
}

/** Awaited: what cannot be recorded does not happen. */
export interface SandboxRecorder {
  status(status: SandboxStatus): Promise<void>;
  connection(entry: EgressRecord): Promise<void>;
}

export interface CommandSandbox {
  readonly processes: ProcessPort;
  /** Tries it at the first call. */
  status(): Promise<SandboxStatus>;
  probe(): Promise<Probe>;
  /** What a command would be held to now; a string says why none can run here. */
  policy(): SandboxPolicy | string;
  /** Before the first command. */
  recordTo(recorder: SandboxRecorder): void;
  close(): Promise<void>;
}

/** One for the program: what was found out about the machine and which names are held is shared by all sessions. */
export function createSandboxes(options: SandboxesOptions): { open(session: SandboxSession): CommandSandbox } {
  const guard = createNameGuard();
  const tried: TriedReaders = new Map();
  let found: Promise<Probe> | undefined;
  return {
    open: (session) =>
      createCommandSandbox(options, session, { guard, tried }, (tryIt) => {
        found ??= options.probe?.() ?? tryIt();
        return found;
      }),
  };
}

function createCommandSandbox(
  options: SandboxesOptions,
  { root, processes: outside, hidden = [], domains, mode }: SandboxSession,
  { guard, tried }: { readonly guard: NameGuard; readonly tried: TriedReaders },
  probeOnce: (tryIt: () => Promise<Probe>) => Promise<Probe>,
): CommandSandbox {
  const { env, clock } = options;
  const ownPaths = [...options.ownPaths, ...hidden];
  const networkKind = domains === undefined ? "open" : domains.entries.length === 0 ? "none" : "listed";
  const homes = homeFolders(env);
  const path = childEnvironment(env, root).PATH ?? "";
  const reader = createWorkspaceReader({ root, ownPaths, path, env, processes: outside, tried });
  let recorder: SandboxRecorder = { status: async () => undefined, connection: async () => undefined };
  let folder: SessionFolder | undefined;
  let nested: ReturnType<typeof nestedRepositories> | undefined;
  let proxy: Promise<EgressProxy> | undefined;
  let told: Promise<SandboxStatus> | undefined;

  function plan(network: SandboxNetwork): PlannedPolicy | string {
    nested ??= nestedRepositories(root);
    folder ??= createSessionFolder(clock.now());
    return planPolicy({
      root,
      homes,
      ownPaths,
      env,
      tmp: folder.tmp,
      emptyFile: folder.emptyFile,
      network,
      nested: nested.folders,
      isHeld: guard.isHeld,
    });
  }

  function probe(): Promise<Probe> {
    return probeOnce(async () => {
      const planned = plan({ kind: networkKind === "open" ? "open" : "none" });
      if (typeof planned === "string") return { available: false, why: planned, steps: [] };
      // Nothing stands at the held names now, and trying it must leave no trace.
      const policy = { ...planned.policy, held: [] };
      return probeSandbox({
        platform: process.platform,
        path,
        processes: outside,
        policy,
        node: process.execPath,
      });
    });
  }

  async function status(): Promise<SandboxStatus> {
    const network = { network: networkKind, ...(domains && { domains: domains.entries }) } as const;
    if (mode === "off") {
      return { mode, active: false, network: "open", detail: "commands run without a sandbox: it is switched off" };
    }
    const planned = plan({ kind: "none" });
    const found = await probe();
    const why = typeof planned === "string" ? planned : found.available ? undefined : found.why;
    if (why === undefined && found.available) {
      const partial = nested?.complete === false ? "; not all repositories below the workspace were looked for" : "";
      const detail = `commands run in ${found.sandbox.name}; ${networkText(networkKind)}${partial}`;
      return { mode, active: true, backend: found.sandbox.name, ...network, detail };
    }
    const refuses = mode === "required" || networkKind !== "open";
    const consequence = refuses ? "commands are refused" : "commands run without a sandbox";
    return { mode, active: false, ...network, detail: `${consequence}: ${why}. Run: harness sandbox check` };
  }

  /** Once, and before the first command; a recorder that fails stops it. */
  function tell(): Promise<SandboxStatus> {
    told ??= status().then(async (current) => {
      await recorder.status(current);
      return current;
    });
    return told;
  }

  async function network(list: DomainList | undefined): Promise<SandboxNetwork> {
    if (networkKind !== "listed" || list === undefined) return { kind: networkKind === "open" ? "open" : "none" };
    folder ??= createSessionFolder(clock.now());
    const { socket } = folder;
    proxy ??= startEgressProxy({
      socket,
      domains: list,
      clock,
      record: (entry) => recorder.connection(entry),
      ...(options.resolve && { resolve: options.resolve }),
    });
    await proxy;
    // Loopback inside is the sandbox's own; one that the list names is the machine's, behind the proxy.
    const own = ["localhost", "127.0.0.1", "::1"].filter((host) => !list.entries.includes(host));
    return { kind: "listed", socket, noProxy: own.join(",") };
  }

  async function runInside(sandbox: Sandbox, spec: ProcessSpec, signal: AbortSignal): Promise<ProcessExit> {
    const planned = plan(await network(domains));
    if (typeof planned === "string") throw new EffectError("SandboxUnavailable", `the command was refused: ${planned}`);
    const file = findFile(spec, root, path);
    const { held, release } = await guard.hold(sandbox.holdsNames ? planned.policy.held : []);
    try {
      const policy = sandbox.holdsNames ? { ...planned.policy, held } : planned.policy;
      const { command, env: given } = setInside({ file, args: spec.args }, spec.env);
      const { file: program, args, env: added, monitor } = sandbox.wrap(command, policy);
      const wrapped = { ...spec, file: program, args, env: { ...added, ...given }, ...(monitor && { monitor }) };
      return await outside.run(wrapped, signal);
    } finally {
      await release();
      const said = [...guard.sweep(planned.watched), ...(nested?.sweepBegun() ?? [])];
      for (const line of said) spec.onOutput?.("stderr", Buffer.from(`[sandbox] ${line}\n`));
    }
  }

  return {
    processes: {
      async run(spec, signal) {
        if (spec.outsideSandbox === true) return (mode === "off" ? outside : reader).run(spec, signal);
        const current = await tell();
        if (mode === "off") return outside.run(spec, signal);
        const found = await probe();
        if (current.active && found.available) return runInside(found.sandbox, spec, signal);
        if (mode === "required" || networkKind !== "open") {
          throw new EffectError("SandboxUnavailable", unavailableText(current, mode));
        }
        return outside.run(spec, signal);
      },
    },
    status,
    probe,
    policy() {
      const planned = plan({ kind: networkKind === "open" ? "open" : "none" });
      return typeof planned === "string" ? planned : planned.policy;
    },
    recordTo(next) {
      recorder = next;
    },
    async close() {
      await (await proxy)?.close();
      folder?.remove();
      folder = undefined;
      proxy = undefined;
    },
  };
}

export function unavailableText({ detail }: SandboxStatus, mode: SandboxMode): string {
  const why = mode === "required" ? "the sandbox is required" : "the network is limited to a list of domains";
  return `${detail} (${why}, built-in: sandbox; to run commands without one all the same, set sandbox = "off")`;
}

function networkText(kind: SandboxStatus["network"]): string {
  if (kind === "open") return "the network is open";
  return kind === "none" ? "without network" : "the network ends at the listed domains";
}

/** Where secrets of this person can be: a changed HOME must not bring the real one into view. */
function homeFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  const named = [env.HOME, homedir(), passwdHome()].filter((path) => path !== undefined && isAbsolute(path));
  return [...new Set(named as string[])];
}

function passwdHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    // A user without an entry in the password file has no home there.
    return undefined;
  }
}

/** The program by its full path, looked up as the process port would: what is missing must be told as missing. */
function findFile(spec: ProcessSpec, root: string, searchPath: string): string {
  if (isAbsolute(spec.file)) return spec.file;
  if (spec.file.includes("/")) return realpathOr(join(root, spec.cwd ?? ".", spec.file));
  const found = (spec.env?.PATH ?? searchPath)
    .split(":")
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, spec.file))
    .find(isExecutable);
  if (found === undefined) throw new EffectError("NotFound", `the program ${spec.file} does not exist`);
  return found;
}

function realpathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new EffectError("NotFound", `the program ${path} does not exist`);
  }
}
