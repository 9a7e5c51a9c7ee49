/** Files that wait for an ack, put to whoever is attached: each by its content, on the record, answered once. */
import { fileKinds, isOptionalKind } from "#artifacts";
import { defined } from "#base";
import type { AckAnswer, Approver, EventBus } from "#engine";
import { type CallId, type EventPayload, type IdMint, ReasonError, type ReplyOf, type TurnId } from "#protocol";
import type { WaitingFile } from "#trust";
import type { Asking } from "./questions.ts";

type Outcome = EventPayload<"AckSettled">["outcome"];

export interface AskedFile {
  /** As it is shown. */
  readonly waiting: WaitingFile;
  /** Whether the file is still what is shown. */
  isCurrent(): boolean;
  /** Keeps the answer; throws where it cannot be written. */
  keep(answer: "accept" | "deny"): void;
}

/** Puts one file to a person. Rejects only where the question could not be recorded. */
export type AskAck = (asked: AskedFile) => Promise<Outcome>;

export interface Acks {
  ask(at: { readonly turn: TurnId; readonly signal: AbortSignal }, asked: AskedFile): Promise<Outcome>;
  /** Throws CallNotFound for one that is no longer asked about. */
  describe(callId: CallId): ReplyOf<"DescribeAck">["result"];
}

export interface AckParts {
  readonly bus: Pick<EventBus, "publish" | "redacted">;
  readonly approver: Pick<Approver, "ack" | "canAnswer">;
  readonly asking: Asking;
  readonly ids: Pick<IdMint, "call">;
}

export function createAcks({ bus, approver, asking, ids }: AckParts): Acks {
  const shown = new Map<CallId, WaitingFile>();

  async function ask(
    { turn, signal }: { readonly turn: TurnId; readonly signal: AbortSignal },
    asked: AskedFile,
  ): Promise<Outcome> {
    if (!approver.canAnswer(turn)) return "unanswered";
    const { waiting } = asked;
    const { file, hash: sha256 } = waiting;
    const callId = ids.call();
    // Waits before the question is published: whoever sees it may answer at once.
    const unpublished = new AbortController();
    const answered = approver.ack({ turn, callId, file, sha256 }, AbortSignal.any([signal, unpublished.signal]));
    shown.set(callId, waiting);
    try {
      await bus.publish("AckRequested", { turn, call_id: callId, ...factsOf(waiting), ...asking });
    } catch (error) {
      unpublished.abort();
      shown.delete(callId);
      (await answered)?.onRecord?.(Promise.reject(error));
      throw error;
    }
    const given = await answered;
    shown.delete(callId);
    const outcome =
      given === undefined ? "unanswered" : keptOutcome(given, asked, () => shownOf(bus, waiting).text === waiting.text);
    const settled = bus.publish("AckSettled", {
      ...{ turn, call_id: callId, file, outcome },
      ...defined({ sha256, by: given?.by }),
    });
    given?.onRecord?.(outcome === "changed" ? settled.then(() => refuse(file)) : settled);
    await settled;
    return outcome;
  }

  return {
    ask,
    describe(callId) {
      const waiting = shown.get(callId);
      if (waiting === undefined) throw new ReasonError("CallNotFound", { call_id: callId });
      return shownOf(bus, waiting);
    },
  };
}

/** Without its secrets, so it may hide what would be in force. */
function shownOf(bus: AckParts["bus"], { file, hash: sha256, text, acked }: WaitingFile) {
  const report = { file, ...defined({ sha256, text, acked_text: acked?.text }) };
  const { payload } = bus.redacted("CustomEvent", { namespace: "acks", kind: "file", payload: report });
  return payload as typeof report; // the redactor changes texts alone
}

/** Before anybody is told: what is on the record as accepted is in the lock. */
function keptOutcome({ answer, onRecord }: AckAnswer, asked: AskedFile, isShownWhole: () => boolean): Outcome {
  if (answer === "later") return "unanswered";
  if (!asked.isCurrent()) return "changed";
  try {
    if (answer === "accept" && !isShownWhole()) throw partlyHidden(asked.waiting.file);
    asked.keep(answer);
  } catch (error) {
    onRecord?.(Promise.reject(error));
    return "unanswered";
  }
  return answer === "accept" ? "accepted" : "denied";
}

function partlyHidden(file: string): ReasonError {
  const detail = `${file} cannot be accepted here: a part that looks like a secret is hidden. Review the whole file with: harness ack.`;
  return new ReasonError("NotAllowed", detail);
}

function refuse(path: string): never {
  throw new ReasonError("HookHashChanged", { path });
}

function factsOf({ file, kind, change, hash, text, acked, changed, deniedAt }: WaitingFile) {
  const shown = text ?? acked?.text ?? "";
  const { name, power } = fileKinds[kind];
  return {
    ...{ file, class: kind, name, power, change, is_optional: isOptionalKind(kind) },
    bytes: Buffer.byteLength(shown),
    lines: shown === "" ? 0 : shown.split("\n").length - (shown.endsWith("\n") ? 1 : 0),
    ...defined({
      sha256: hash,
      acked: acked && { sha256: acked.sha256, at: acked.at },
      denied_at: deniedAt,
      change_class: changed?.class,
      parts: changed && [...changed.parts],
    }),
  };
}
