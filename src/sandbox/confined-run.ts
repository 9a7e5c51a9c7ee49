/**
 * Runs one program in a confinement: plans the policy, holds the protected names, keeps the reader to its time and output, and looks
 * afterwards at what no mount could hold. A sandbox that cannot be made for this workspace is a refusal.
 */
import { join } from "node:path";
import { type Clock, EffectError, type ProcessExit, type ProcessPort, type ProcessSpec } from "#base";
import { CAUGHT, watchBeside } from "./beside-watch.ts";
import { createControlGroup } from "./control-group.ts";
import { sweptTogether } from "./held-back.ts";
import { type CheckoutWatch, watchCheckouts } from "./held-checkout.ts";
import { misplacedMount } from "./mount-check.ts";
import { makePins } from "./mount-pins.ts";
import type { NameGuard } from "./name-guard.ts";
import {
  type PlannedWorkspace,
  type PolicyOptions,
  planReader,
  planSearch,
  planServer,
  planWorkspace,
  planWritingServer,
  type ReaderOptions,
  unfitPath,
} from "./policy.ts";
import { programFile } from "./program-file.ts";
import { READER_LIMITS, WORKSPACE_LIMITS } from "./resource-limits.ts";
import type {
  CommandLine,
  HeldName,
  HiddenPath,
  Mount,
  Sandbox,
  SandboxNetwork,
  SandboxPolicy,
  WrappedCommand,
} from "./sandbox.ts";
import type { SessionGround } from "./session-ground.ts";
import type { SessionNetwork } from "./session-network.ts";
import { setInside } from "./steering-variables.ts";
import { prepareSweep } from "./workspace-sweep.ts";

export const DEFAULT_READER_TIMEOUT_MS = 10_000;
const READER_OUTPUT_BYTES = 1024 ** 2;
const MAX_COMPLAINT_CHARS = 500;
/** Git says within 20 ms which steering files differ; a large index takes longer to read. */
const GIT_TIMEOUT_MS = 5_000;
const NEVER = new AbortController().signal;
/** Where the search is inside. */
const INNER_PROGRAM = "/run/harness/program";

/** What an MCP server has besides what a command has. */
export interface ServerPlace {
  /** The folder that it keeps from one session to the next. */
  readonly state: string;
  /** Folders of the machine that it sees; absolute and real. */
  readonly paths: readonly string[];
  /** Folder of the program in which packages of servers are installed; real. */
  readonly packages: string;
  /** Files of its program that it sees as somebody approved them, whatever lies there now. */
  readonly files?: readonly Mount[];
  /** Folders of the workspace that it may change, absolute. Absent: none. */
  readonly writable?: readonly string[];
}

export interface ConfinedRunOptions {
  /** The workspace, absolute and real. */
  readonly root: string;
  /** Starts programs outside. */
  readonly outside: ProcessPort;
  readonly ground: SessionGround;
  readonly guard: NameGuard;
  readonly clock: Pick<Clock, "sleep" | "monotonicMs">;
  readonly ownPaths: readonly string[];
  readonly readerTimeoutMs: number;
  /** Whether allowed commands can make Unix sockets: with a list of hosts, nobody else's socket may be a way around it. */
  readonly unixSockets: boolean;
  /** Programs that a rule denies as a whole. Asked for each command. */
  readonly deniedPrograms: () => readonly string[];
  /** Absent for the commands of a session. */
  readonly server?: ServerPlace;
}

export interface ConfinedRuns {
  /** A command that nobody was asked about. */
  reader(sandbox: Sandbox, spec: ProcessSpec, signal: AbortSignal): Promise<ProcessExit>;
  /** An MCP server. One that may change the workspace is guarded as a command is. */
  server(
    sandbox: Sandbox,
    spec: ProcessSpec,
    network: SessionNetwork | SandboxNetwork,
    signal: AbortSignal,
  ): Promise<ProcessExit>;
  /** A command that a rule or a person allowed. `network` is undefined where it has the machine's or none. */
  workspace(
    sandbox: Sandbox,
    spec: ProcessSpec,
    network: SessionNetwork | SandboxNetwork,
    signal: AbortSignal,
  ): Promise<ProcessExit>;
  /** The search of this program. */
  search(sandbox: Sandbox, spec: ProcessSpec, signal: AbortSignal): Promise<ProcessExit>;
  /** What commands are held to now, for people; a string says why none can run. */
  policy(network: SandboxNetwork): SandboxPolicy | string;
}

