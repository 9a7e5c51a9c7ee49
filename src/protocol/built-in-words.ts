/**
 * The slash commands that ship with the program, and what each one does: a command of the protocol, something that the engine runs
 * (RunSlashCommand), or something that the client does itself. Only they may be words without a namespace, apart from aliases.
 */
import { defined } from "#base";
import type { SessionCommandKind, SessionCommandOf } from "./command-rows.ts";
import { CallId, TurnId } from "./ids.ts";
import { ReasonError } from "./reasons.ts";
import { type ArgsSchema, type SlashArgs, type SlashCommand, textArguments, typedWord } from "./slash-commands.ts";
import { MODES } from "./work.ts";

type SubmittedKind = Exclude<SessionCommandKind, "AttachSession" | "DetachSession">;
type SlashProtocolCommand = { [Kind in SubmittedKind]: SessionCommandOf<Kind> }[SubmittedKind];

/** What carries out a row. A row that is not in the table below is always one of the engine. */
export type SlashDeed =
  | { readonly by: "client" }
  | { readonly by: "engine" }
  | { readonly by: "command"; readonly command: SlashProtocolCommand };

interface BuiltIn {
  readonly description: string;
  readonly args_schema: ArgsSchema;
  readonly deed: (args: SlashArgs) => SlashDeed;
}

const planDeeds: Readonly<Record<string, (text: string | undefined) => SlashDeed>> = {
  enter: () => ({ by: "command", command: { kind: "EnterPlanMode" } }),
  show: () => ({ by: "engine" }),
  approve: (plan) => ({ by: "command", command: { kind: "ExitPlanMode", approve: true, ...defined({ plan }) } }),
  reject: (reason) => ({ by: "command", command: { kind: "ExitPlanMode", approve: false, ...defined({ reason }) } }),
  done: () => ({ by: "command", command: { kind: "ClosePlan", as: "done" } }),
  drop: () => ({ by: "command", command: { kind: "ClosePlan", as: "dropped" } }),
};

const table = {
  help: byClient("list all commands by namespace"),
  clear: byClient("clear the screen; the log keeps everything"),
  resume: byEngine("switch to another session, as /sessions:resume", textArguments("session!")),
  quit: byClient("leave (also Ctrl-D, or Ctrl-C twice)"),
  model: byCommand("use another model from the next step on", textArguments("model!"), ({ model = "" }) => {
    return { kind: "SetModel", model };
  }),
  cancel: byCommand("cancel the running turn (also Ctrl-C)", textArguments(), () => ({ kind: "CancelTurn" })),
  queue: byCommand("send this input when the running turn has ended", textArguments("text!"), ({ text = "" }) => {
    return { kind: "QueueInput", content: [{ type: "text", text }] };
  }),
  steer: byCommand(
    "send a message to the running turn; the model reads it at its next step",
    textArguments("text!"),
    ({ text = "" }) => ({ kind: "SteerTurn", content: [{ type: "text", text }] }),
  ),
  mode: {
    description: "show the mode, or set it: ask, plan, or accept-edits (Edit and Write run unasked)",
    args_schema: { ...textArguments("mode"), properties: { mode: { type: "string", enum: MODES } } },
    deed({ mode }) {
      const known = MODES.find((one) => one === mode);
      return known === undefined ? { by: "engine" } : { by: "command", command: { kind: "SetMode", mode: known } };
    },
  },
  plan: {
    description: "enter plan mode; show, approve or reject the plan (text: the edited plan, or why not); done or drop",
    args_schema: {
      ...textArguments("action", "text"),
      properties: { action: { type: "string", enum: Object.keys(planDeeds) }, text: { type: "string" } },
    },
    deed({ action = "enter", text }) {
      return planDeeds[action]?.(text) ?? { by: "engine" };
    },
  },
  todos: {
    description: "show the agent's list of todos, or clear it",
    args_schema: { ...textArguments("action"), properties: { action: { type: "string", enum: ["clear"] } } },
    deed: () => ({ by: "engine" }),
  },
  jobs: byEngine("list the background commands of this session"),
  "jobs:output": byEngine("show what a background command printed last", textArguments("job!")),
  "jobs:stop": byEngine("end a background command", textArguments("job!")),
  "jobs:keep": byEngine(
    "hand a background command to the daemon: it goes on when nobody is attached",
    textArguments("job!"),
  ),
  compact: byCommand(
    "shorten the conversation now; a focus says what the summary must keep",
    textArguments("focus"),
    ({ focus }) => ({ kind: "CompactSession", ...(focus === undefined ? {} : { focus }) }),
  ),
  undo: byCommand(
    "revert what the last turn, or the named call or turn, changed in the folder",
    textArguments("target"),
    ({ target }) => restoreCommand("undo", target),
  ),
  redo: byCommand("apply again what was undone last", textArguments("target"), ({ target }) => {
    return restoreCommand("redo", target);
  }),
  diff: byEngine("show what this session has changed in its folder"),
  rules: {
    description: "show the permission rules; remove or save one that an answer added",
    args_schema: {
      ...textArguments("change", "rule"),
      properties: { change: { type: "string", enum: ["revoke", "keep"] }, rule: { type: "string" } },
    },
    deed({ change, rule }) {
      if (change === undefined) return { by: "engine" };
      if (rule === undefined) throw new ReasonError("InvalidCommand", `Name a rule: /rules ${change} RULE`);
      return { by: "command", command: { kind: change === "revoke" ? "RevokeRule" : "PromoteRule", rule } };
    },
  },
  permissions: byEngine("show the permission rules in effect, each with its source"),
  "permissions:promote": byCommand(
    "save a rule that an answer added in your configuration",
    textArguments("rule!"),
    ({ rule = "" }) => ({ kind: "PromoteRule", rule }),
  ),
  profile: byEngine("show the active profile and where each value comes from"),
  cost: byEngine("show the tokens and the cost of this session, by model"),
  health: byEngine(
    "show the state of each subsystem: engine, listeners, session log, redaction, keys, MCP servers, sandbox",
  ),
  "sessions:list": byEngine("list the sessions"),
  "sessions:resume": byEngine("switch to another session", textArguments("session!")),
  "sessions:pin": byEngine("keep a session open and its content from expiring", textArguments("session!")),
  "sessions:branch": byEngine(
    "continue in a copy of a session up to the end of its last turn, or of turn N: at N",
    textArguments("session!", "at"),
  ),
  "sessions:export": byEngine(
    "print a session, redacted; the format is --format jsonl (default) or --format markdown",
    textArguments("session", "format"),
  ),
  "sessions:diff": byEngine("list the files that a session has changed (default: this one)", textArguments("session")),
  schedule: {
    description: "list the scheduled prompts; add NAME 6h PROMPT (or five cron fields), remove NAME, run NAME",
    args_schema: {
      ...textArguments("action", "name", "text"),
      properties: {
        action: { type: "string", enum: ["add", "remove", "run"] },
        name: { type: "string" },
        text: { type: "string" },
      },
    },
    deed: ({ action, name, text }) => {
      if (action === undefined) return { by: "engine" };
      return { by: "command", command: scheduleCommand(action, name, text) };
    },
  },
  memory: byEngine(
    "show which memories joined the last turn and why; with words, find memories",
    textArguments("text"),
  ),
  mcp: byEngine("list the MCP servers of this session, with state, tools and last error"),
} satisfies Readonly<Record<string, BuiltIn>>;

