/**
 * The engine inside another program: configuration, tools and a handler in, `prompt` and `cancel` out. Text and tool calls
 * arrive as whole blocks, in order. `import { createHarness } from "harness-runtime"`.
 */

import { resolve } from "node:path";
import { applyProject, defaultSettings, type PermissionRule, type Settings } from "#artifacts";
import { defined } from "#base";
import { type ControlClient, createAnswerCollector } from "#control";
import { type Plugin, type Tool, type ToolContext, type TurnSummary, textOutput } from "#engine";
import { assembleHarness, openEmbeddedProject, undoPlace } from "#program";
import { ReasonError, reasonText, type SessionId } from "#protocol";
import { createHeldKeys } from "#providers";
import { createSigner, harnessPaths, headsDirectory, machineKeySource } from "#stores";
import type { UndoReport } from "#undo";
import { createSystemClock } from "#world";
import { createBlockHandler, type EventHandler } from "./program/embed-blocks.ts";

export type { Plugin, PluginHost, Tool, ToolContext, ToolOutput } from "#engine";
export { ToolError, textOutput } from "#engine";
export { type Event, type Reason, ReasonError } from "#protocol";
export type { UndoReport } from "#undo";
export type { EventHandler } from "./program/embed-blocks.ts";

/** Model calls per prompt before it is ended. */
const DEFAULT_MAX_TURNS = 10;

export interface HarnessConfig {
  /** `provider:name`, for example `anthropic:<model>`; default: the vendor of the first key found in `env`. */
  readonly model?: string;
  /** Key for that model's provider; default: its variable in `env`. Never stored. */
  readonly apiKey?: string;
  /** Another address for that model's provider. */
  readonly baseUrl?: string;
  readonly maxTokens?: number;
  readonly systemPrompt?: string;
  /** Model calls per prompt; default 10. */
  readonly maxTurns?: number;
  /** Where tools work; default: the current folder. */
  readonly workspace?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Rules for tools that are not read-only; without one such a call is denied, because nobody can be asked. */
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
  /** Default `mutating`: it then needs an allow rule. */
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
   * Runs one turn. Rejects with TurnInProgress while one runs, with the reason when it ends without an answer, and with
   * what a handler threw, once the turn is over.
   */
  prompt(content: string, options?: { readonly signal?: AbortSignal }): Promise<PromptResult>;
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
  const env = config.env ?? process.env;
  if (config.model === undefined && (config.apiKey !== undefined || config.baseUrl !== undefined)) {
    throw new ReasonError("UsageInvalid", { detail: "apiKey and baseUrl need a model that they are for" });
  }
  const keys = config.apiKey === undefined ? env : { ...env, [EMBEDDED_KEY]: config.apiKey };
  const clock = createSystemClock();
  const key = machineKeySource(env);
  const warn = (message: string): void => process.emitWarning(message);
  const workspace = resolve(config.workspace ?? ".");
  const opened =
    config.project === true ? await openEmbeddedProject({ env, clock, warn }, workspace, config) : undefined;
  const own = settingsOf(config);
  const harness = await assembleHarness({
    settings: opened === undefined ? own : applyProject(own, opened.project),
    ...defined({ projects: opened?.projects, model: config.model }),
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
    toolSources: [{ name: "embedded", tools: () => embedded }],
    plugins: config.plugins ?? [],
  });
  const embedded = tools.map(toTool);
  const answer = createAnswerCollector();
  const blocks = createBlockHandler(handler);
  let handlerFailure: unknown;
  const client: ControlClient = harness.control.connect({
    identityClass: "human",
    interactive: false,
    onEvent(event) {
      answer.add(event);
      if (event.kind === "TurnStarted") handlerFailure = undefined;
      if (handlerFailure !== undefined) return;
      try {
        blocks.handle(event);
      } catch (error) {
        handlerFailure = error;
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
      const sent = client.submit({ kind: "SendInput", session, content: [{ type: "text", text: content }] });
      options.signal?.addEventListener("abort", cancel, { once: true });
      try {
        const { done } = await sent;
        if (options.signal?.aborted) cancel();
        const summary = await done;
        if (summary.reason !== undefined) {
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

/** A variable of our own making, so that a key handed over in code takes the ordinary way. */
const EMBEDDED_KEY = "HARNESS_EMBEDDED_KEY";

function settingsOf(config: HarnessConfig): Settings {
  return {
    ...defaultSettings,
    models: config.model === undefined ? [] : [modelSettings(config, config.model)],
    permissions: [...rules("allow", config.allow), ...rules("deny", config.deny)],
    maxSteps: config.maxTurns ?? DEFAULT_MAX_TURNS,
    ...defined({ systemPrompt: config.systemPrompt }),
  };
}

function modelSettings({ apiKey, baseUrl, maxTokens }: HarnessConfig, model: string) {
  return {
    model,
    ...(apiKey === undefined ? {} : { apiKeyEnv: EMBEDDED_KEY }),
    ...defined({ baseUrl, maxTokens }),
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
