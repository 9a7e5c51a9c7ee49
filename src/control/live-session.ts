/** What control needs of a session that is open: its engine, and what the composition root can do with it. */
import type { EngineSession, SlashRegistry } from "#engine";
import type { CallId, ClientId, CommandOf, Label, Mode, OpenedSession, ReplyOf, SessionId } from "#protocol";

export type RestoreCommand = CommandOf<"UndoTurn"> | CommandOf<"UndoCall"> | CommandOf<"Redo">;

export interface SessionAgreements {
  setMode(mode: Mode, by: ClientId): Promise<void>;
  /** Leaves plan mode with the text that the person approved: the given one, or the one that was proposed. */
  approve(plan: string | undefined, by: ClientId): Promise<void>;
  /** Rejects with NotAllowed where there is no plan. */
  closePlan(as: "done" | "dropped", by: ClientId): Promise<void>;
}

export interface SessionWork extends Required<Pick<OpenedSession, "mode" | "todos" | "jobs">> {
  readonly plan: OpenedSession["plan"] | undefined;
  /** Background commands that keep it open when nobody is attached. */
  readonly keptJobs: number;
}

/** What a new session knows of the one that it continues. */
export interface ImportedTurns {
  readonly from: SessionId;
  /** Empty: nothing. */
  readonly summary: string;
  readonly labels: readonly Label[];
  readonly planMode: boolean;
}

/** What a session may use at most, where whoever opens it says so: the tighter of these and the settings holds. */
export interface SessionLimits {
  /** In each turn. */
  readonly maxSteps?: number;
  /** With all of its delegates. */
  readonly maxCostUsd?: number;
}

/** How a session begins that no client has opened. */
export interface Beginning {
  readonly imported?: ImportedTurns;
  readonly limits?: SessionLimits;
}

export interface LiveSession {
  readonly engine: EngineSession;
  /** What people can type in it. */
  readonly slash: SlashRegistry;
  /** Whole inputs that can stand in the place of what somebody types; never waits long. */
  completeInput(text: string, by: ClientId): Promise<readonly string[]>;
  /** Publishes the first event, once somebody is attached to see it, and takes up what an earlier run left behind. */
  begin(): Promise<void>;
  /** The session is about to end. */
  finish(): Promise<void>;
  /** Lets another process have the session. */
  release(): Promise<void>;
  /** What the person and the agent agree on; enforced below. */
  readonly agreements: SessionAgreements;
  /** What it is about and what goes on beside its turns, for whoever looks at it. */
  work(): SessionWork;
  /** What it runs with now. */
  describe(): Promise<ReplyOf<"DescribeSession">["result"]>;
  /** What its calls changed in the workspace, redacted. Rejects with NotAllowed where nothing is kept. */
  changes(query: Omit<CommandOf<"DescribeChanges">, "kind" | "session">): Promise<ReplyOf<"DescribeChanges">["result"]>;
  /** A file that an ack is asked for, redacted. Throws CallNotFound when it no longer is. */
  describeAck(callId: CallId): ReplyOf<"DescribeAck">["result"];
  /** The permission rules in force, those of answers last. */
  rules(): ReplyOf<"ListRules">["result"];
  /** Both throw RuleNotFound for a rule that no answer has added. */
  revokeRule(rule: string, by: ClientId): Promise<void>;
  promoteRule(rule: string, by: ClientId): Promise<void>;
  /** Changes values of the run context; null removes one. */
  setContext(values: CommandOf<"SetContext">["values"]): Promise<void>;
  /**
   * Takes back or makes again what calls of the session changed in the workspace, and publishes what was done. The report;
   * rejects with NothingToUndo, or with NotAllowed where nothing is kept.
   */
  restore(command: RestoreCommand, by: ClientId): Promise<ReplyOf<RestoreCommand["kind"]>["result"]>;
  /** False when the model of the next step is known to read none. */
  takesImages(): boolean;
  /** Checks that a model can be used, then makes it the next step's. */
  setModel(model: string): Promise<void>;
}