/** As it is typed, without the slash: `model`, `sessions:list`. */
export type BuiltInWord = keyof typeof table;

export const builtInWords: readonly SlashCommand[] = Object.entries<BuiltIn>(table).map(
  ([word, { description, args_schema }]) => {
    const [namespace = "", name = ""] = word.includes(":") ? word.split(":") : ["", word];
    return { namespace, name, description, args_schema };
  },
);

export function isBuiltIn(command: Pick<SlashCommand, "namespace" | "name">): boolean {
  return Object.hasOwn(table, typedWord(command));
}

/** Throws InvalidCommand for arguments that fit the schema and still make no sense. */
export function deedOf(command: Pick<SlashCommand, "namespace" | "name">, args: SlashArgs): SlashDeed {
  const word = typedWord(command);
  const known: Readonly<Record<string, BuiltIn>> = table;
  return Object.hasOwn(known, word) ? (known[word]?.deed(args) ?? { by: "engine" }) : { by: "engine" };
}

function byClient(description: string): BuiltIn {
  return { description, args_schema: textArguments(), deed: () => ({ by: "client" }) };
}

function byEngine(description: string, args_schema: ArgsSchema = textArguments()): BuiltIn {
  return { description, args_schema, deed: () => ({ by: "engine" }) };
}

function byCommand(
  description: string,
  args_schema: ArgsSchema,
  command: (args: SlashArgs) => SlashProtocolCommand,
): BuiltIn {
  return { description, args_schema, deed: (args) => ({ by: "command", command: command(args) }) };
}

/** Of what follows the name: an interval or the five fields of a cron expression, and the prompt. */
const TIMES_AND_PROMPT = /^(?:(?<every>\d+[mhd])|(?<cron>[\d*]\S*(?:\s+\S+){4}))\s+(?<prompt>[\s\S]+)$/;

function scheduleCommand(action: string, name: string | undefined, text = ""): SlashProtocolCommand {
  const refuse = (detail: string): never => {
    throw new ReasonError("InvalidCommand", detail);
  };
  if (name === undefined) return refuse(`name the schedule: /schedule ${action} NAME; /schedule lists them`);
  if (action !== "add") {
    if (text !== "") return refuse(`/schedule ${action} takes a name alone`);
    return { kind: action === "run" ? "RunSchedule" : "RemoveSchedule", name };
  }
  const { every, cron, prompt } = TIMES_AND_PROMPT.exec(text)?.groups ?? {};
  if (prompt === undefined) {
    const example = "/schedule add triage 0 6 * * 1-5 Triage new issues.";
    return refuse(
      `say when it runs and what to do: an interval like 6h, or five cron fields, and the prompt: ${example}`,
    );
  }
  return { kind: "AddSchedule", name, prompt, ...defined({ every, cron }) };
}

function restoreCommand(action: "undo" | "redo", target: string | undefined): SlashProtocolCommand {
  if (target === undefined) return { kind: action === "redo" ? "Redo" : "UndoTurn" };
  if (CallId.is(target)) return { kind: action === "redo" ? "Redo" : "UndoCall", call_id: target };
  if (TurnId.is(target)) return { kind: action === "redo" ? "Redo" : "UndoTurn", turn: target };
  throw new ReasonError("InvalidCommand", `'${target.slice(0, 100)}' is neither a call (call_…) nor a turn (turn_…)`);
}
