/**
 * The shell hooks of a session and of its delegates: those of the user, and those of the project that somebody acked and the user lets
 * run. Where their commands run, what they are told, and that a script is the one that was acked.
 */
import { createHash } from "node:crypto";
import { optionalFiles, type Project, type ShellHook } from "#artifacts";
import { type Confinement, EffectError } from "#base";
import type { Hook, HookCall, SessionCore } from "#engine";
import { ReasonError } from "#protocol";
import { modeOf, type SessionMode } from "./agreements.ts";
import type { SessionDependencies } from "./dependencies.ts";
import type { SessionWorld } from "./world.ts";

const MAX_SCRIPT_BYTES = 16 * 1024 * 1024;

export interface ShellHooks {
  readonly isEmpty: boolean;
  /** The hooks of an event, in the order in which they are asked: those of the session are behind the given ones. */
  behind(event: string, others: readonly Hook[]): readonly Hook[];
  /** Rejects where there is no sandbox and nobody has switched it off. */
  confinement(): Promise<Confinement>;
}

/** What hooks are told of the root session; absent until it is made. */
export interface HookedSession {
  readonly core: SessionCore;
  readonly mode: Pick<SessionMode, "plan" | "base">;
}

export interface ShellHookParts {
  readonly dependencies: Pick<SessionDependencies, "settings" | "autoApprove">;
  readonly world: Pick<SessionWorld, "sandbox">;
  readonly isResumed: boolean;
  readonly session: () => HookedSession | undefined;
  /** As it is in force now. */
  readonly project: () => Project | undefined;
}

/** Rejects with ConfigInvalid for a matcher that is not a regular expression. */
export async function openShellHooks(parts: ShellHookParts): Promise<ShellHooks> {
  const { settings } = parts.dependencies;
  const confinement = confinementIn(parts.world);
  const mayHaveProjectHooks = settings.allowProjectHooks && parts.project() !== undefined;
  if (settings.hooks.length === 0 && !mayHaveProjectHooks) {
    return { isEmpty: true, behind: (_event, others) => others, confinement };
  }
  const { createShellHooks } = await import("#governance/shell-hooks");
  const facts = factsOf(parts);
  const ofUser = createShellHooks(settings.hooks, facts);
  let made: { readonly of: Project | undefined; readonly hooks: readonly Hook[] } | undefined;
  const hooks = (): readonly Hook[] => {
    const project = mayHaveProjectHooks ? parts.project() : undefined;
    if (made === undefined || made.of !== project) {
      made = { of: project, hooks: [...createShellHooks(projectHooks(project), facts), ...ofUser] };
    }
    return made.hooks;
  };
  return {
    isEmpty: false,
    behind(event, others) {
      const own = hooks().filter((hook) => hook.event === event);
      return own.length === 0 ? others : [...others, ...own];
    },
    confinement,
  };
}

/** Those in force; one whose script was denied is off with it. */
export function projectHooks(project: Project | undefined): readonly ShellHook[] {
  if (project === undefined) return [];
  const denied = new Set(project.leftOut.filter(({ why }) => why === "denied").map(({ file }) => file));
  const declared = optionalFiles(project, "hooks").flatMap(({ content }) => content.hooks);
  return declared.filter(({ scripts = [] }) => !scripts.some((script) => denied.has(script)));
}

function factsOf({ dependencies, isResumed, session: made, project }: ShellHookParts) {
  const { settings, autoApprove } = dependencies;
  const session = (): HookedSession => {
    const now = made();
    if (now === undefined) throw new Error("the session is not there yet");
    return now;
  };
  return {
    model: () => session().core.state.model,
    permissionMode: () => {
      const mode = modeOf(session().mode);
      if (mode === "plan") return "plan";
      if (autoApprove) return "bypassPermissions";
      return mode === "accept-edits" ? "acceptEdits" : "default";
    },
    startedBy: isResumed ? "resume" : "startup",
    servers: settings.mcpServers.map(({ name }) => name),
    checkScripts: (hook: ShellHook, call: HookCall) => checkScripts(hook, call, project()),
    redact: (value: unknown) => redacted(session().core, value),
  } as const;
}

/** Looked at right before the command runs: a session writes files, also those of the project. */
async function checkScripts(
  { tier, scripts }: ShellHook,
  { ports }: HookCall,
  project: Project | undefined,
): Promise<void> {
  if (tier === "user") return;
  for (const path of scripts) {
    if ((await ports.files.stat(path))?.kind !== "file") continue;
    const hash = createHash("sha256")
      .update(await ports.files.read(path, MAX_SCRIPT_BYTES))
      .digest("hex");
    const acked = project && optionalFiles(project, "hookScript").find(({ file }) => file === path);
    if (acked?.hash !== hash) throw new ReasonError("HookHashChanged", { path });
  }
}

function confinementIn({ sandbox }: Pick<SessionWorld, "sandbox">): ShellHooks["confinement"] {
  return async () => {
    const hold = await sandbox.hold();
    if (hold === "sandbox") return "workspace";
    if (hold === "off") return "outside";
    const detail =
      'this machine has no sandbox for hooks; set sandbox = "off" in your own config.toml to run them without one';
    throw new EffectError("SandboxUnavailable", detail);
  };
}

/** As an event would be: the same rules for the same data. */
function redacted({ redaction }: SessionCore, value: unknown): unknown {
  return redaction.payload("CustomEvent", { namespace: "hooks", kind: "input", payload: value }).payload;
}
