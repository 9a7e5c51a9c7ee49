/**
 * The engine inside another program: configuration, tools and a handler in, `prompt` and `cancel` out. Text and tool calls
 * arrive as whole blocks, in order. `import { createHarness } from "harness-runtime"`.
 */

import { resolve } from "node:path";
import { applyProject, defaultSettings, type PermissionRule, type Settings } from "#artifacts";
import { defined } from "#base";
import type { ControlClient } from "#control";
import { type Plugin, type Tool, type ToolContext, type TurnSummary, textOutput } from "#engine";
import { assembleHarness, type Harness, openEmbeddedProject, PROJECT_FILES, undoPlace } from "#program";
import { createAnswerCollector, type InputBlock, ReasonError, reasonText, type SessionId } from "#protocol";
import { createHeldKeys, defaultModel } from "#providers";
import { createSigner, harnessPaths, headsDirectory, machineKeySource } from "#stores";
import type { UndoReport } from "#undo";
import { createSystemClock } from "#world";
import { createBlockHandler, type EventHandler, type PermissionQuestion } from "./program/embed-blocks.ts";
import { checkOptions, checkTool, inputOf, modelForKey } from "./program/embed-checks.ts";

export type {
  HookCall,
  HookDecision,
  Plugin,
  PluginHook,
  PluginHost,
  PluginSlashCommand,
  PluginTransport,
  ServedClient,
  ServedEngine,
  ServedPeer,
  SlashAnswer,
  SlashArgument,
  SlashCall,
  Tool,
  ToolContext,
  ToolOutput,
  TransportAddress,
  TransportServer,
} from "#engine";
export { ToolError, textOutput } from "#engine";
export { type Event, type Reason, ReasonError } from "#protocol";
export type { UndoReport } from "#undo";
export type { EventHandler, PermissionQuestion } from "./program/embed-blocks.ts";

/** Model calls per prompt before it is ended. */
const DEFAULT_MAX_TURNS = 10;

const DEFAULT_MAX_TOKENS = 4096;

export interface HarnessConfig {
  /** `provider:name`, for example `anthropic:<model>`; default: a small model of the provider of `apiKey`, or of the first key in `env`. */
  readonly model?: string;
  /** Key for that model's provider; default: its variable in `env`. Never stored. */
  readonly apiKey?: string;
  /** Another address for that model's provider. */
  readonly baseUrl?: string;
  /** Of each response; default 4096. One that is cut there is asked for again with more. */
  readonly maxTokens?: number;
  readonly systemPrompt?: string;
  /** Model calls per prompt; default 10. */
  readonly maxTurns?: number;
  /** Where tools work; default: the current folder. */
  readonly workspace?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Calls of one response: `sequential`, `parallel`, or (default `auto`) as their class allows; what follows one that fails. */
  readonly tools?: Partial<Settings["tools"]>;
  /** Rules for tools that are not read-only; without one `onPermission` of the handler is asked, and without that the call is denied. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Keep the session log in this SQLite file, encrypted with the key of this machine; default: in memory. */
  readonly logFile?: string;
  /**
   * Use the project of the workspace: `harness.md` and `.harness/` with their tools, hooks, agents and rules. Every file must have been
   * acked on this machine, or be in `lockfile`: nobody can be asked here. Default: files of the workspace say nothing.
   */
  readonly project?: boolean;
  /** Accept exactly the project files listed there. */
  readonly lockfile?: string;
  /** Keep what mutating calls change in the workspace, sealed with the key of this machine, for `undo` and `redo`. Default: nothing. */
  readonly undo?: boolean;
  readonly plugins?: readonly Plugin[];
}

/** A tool in its smallest form. */
export interface SimpleTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Default `mutating`: it then needs an allow rule, or somebody to ask. */
  readonly class?: Tool["class"];
  /** What it returns goes to the model; what it throws becomes an error result. */
  execute(input: Readonly<Record<string, unknown>>, context: ToolContext): Promise<string> | string;
}