export function createConfinedRuns(options: ConfinedRunOptions): ConfinedRuns {
  const {
    root,
    outside,
    ground,
    guard,
    clock,
    ownPaths,
    readerTimeoutMs,
    unixSockets,
    deniedPrograms,
    server: place,
  } = options;

  async function run(
    { file, args, env, monitor, inputs }: WrappedCommand,
    policy: SandboxPolicy,
    spec: ProcessSpec,
    given: ProcessSpec["env"],
    signal: AbortSignal,
  ): Promise<ProcessExit> {
    const { processes } = spec.confinement === "workspace" ? WORKSPACE_LIMITS : READER_LIMITS;
    const group = monitor && createControlGroup(processes);
    let complaint = "";
    const checkMounts = (pid: number): void => {
      const misplaced = misplacedMount(pid, policy);
      if (misplaced === undefined) return;
      complaint = `bwrap: ${misplaced} was replaced while the sandbox was being set up`;
      throw new Error(complaint);
    };
    const { confinement: _, mayChangeSteering: __, ownProgram: ___, ...plain } = spec;
    try {
      const wrapped: ProcessSpec = {
        ...plain,
        file,
        args,
        env: { ...env, ...given },
        ...(monitor && { monitor }),
        ...(inputs && { inputs }),
        ...(monitor && policy.writable.length > 0 && { onMade: checkMounts }),
        ...(group && { onWaiting: (pid: number) => group.add(pid) }),
        onOutput(stream, chunk) {
          if (stream === "stderr") complaint = (complaint + chunk.toString("utf8")).slice(0, MAX_COMPLAINT_CHARS);
          spec.onOutput?.(stream, chunk);
        },
      };
      const exit = await outside.run(wrapped, signal);
      // Without a monitor its exit code alone would say that nothing was found.
      if (!monitor && exit.code === 1 && complaint.startsWith("bwrap: ")) throw notConfined(complaint);
      return exit;
    } catch (error) {
      if (complaint.startsWith("bwrap: ")) throw notConfined(complaint);
      throw error;
    } finally {
      group?.remove();
    }
  }

  const cwdOf = ({ cwd = "." }: ProcessSpec): string => join(root, cwd);

  function base(cwd: string): PolicyOptions {
    const made = ground.base(cwd, deniedPrograms());
    if (place === undefined) return made;
    const unfit = unfitPath(place.paths, ownPaths, place.packages);
    if (unfit !== undefined) throw new EffectError("SandboxUnavailable", unfit);
    return { ...made, around: [...made.around, ...place.paths] };
  }

  function readerOptions(cwd: string): ReaderOptions {
    return { ...base(cwd), masked: closed(), settings: ground.folder().settings };
  }

  /** Secret files, pipes and sockets, as they are now. */
  function closed(): HiddenPath[] {
    const surveys = [ground.survey(), ground.surveyAround()].filter((survey) => survey !== undefined);
    for (const survey of surveys) survey.refresh();
    return surveys.flatMap((survey) => [...survey.secrets(), ...survey.channels()]);
  }

  /** In the network of its session, where it has one. */
  function wrapped(
    sandbox: Sandbox,
    command: CommandLine,
    policy: SandboxPolicy,
    network: SessionNetwork | SandboxNetwork,
  ): WrappedCommand {
    const inner = sandbox.wrap(command, policy);
    if (!("enter" in network)) return inner;
    return { ...inner, ...network.enter(inner), env: { ...inner.env, ...network.env } };
  }

  function plannedWorkspace(
    cwd: string,
    network: SandboxNetwork,
    mayChangeSteering: boolean,
  ): PlannedWorkspace | string {
    const { tmp, home, settings, shims } = ground.folder();
    const survey = ground.survey();
    return planWorkspace({
      ...base(cwd),
      tmp,
      privateHome: home,
      settings,
      ignored: ground.placeholders().mounts,
      shims: shims(),
      cache: ground.cache(),
      network,
      unixSockets,
      gitConfigurations: ground.gitConfigurations(),
      nested: survey.repositories,
      isHeld: guard.isHeld,
      mayChangeSteering,
      masked: unixSockets ? [] : survey.channels(),
    });
  }

  async function reader(sandbox: Sandbox, spec: ProcessSpec, signal: AbortSignal): Promise<ProcessExit> {
    const policy = planReader(readerOptions(cwdOf(spec)));
    if (typeof policy === "string") throw notConfined(policy);
    const { command, env } = setInside({ file: programFile(spec, root, ground.path), args: spec.args }, spec.env);
    const tooMuch = new AbortController();
    let printed = 0;
    const limited: ProcessSpec = {
      ...spec,
      confinement: "reader",
      timeoutMs: Math.min(spec.timeoutMs, readerTimeoutMs),
      onOutput(stream, chunk) {
        const left = READER_OUTPUT_BYTES - printed;
        printed += chunk.length;
        if (left > 0) spec.onOutput?.(stream, chunk.subarray(0, left));
        if (printed > READER_OUTPUT_BYTES) tooMuch.abort();
      },
    };
    const stop = AbortSignal.any([signal, tooMuch.signal]);
    const exit = await run(sandbox.wrap(command, policy), policy, limited, env, stop);
    const ended = tooMuch.signal.aborted && !signal.aborted ? "output" : exit.ended;
    const isPlain = ended === "cancelled" || (ended === "exit" && exit.code === 0);
    const { timeoutMs } = limited;
    return { ...exit, ended, ...(isPlain ? {} : { note: readerNote(readerTimeoutMs), timeoutMs }) };
  }

  /** Git as nobody asked for it: it reads a repository that may be hostile. */
  async function readGit(sandbox: Sandbox, args: readonly string[]): Promise<string | undefined> {
    let said = "";
    const onOutput = (stream: string, chunk: Buffer): void => {
      if (stream === "stdout") said += chunk.toString("utf8");
    };
    try {
      const { code } = await reader(sandbox, { file: "git", args, timeoutMs: GIT_TIMEOUT_MS, onOutput }, NEVER);
      return code === 0 ? said : undefined;
    } catch {
      // Without git there is no repository to compare.
      return undefined;
    }
  }

  let checkouts: CheckoutWatch | undefined;

  /** Protected names are held while it runs; what no mount can hold is looked at afterwards. `prepare` gets the names that are held. */
  async function guarded(
    sandbox: Sandbox,
    spec: ProcessSpec,
    network: SessionNetwork | SandboxNetwork,
    signal: AbortSignal,
    { plan, prepare }: { plan(): PlannedWorkspace | string; prepare?(held: readonly HeldName[]): void },
  ): Promise<{ readonly exit: ProcessExit; readonly lines: readonly string[] }> {
    await guard.ready();
    checkouts ??= watchCheckouts(
      root,
      () => [root, ...ground.survey().found()],
      (args) => readGit(sandbox, args),
    );
    const findings = await checkouts.begin();
    const planned = plan();
    if (typeof planned === "string") throw notConfined(planned);
    const { command, env } = setInside({ file: programFile(spec, root, ground.path), args: spec.args }, spec.env);
    const { held, release } = await guard.hold(sandbox.holdsNames ? planned.policy.held : []);
    const sweep = prepareSweep(root, ground.survey, guard);
    const lines: string[] = [];
    const say = (line: string): void => {
      lines.push(line);
      spec.onOutput?.("stderr", Buffer.from(`[sandbox] ${line}\n`));
    };
    let exit: ProcessExit;
    let failures: readonly Error[] = [];
    const beside = spec.onStarted && watchBeside(() => sweep(planned.watched), clock, signal);
    try {
      makePins(planned.pins);
      prepare?.(held);
      const policy = sandbox.holdsNames ? { ...planned.policy, held } : planned.policy;
      const confined = { ...spec, confinement: "workspace" } as const;
      const stop = beside?.signal ?? signal;
      exit = await run(wrapped(sandbox, command, policy, network), policy, confined, env, stop);
      if (beside?.isCaught && !signal.aborted) exit = { ...exit, note: CAUGHT };
    } finally {
      await release();
      const swept = sweptTogether([...(beside === undefined ? [] : [beside.close()]), sweep(planned.watched)]);
      failures = swept.failures;
      for (const line of [...swept.lines, ...failures.map(({ message }) => message)]) say(line);
    }
    const [failure] = failures;
    if (failure !== undefined) throw failure;
    const found = await findings();
    for (const line of found.lines) say(line);
    return { exit: found.isIncomplete && exit.code === 0 ? { ...exit, code: 1 } : exit, lines };
  }

  return {
    reader,

    async server(sandbox, spec, network, signal) {
      if (place === undefined) throw new Error("a server needs a place of its own");
      const { state, files = [], writable: folders = [] } = place;
      const options = () => ({
        ...readerOptions(cwdOf(spec)),
        ...{ network: kindOf(network), unixSockets: false, state, files },
      });
      if (folders.length > 0) {
        const plan = () => {
          const { repositories: nested } = ground.survey();
          const gitConfigurations = ground.gitConfigurations();
          const { isHeld } = guard;
          return planWritingServer({
            ...options(),
            ...{ folders, nested, gitConfigurations, isHeld, mayChangeSteering: false },
          });
        };
        const { exit, lines } = await guarded(sandbox, spec, network, signal, { plan });
        return lines.length === 0 ? exit : { ...exit, note: lines.join("\n") };
      }
      const policy = planServer(options());
      if (typeof policy === "string") throw notConfined(policy);
      const { command, env } = setInside({ file: programFile(spec, root, ground.path), args: spec.args }, spec.env);
      const confined = { ...spec, confinement: "workspace" } as const;
      return run(wrapped(sandbox, command, policy, network), policy, confined, env, signal);
    },

    async workspace(sandbox, spec, network, signal) {
      const { exit } = await guarded(sandbox, spec, network, signal, {
        plan: () => plannedWorkspace(cwdOf(spec), kindOf(network), spec.mayChangeSteering === true),
        prepare: (held) => ground.placeholders().update(held),
      });
      return exit;
    },

    async search(sandbox, spec, signal) {
      const survey = ground.survey();
      survey.refresh();
      const policy = planSearch({
        root,
        cwd: cwdOf(spec),
        ownPaths,
        masked: survey.channels(),
        emptyFile: ground.folder().emptyFile,
        program: { from: spec.file, to: INNER_PROGRAM },
        ...ground.above(),
      });
      return run(sandbox.wrap({ file: INNER_PROGRAM, args: spec.args }, policy), policy, spec, spec.env, signal);
    },

    policy(network) {
      const planned = plannedWorkspace(root, network, false);
      return typeof planned === "string" ? planned : planned.policy;
    },
  };
}

function kindOf(network: SessionNetwork | SandboxNetwork): SandboxNetwork {
  return "enter" in network ? { kind: "session" } : network;
}

function readerNote(timeoutMs: number): string {
  return `the command ran without approval, so it had a read-only workspace, no network, an empty home folder, no access to secret files, and limits of ${timeoutMs / 1000} s, 1 GiB of memory and 1 MiB of output; call exec with ask: true to ask the user`;
}

function notConfined(why: string): EffectError {
  const told = why.replace(/^bwrap: /, "").trim();
  const remedy = "For details, run harness sandbox check; or choose another workspace";
  return new EffectError("SandboxUnavailable", `${told}, so Harness refused it (built-in: sandbox). ${remedy}`);
}
