/** The tool chain: what one call is, and what every middleware around it sees. Embeds no policy. */
import type { Confinement, EffectPorts, Handler, Middleware } from "#base";
import type {
  CallId,
  CallOutcome,
  ClientId,
  JudgedOn,
  Label,
  Reason,
  ReasonError,
  SessionId,
  ToolOutputBlock,
  TurnId,
} from "#protocol";
import type { Attributes, HookPermission } from "./hook.ts";
import type { Tool } from "./tool.ts";

/**
 * Nobody is asked about the call: what would need an answer is refused. `by-rule`: what no rule of a person allows is refused as well.
 */
export type UnaskedCall = "quiet" | "by-rule";

export interface ToolCall {
  readonly id: CallId;
  readonly session: SessionId;
  readonly turn: TurnId;
  readonly step: number;
  /** 0 for the root agent. */
  readonly depth: number;
  /** The call that made this one, when it was not the model. */
  readonly parent?: CallId;
  /** How many calls are around it: 0 for one that the model made. */
  readonly nesting: number;
  /** The client whose input started the turn. */
  readonly originator: ClientId;
  /** The person who typed this very call: it needs no question. What denies a call denies it all the same. */
  readonly allowedBy?: ClientId;
  readonly tool: Tool;
  /** Validated against the tool's schema once past the validation middleware. */
  readonly args: Readonly<Record<string, unknown>>;
  /** They are not those that the call was announced with: a hook has changed them. */
  readonly isRewritten?: boolean;
  /** A person has changed it to these arguments and allowed that. */
  readonly approvedChange?: ApprovedChange;
  readonly unasked?: UnaskedCall;
  /** What hooks said about the permission question. */
  readonly hookSays?: HookPermission;
  /** Aborts on cancel; middleware may narrow it (timeouts). */
  readonly signal: AbortSignal;
  /** Why it may run; absent until it has been judged. */
  readonly judged?: Judgement;
  /** Absent until its intent is on the record. */
  readonly ticket?: Ticket;
  /** Absent until the gate has bound them to this call. */
  readonly ports?: EffectPorts;
  /** What the call has set going in the background; the same object for everyone on its way. Absent where nothing can be. */
  readonly beside?: Beside;
  progress(text: string): void;
  /** Notes something on the record of this call; the last value of a name counts. */
  annotate(attributes: Attributes): void;
}

/** A call as a person changed it when they were asked about it. */
export interface ApprovedChange {
  readonly args: ToolCall["args"];
  readonly by: string;
  /** Why they were asked; a question with another reason is asked again. */
  readonly why: string;
  /** Throws when what the call names is not what was there when they were asked. */
  recheck(call: ToolCall): Promise<void>;
}

/** Between whoever starts a background command and whoever has to see its end. */
export interface Beside {
  /** A command was started and goes on when the call has ended. */
  isOn: boolean;
  /** It has ended. */
  isOver: boolean;
  /** Awaited when it has ended, before that is on the record. */
  onEnd: () => Promise<void>;
}

/** The right to have effects: for one call, with these arguments, under this policy, for a while. */
export interface Ticket {
  readonly callId: CallId;
  readonly tool: string;
  /** The very object that was judged. */
  readonly args: ToolCall["args"];
  readonly argsHash: string;
  readonly policyVersion: string;
  /** On the monotonic clock. */
  readonly expiresMs: number;
  /** False once the call has ended. */
  readonly isOpen: boolean;
  /** Where no intent is on the record yet: writes down that a program or a server is about to be asked. What it rejects with refuses it. */
  intend?(effect: EffectNote): Promise<void>;
  /** Adds an effect to the record of the call. */
  note(effect: EffectNote): void;
}

export interface EffectNote {
  readonly port: "process" | "write" | "move" | "remove" | "connect" | "server" | "model" | "memory";
  /** A path, a program, a host, a tool of a server, the server that the model answers, a memory. */
  readonly target: string;
}

/** What decided about a call, and everything that was consulted on the way. */
export interface Judgement {
  readonly effect: "allow" | "ask" | "deny";
  /** `rule`, `quiet preset`, `read-only tool`, `person`, `--auto-approve`, `plan mode`, `built-in rule`. */
  readonly by: string;
  /** Where that is written. */
  readonly source?: string;
  readonly why: string;
  /** Where an allowed command runs; absent for other tools. */
  readonly confinement?: Confinement;
  /** Steering files that a person let this command change. */
  readonly steering?: readonly string[];
  /** Throws when what a person said yes to is not what is there any more. Asked right before an effect. */
  recheck?(): Promise<void>;
  readonly trail: readonly {
    readonly stage: string;
    readonly name: string;
    readonly source: string;
    readonly effect: string;
  }[];
}

export interface CallResult {
  readonly content: readonly ToolOutputBlock[];
  readonly outcome: CallOutcome;
  readonly reason?: Reason;
  readonly memoized?: boolean;
  /** Something was taken out of the content. */
  readonly redacted?: boolean;
  readonly labels?: readonly Label[];
  /** It did not run: a person changed it, and it has to pass validation, hooks and permission with the new arguments. */
  readonly changed?: ApprovedChange;
  /** What the decision about the call rested on, for the record. */
  readonly judgedOn?: JudgedOn;
  /** No further step follows, and the turn ends with this: what has to be kept with the call could not be stored, or it closes a loop. */
  readonly endsTurn?: ReasonError;
}

/** What judging found on the disk. */
export type DiskFacts = Pick<JudgedOn, "paths" | "looks">;

export type ToolHandler = Handler<ToolCall, CallResult>;
export type ToolMiddleware = Middleware<ToolCall, CallResult>;

/** A result that never reached the tool, or a failure of it, worded for the model. */
export function refusal(outcome: Exclude<CallOutcome, "ok">, reason: Reason, text: string): CallResult {
  return { content: [{ type: "text", text }], outcome, reason };
}
