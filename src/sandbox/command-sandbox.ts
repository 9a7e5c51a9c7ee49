/**
 * The sandbox of one session, as a process port. The confinement that comes with a command decides how it runs: the reader and the
 * workspace confinement in a sandbox or not at all, outside only what the gate says may run there. Says once, before the first command,
 * what it found.
 */
import { relative } from "node:path";
import { type Clock, type DomainList, EffectError, type ProcessPort, type ProcessSpec } from "#base";
import { type Resolve, startReaped } from "#world";
import { createConfinedRuns, DEFAULT_READER_TIMEOUT_MS, type ServerPlace } from "./confined-run.ts";
import type { EgressRecord } from "./egress-connections.ts";
import { namedByGit } from "./guarded-names.ts";
import { openHeldJournal } from "./held-journal.ts";
import { createNameGuard, type NameGuard } from "./name-guard.ts";
import { findProgram, probeSandbox } from "./probe.ts";
import type { Probe, Sandbox, SandboxNetwork, SandboxPolicy } from "./sandbox.ts";
import { createSessionGround, createSystemViews } from "./session-ground.ts";
import { openSessionNetwork, type SessionNetwork } from "./session-network.ts";

export type SandboxMode = "auto" | "required" | "off";

export interface SandboxStatus {
  readonly mode: SandboxMode;
  readonly active: boolean;
  readonly backend?: Sandbox["name"];
  /** What allowed commands reach: the machine's network, every public host, the hosts of the list, or nothing. */
  readonly network: "open" | "public" | "listed" | "none";
  readonly domains?: readonly string[];
  /** One line for a person. */
  readonly detail: string;
}

export interface SandboxesOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files and folders of the harness itself, hidden from every command. */
  readonly ownPaths: readonly string[];
  readonly clock: Clock;
  /** Whether a file of a workspace holds secrets, by its path relative to that. */
  readonly isSecret: (path: string) => boolean;
  /** Where the program notes its placeholders, so that the next one removes those of a program that was killed. */
  readonly heldFolder?: string;
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
  /** What allowed commands may reach; absent: every public host, empty: nothing. */
  readonly domains?: DomainList;
  /** Allowed commands have the machine's network instead of the egress proxy. */
  readonly directNetwork?: boolean;
  /** Ports of the machine's loopback that allowed commands reach. */
  readonly loopbackPorts?: readonly number[];
  readonly readerTimeoutMs?: number;
  /** Folders of the machine that commands see besides the usual ones. */
  readonly readOnlyPaths?: readonly string[];
  /** Programs that a rule denies as a whole. Asked for each command. */
  readonly deniedPrograms?: () => readonly string[];
  /** For an MCP server instead of commands. */
  readonly server?: ServerPlace;
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
  /** What an allowed command would be held to now; a string says why none can run here. */
  policy(): SandboxPolicy | string;
  /** Files and folders that git's configuration makes steering files, relative to the workspace; also where nothing is confined. */
  namedByGit(): readonly string[];
  /** Before the first command. */
  recordTo(recorder: SandboxRecorder): void;
  close(): Promise<void>;
}

interface Shared {
  readonly guard: NameGuard;
  readonly systemViews: ReturnType<typeof createSystemViews>;
  /** What worked on this machine is kept; what failed is tried again. */
  probe(tryIt: () => Promise<Probe>): Promise<Probe>;
}

export interface Sandboxes {
  open(session: SandboxSession): CommandSandbox;
  /** Nothing but a placeholder stands there, because a command of any session is running. */
  isHeld(path: string): boolean;
}

/** One for the program: facts about the machine and the names that are held are shared by all sessions. */
export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const { heldFolder, clock } = options;
  let found: Promise<Probe> | undefined;
  const shared: Shared = {
    guard: createNameGuard(heldFolder === undefined ? undefined : openHeldJournal(heldFolder, () => clock.now())),
    systemViews: createSystemViews(options.clock),
    async probe(tryIt) {
      found ??= options.probe?.() ?? tryIt();
      const current = found;
      const probe = await current;
      if (!probe.available && found === current) found = undefined;
      return probe;
    },
  };
  return { open: (session) => createCommandSandbox(options, session, shared), isHeld: shared.guard.isHeld };
}