export interface PromptResult extends TurnSummary {
  /** The text of the last response. */
  readonly text: string;
}

export interface EmbeddedHarness {
  readonly session: SessionId;
  /**
   * Runs one turn. Resolves also when `maxTurns` is reached (`outcome: "step_limit"`). Rejects with TurnInProgress while one runs,
   * with the reason when it is cancelled or the model fails, and with what a handler threw, once the turn is over.
   */
  prompt(content: string | readonly InputBlock[], options?: { readonly signal?: AbortSignal }): Promise<PromptResult>;
  /** Ends the running prompt; safe when none runs. */
  cancel(): void;
  /** Takes back what the last prompt changed in the workspace. Needs `undo: true`. */
  undo(): Promise<UndoReport>;
  /** Makes again what was undone last. */
  redo(): Promise<UndoReport>;
  close(): Promise<void>;
}

export async function createHarness(
  config: HarnessConfig,
  tools: readonly (SimpleTool | Tool)[] = [],
  handler: EventHandler = {},
): Promise<EmbeddedHarness> {
  checkOptions(config, OPTIONS);
  tools.forEach(checkTool);
  const harness = await assemble(config, tools.map(toTool));
  const answer = createAnswerCollector();
  const blocks = createBlockHandler(handler);
  let handlerFailure: unknown;
  const fail = (error: unknown): void => {
    handlerFailure ??= error;
  };
  const client: ControlClient = harness.control.connect({
    identityClass: "human",
    interactive: handler.onPermission !== undefined,
    onEvent(event) {
      answer.add(event);
      if (event.kind === "TurnStarted") handlerFailure = undefined;
      if (event.kind === "PermissionRequested")
        void answerPermission({ question: event.payload, session: event.session }, client, handler, fail);
      if (handlerFailure !== undefined) return;
      try {
        blocks.handle(event);
      } catch (error) {
        fail(error);
      }
    },
  });
  const { session } = await client.submit({ kind: "CreateSession" });

  const cancelTurn = { kind: "CancelTurn", session } as const;
  function cancel(): void {
    client.submit(cancelTurn).catch(() => undefined); // closed already: there is nothing to cancel
  }

  return {
    session,
    async prompt(content, options = {}) {
      const sent = client.submit({ kind: "SendInput", session, content: await inputOf(session, content) });
      options.signal?.addEventListener("abort", cancel, { once: true });
      try {
        const { done } = await sent;
        if (options.signal?.aborted) cancel();
        const summary = await done;
        if (summary.reason !== undefined && summary.outcome !== "step_limit") {
          throw ReasonError.withMessage(summary.reason, summary.message ?? reasonText(summary.reason), {
            cause: summary,
          });
        }
        if (handlerFailure !== undefined) throw handlerFailure;
        return { ...summary, text: answer.text() };
      } finally {
        options.signal?.removeEventListener("abort", cancel);
      }
    },
    cancel,
    undo: async () => (await client.submit({ kind: "UndoTurn", session })).result,
    redo: async () => (await client.submit({ kind: "Redo", session })).result,
    close: () => harness.shutdown(),
  };
}

