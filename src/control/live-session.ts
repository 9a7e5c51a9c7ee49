/** What control needs of a session that is open: its engine, and what the composition root can do with it. */
import type { EngineSession, SlashRegistry } from "#engine";
import type { ClientId, CommandOf, Label, ReplyOf, SessionId } from "#protocol";

export type RestoreCommand = CommandOf<"UndoTurn"> | CommandOf<"UndoCall"> | CommandOf<"Redo">;

/** What a new session knows of the one that it continues. */
export interface ImportedTurns {
  readonly from: SessionId;
  /** Empty: nothing. */
  readonly summary: string;
  readonly labels: readonly Label[];
  readonly planMode: boolean;
}

export interface LiveSession {
  readonly engine: EngineSession;
  /** What people can type in it. */
  readonly slash: SlashRegistry;
  /** Whole inputs that can stand in the place of what somebody types; never waits long. */
  completeInput(text: string): Promise<readonly string[]>;
  /** Publishes the first event, once somebody is attached to see it, and takes up what an earlier run left behind. */
  begin(): Promise<void>;
  /** The session is about to end. */
  finish(): Promise<void>;
  /** Lets another process have the session. */
  release(): Promise<void>;
  /** Turns plan mode on or off; enforced below. */
  setPlanMode(active: boolean): Promise<void>;
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