function createCommandSandbox(
  options: SandboxesOptions,
  session: SandboxSession,
  { guard, systemViews, probe: probeOnce }: Shared,
): CommandSandbox {
  const { env, clock, isSecret } = options;
  const { root, processes: outside, domains, mode, readOnlyPaths = [] } = session;
  const ownPaths = [...options.ownPaths, ...(session.hidden ?? [])];
  const networkKind = networkOf(session);
  const ground = createSessionGround(root, { env, clock, ownPaths, isSecret, readOnlyPaths }, systemViews);
  const runs = createConfinedRuns({
    root,
    outside,
    ground,
    guard,
    clock,
    ownPaths,
    readerTimeoutMs: session.readerTimeoutMs ?? DEFAULT_READER_TIMEOUT_MS,
    unixSockets: networkKind === "public" || networkKind === "open",
    deniedPrograms: session.deniedPrograms ?? (() => []),
    ...(session.server && { server: session.server }),
  });
  let recorder: SandboxRecorder = { status: async () => undefined, connection: async () => undefined };
  let network: Promise<SessionNetwork> | undefined;
  let published: Promise<SandboxStatus> | undefined;

  function probe(): Promise<Probe> {
    return probeOnce(() => {
      const { emptyFolder, emptyFile } = ground.folder();
      const system = ground.system();
      const { platform, arch: processor } = process;
      return probeSandbox({
        platform,
        processor,
        path: ground.path,
        processes: outside,
        system,
        emptyFolder,
        emptyFile,
      });
    });
  }

  async function status(): Promise<SandboxStatus> {
    const reached = { network: networkKind, ...(domains && { domains: domains.entries }) } as const;
    if (mode === "off") {
      return { mode, active: false, network: "open", detail: 'no sandbox: it is turned off (sandbox = "off")' };
    }
    const found = await probe();
    const planned = found.available ? runs.policy(plainNetwork(networkKind)) : found.why;
    if (found.available && typeof planned !== "string") {
      const isWhole = ground.survey().isComplete() && ground.surveyAround()?.isComplete() !== false;
      const partial = isWhole ? "" : "; Harness did not search every folder of the workspace";
      const detail = `commands run in ${found.sandbox.name}; ${networkText(networkKind)}${partial}`;
      return { mode, active: true, backend: found.sandbox.name, ...reached, detail };
    }
    const detail = found.available
      ? `the sandbox cannot confine commands in this workspace: ${planned}. Harness refuses all commands`
      : `no sandbox: ${planned}. Each command needs a person's approval. For details, run: harness sandbox check`;
    return { mode, active: false, ...reached, detail };
  }

  /** Once, and before the first command; a recorder that fails stops it. */
  function publishStatus(): Promise<SandboxStatus> {
    published ??= status().then(async (current) => {
      await recorder.status(current);
      return current;
    });
    return published;
  }

  async function sessionNetwork(sandbox: Sandbox): Promise<SessionNetwork | SandboxNetwork> {
    if (networkKind === "open" || networkKind === "none") return plainNetwork(networkKind);
    // Commands of the macOS backend have no way to the proxy.
    if (sandbox.name !== "bubblewrap") return { kind: "none" };
    if (network !== undefined && !(await network).isOpen()) network = undefined;
    network ??= openSessionNetwork({
      bwrap: sandbox.program,
      nsenter: findProgram("nsenter", ground.path),
      node: process.execPath,
      folder: ground.folder().path,
      domains,
      loopbackPorts: session.loopbackPorts ?? [],
      clock,
      record: (entry) => recorder.connection(entry),
      ...(options.resolve && { resolve: options.resolve }),
      start: startReaped,
    });
    const opening = network;
    opening.catch(() => {
      // Tried again by the next command.
      if (network === opening) network = undefined;
    });
    return opening;
  }

  async function runConfined(spec: ProcessSpec, signal: AbortSignal) {
    const found = await probe();
    if (!found.available) throw new EffectError("SandboxUnavailable", unavailableText(found.why, spec));
    if (spec.ownProgram) return runs.search(found.sandbox, spec, signal);
    if (session.server !== undefined) {
      return runs.server(found.sandbox, spec, await sessionNetwork(found.sandbox), signal);
    }
    if (spec.confinement !== "workspace") return runs.reader(found.sandbox, spec, signal);
    return runs.workspace(found.sandbox, spec, await sessionNetwork(found.sandbox), signal);
  }

  return {
    processes: {
      async run(spec, signal) {
        // Our own search needs none; its port is guarded.
        if (spec.ownProgram && (mode === "off" || !(await probe()).available)) return outside.run(spec, signal);
        if (spec.ownProgram) return runConfined(spec, signal);
        await publishStatus();
        if (spec.confinement === "outside") return outside.run(spec, signal);
        if (mode === "off") throw new EffectError("SandboxUnavailable", unavailableText("it is turned off", spec));
        return runConfined(spec, signal);
      },
    },
    status,
    probe,
    policy: () => runs.policy(plainNetwork(networkKind)),
    namedByGit() {
      const nested = ground.survey().repositories;
      const gitConfigurations = ground.gitConfigurations();
      return namedByGit({ root, home: ground.home, gitConfigurations, nested }).map((path) => relative(root, path));
    },
    recordTo(next) {
      recorder = next;
    },
    async close() {
      const open = network;
      network = undefined;
      // One that never opened has nothing to close.
      await open?.then((made) => made.close()).catch(() => undefined);
      ground.close();
    },
  };
}

function networkOf({ domains, directNetwork }: SandboxSession): SandboxStatus["network"] {
  if (domains === undefined) return directNetwork ? "open" : "public";
  return domains.entries.length === 0 ? "none" : "listed";
}

function plainNetwork(kind: SandboxStatus["network"]): SandboxNetwork {
  if (kind === "open") return { kind: "direct" };
  return { kind: kind === "none" ? "none" : "session" };
}

function unavailableText(why: string, { confinement }: ProcessSpec): string {
  const who = confinement === "workspace" ? "" : " that nobody allowed";
  return `there is no sandbox for a command${who}: ${why}. Run it where a person can approve running outside the sandbox, or set sandbox = "off" in your own config.toml`;
}

function networkText(kind: SandboxStatus["network"]): string {
  if (kind === "open") return "allowed commands use the machine's network directly";
  if (kind === "public") return "allowed commands reach public hosts through the egress proxy";
  return kind === "none" ? "without network" : "allowed commands reach the listed hosts";
}