async function assemble(config: HarnessConfig, embedded: readonly Tool[]): Promise<Harness> {
  const env = config.env ?? process.env;
  const model = config.model ?? (config.apiKey === undefined ? undefined : modelForKey(config.apiKey));
  if (model === undefined && config.baseUrl !== undefined) {
    throw new ReasonError("UsageInvalid", "baseUrl needs the model that it is for");
  }
  const keys = config.apiKey === undefined ? env : { ...env, [EMBEDDED_KEY]: config.apiKey };
  const clock = createSystemClock();
  const key = machineKeySource(env);
  const warn = (message: string): void => process.emitWarning(message);
  const workspace = resolve(config.workspace ?? ".");
  const opened =
    config.project === true ? await openEmbeddedProject({ env, clock, warn }, workspace, config) : undefined;
  const own = settingsOf(config, model ?? defaultModel(createHeldKeys(keys)));
  const settings = opened === undefined ? own : applyProject(own, opened.project);
  if (settings.models.length === 0) {
    const how = "Set 'model' or 'apiKey', or a provider's key in 'env'";
    const detail =
      opened === undefined ? `${how}.` : `${how}, or name a model in ${PROJECT_FILES[0]} of the workspace.`;
    throw new ReasonError("ModelNotConfigured", detail);
  }
  return assembleHarness({
    settings,
    // What the user's agent has learned is not for a program that embeds one.
    ownMemories: false,
    ...defined({ projects: opened?.projects, model }),
    undo: config.undo === true ? undoPlace({ env, clock }) : "off",
    env: keys,
    // The key is in the memory of the embedding program already: it stays there, and is sent only where it is bound to.
    credentials: createHeldKeys(keys),
    clock,
    workspace,
    offlineAllowed: false,
    scenarioFile: (name) => name,
    store: config.logFile === undefined ? { kind: "memory" } : { kind: "sqlite", path: config.logFile, key },
    signer: createSigner(() => harnessPaths(env).configDir),
    ...(config.logFile === undefined ? {} : { heads: { directory: headsDirectory(env), key, clock, onProblem: warn } }),
    autoApprove: false,
    howToAddRule: (rule) => `allow: [${JSON.stringify(rule)}]`,
    toolSources: [{ name: "embedded", tools: () => embedded }],
    plugins: config.plugins ?? [],
  });
}

/** A handler that fails has allowed nothing. */
async function answerPermission(
  { question, session }: { readonly question: PermissionQuestion; readonly session: SessionId },
  client: ControlClient,
  { onPermission }: EventHandler,
  fail: (error: unknown) => void,
): Promise<void> {
  if (onPermission === undefined) return;
  let decision: "allow_once" | "deny" = "deny";
  try {
    if ((await onPermission(question)) === true) decision = "allow_once";
  } catch (error) {
    fail(error);
  }
  const { call_id } = question;
  // The question may be over by now: the turn was cancelled, or nobody waited so long.
  await client.submit({ kind: "AnswerPermission", session, call_id, decision }).catch(() => undefined);
}

const OPTIONS: readonly (keyof HarnessConfig)[] = [
  "model",
  "apiKey",
  "baseUrl",
  "maxTokens",
  "systemPrompt",
  "maxTurns",
  "workspace",
  "env",
  "tools",
  "allow",
  "deny",
  "logFile",
  "project",
  "lockfile",
  "undo",
  "plugins",
];

/** A variable of our own making, so that a key handed over in code takes the ordinary way. */
const EMBEDDED_KEY = "HARNESS_EMBEDDED_KEY";

function settingsOf(config: HarnessConfig, model: string | undefined): Settings {
  return {
    ...defaultSettings,
    models: model === undefined ? [] : [modelSettings(config, model)],
    tools: { ...defaultSettings.tools, ...config.tools },
    permissions: [...rules("allow", config.allow), ...rules("deny", config.deny)],
    maxSteps: config.maxTurns ?? DEFAULT_MAX_TURNS,
    ...defined({ systemPrompt: config.systemPrompt }),
  };
}

function modelSettings({ apiKey, baseUrl, maxTokens = DEFAULT_MAX_TOKENS }: HarnessConfig, model: string) {
  return {
    model,
    ...(apiKey === undefined ? {} : { apiKeyEnv: EMBEDDED_KEY }),
    maxTokens,
    ...defined({ baseUrl }),
  };
}

function rules(effect: "allow" | "deny", texts: readonly string[] = []): PermissionRule[] {
  return texts.map((rule) => ({ effect, rule, source: `config.${effect}` }));
}

function toTool(tool: SimpleTool | Tool): Tool {
  if ("run" in tool) return tool;
  return {
    name: tool.name,
    label: tool.name,
    class: tool.class ?? "mutating",
    description: tool.description,
    parameters: tool.inputSchema,
    run: async (args, context) => textOutput(await tool.execute(args, context)),
  };
}
