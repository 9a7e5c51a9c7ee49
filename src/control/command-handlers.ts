/** What each command does, one handler for each row of the protocol's table. Who may send it was checked before. */
import { type Clock, defined } from "#base";
import type { CustomHandler, EngineSession, SessionStore } from "#engine";
import {
  type CommandKind,
  type CommandOf,
  type EventPayload,
  PLAN_REJECTION,
  ReasonError,
  type SessionId,
  type TurnId,
} from "#protocol";
import type { Client, Reply } from "./client.ts";
import type { RestoreCommand } from "./live-session.ts";
import { type ScheduleDesk, scheduleHandlers } from "./schedule-handlers.ts";
import { refuseDelegate, refuseWhileEnding, refuseWhileRestoring, type SharedSession } from "./shared-session.ts";

const FROM_ITS_AGENT = "takes its input from the agent that it works for";
const AS_ITS_ROOT = "has the mode and the plan of the session at its root";

/** What the handlers reach of the control. */
export interface CommandDesk {
  readonly clock: Pick<Clock, "now">;
  readonly customHandlers: ReadonlyMap<string, CustomHandler>;
  readonly store: Pick<SessionStore, "get">;
  /** Absent: schedules are not changed here. */
  readonly schedules?: ScheduleDesk | undefined;
  /** Throws SessionNotFound for one that is not open. */
  find(id: SessionId): SharedSession;
  /** Throws ShuttingDown. */
  refuseWhileDraining(): void;
  create(client: Client, command: CommandOf<"CreateSession">): Promise<Reply<"CreateSession">>;
  attach(client: Client, id: SessionId, since: number | undefined): Promise<void>;
  detach(client: Client, id: SessionId): void;
  end(id: SessionId): Promise<void>;
}

type InputContent = CommandOf<"SendInput">["content"];

/** A model that is sent nothing answers nothing, and some vendors refuse the whole conversation from then on. */
function refuseBlank(content: InputContent): void {
  if (content.some((block) => block.type !== "text" || block.text.trim() !== "")) return;
  throw new ReasonError("InvalidCommand", "the input is empty or blank; say what the agent should do");
}

/** Before anything of it is in the log: from then on every request of the session would have it. */
function refuseImages({ live }: SharedSession, content: InputContent): void {
  if (!content.some(({ type }) => type === "image") || live.takesImages()) return;
  throw new ReasonError("ImagesUnsupported", { model: live.engine.model });
}

/** The input for a skill: what `/skills:NAME` would send stands before it. Throws InvalidCommand for a skill that is not there. */
async function withSkill(
  { id: client, identityClass, allow = () => undefined }: Client,
  { live }: SharedSession,
  content: InputContent,
  name: string | undefined,
): Promise<InputContent> {
  if (name === undefined) return content;
  const caller = { session: live.engine.id, client, identityClass, allow };
  const row = { namespace: "skills", name };
  const isSkill = live.slash.rows().some((one) => one.namespace === "skills" && one.name === name);
  const { input } = isSkill ? await live.slash.run(row, {}, caller) : {};
  if (input === undefined) throw new ReasonError("InvalidCommand", `there is no skill '${name}' here`);
  return [{ type: "text", text: input }, ...content];
}

/** What a failed write says may name paths and programs of the user: it passes the redactor as every event does. */
function lostPayload({ engine }: SharedSession["live"], turn: TurnId, failure: ReasonError): EventPayload<"TurnLost"> {
  const payload = ({ reason, message }: ReasonError) => ({ turn, reason, message });
  try {
    return engine.bus.redacted("TurnLost", payload(failure));
  } catch (error) {
    if (error instanceof ReasonError) return payload(error); // its message holds no text
    throw error;
  }
}

export type CommandHandlers = {
  readonly [Kind in CommandKind]: (client: Client, command: CommandOf<Kind>) => Promise<Reply<Kind>>;
};

export function createCommandHandlers(desk: CommandDesk): CommandHandlers {
  const { find } = desk;

  /** The session, when a turn may begin in it. */
  function forInput(id: SessionId): SharedSession {
    const session = find(id);
    desk.refuseWhileDraining();
    refuseWhileEnding(session);
    refuseDelegate(session, FROM_ITS_AGENT);
    return session;
  }

  /** No event of the log can say how the turn ended. */
  function tellLost({ live, attached }: SharedSession, turn: TurnId, ts: string, error: unknown): void {
    const { id: session, bus } = live.engine;
    const failure = error instanceof ReasonError ? error : new ReasonError("InternalError", "see the log");
    const payload = lostPayload(live, turn, failure);
    for (const { onEvent } of attached.keys()) onEvent?.({ id: bus.lastId, kind: "TurnLost", session, ts, payload });
  }

  async function begin(id: SessionId, start: (engine: EngineSession) => ReturnType<EngineSession["send"]>) {
    const session = forInput(id);
    refuseWhileRestoring(session);
    const { engine } = session.live;
    const { turn, recorded, done } = start(engine);
    // Of its beginning: what loses a turn may be the clock.
    const { startedAt = "" } = engine.running ?? {};
    done.catch(() => undefined); // a turn that is not recorded has no reply that anybody could watch
    await recorded;
    done.catch((error: unknown) => tellLost(session, turn, startedAt, error));
    return { turn, done };
  }

  /** A delegate has those of the session at its root. */
  function agreementsOf(id: SessionId): SharedSession["live"]["agreements"] {
    const session = find(id);
    refuseDelegate(session, AS_ITS_ROOT);
    return session.live.agreements;
  }

  async function restore(client: Client, command: RestoreCommand) {
    const session = find(command.session);
    const { running } = session.live.engine;
    if (running !== undefined) {
      throw new ReasonError("TurnInProgress", { originator: running.originator, ts: running.startedAt });
    }
    refuseWhileRestoring(session);
    refuseWhileEnding(session);
    const resumeQueue = session.live.engine.holdQueue();
    const restored = session.live.restore(command, client.id);
    const done = restored.catch(() => undefined); // the sender gets it; this one only orders the end
    session.restoring = { by: client.id, since: new Date(desk.clock.now()).toISOString(), done };
    try {
      return { result: await restored };
    } finally {
      delete session.restoring;
      resumeQueue();
    }
  }

  return {
    ...scheduleHandlers(desk),
    CreateSession: desk.create,
    async AttachSession(client, { session, since }) {
      await desk.attach(client, session, since);
      return { session };
    },
    async DetachSession(client, { session }) {
      desk.detach(client, session);
      return {};
    },
    async EndSession(_client, { session }) {
      refuseDelegate(find(session), "ends with its work; CancelTurn stops it");
      await desk.end(session);
      return {};
    },
    async SendInput(client, { session, content, skill }) {
      refuseBlank(content);
      refuseImages(find(session), content);
      const whole = await withSkill(client, forInput(session), content, skill);
      return begin(session, ({ send }) => send(client.id, whole));
    },
    async CompactSession(client, { session, focus }) {
      return begin(session, ({ compact }) => compact(client.id, focus));
    },
    async RunShellCommand(client, { session, command }) {
      const detail = "the command is blank; type it behind the exclamation mark: !npm test";
      if (command.trim() === "") throw new ReasonError("InvalidCommand", detail);
      return begin(session, ({ send }) => send(client.id, [{ type: "text", text: `!${command}` }], command));
    },
    async QueueInput(client, { session, content, skill }) {
      refuseBlank(content);
      const target = forInput(session);
      refuseImages(target, content);
      const whole = await withSkill(client, target, content, skill);
      await target.live.engine.queue(client.id, whole, client.token);
      return {};
    },
    async WithdrawInput(client, { session, queued }) {
      await find(session).live.engine.withdraw(queued, client.id);
      return {};
    },
    async SteerTurn(client, command) {
      const session = find(command.session);
      refuseDelegate(session, FROM_ITS_AGENT);
      refuseBlank(command.content);
      refuseImages(session, command.content);
      await session.live.engine.steer(client.id, command.content);
      return {};
    },
    async CancelTurn(client, command) {
      const session = find(command.session);
      session.live.engine.cancel({ reason: "user", by: client.id });
      if (session.parent !== undefined) session.cancelledBy = client.id;
      return {};
    },
    async SetModel(_client, { session, model }) {
      await find(session).live.setModel(model);
      return {};
    },
    async EnterPlanMode(client, { session }) {
      await agreementsOf(session).setMode("plan", client.id);
      return {};
    },
    async ExitPlanMode(client, { session, call_id, approve, plan, reason = "reject" }) {
      const agreements = agreementsOf(session);
      const { approvals, live } = find(session);
      const asking = live.engine.lasting.proposed?.call;
      if (call_id !== undefined && call_id !== asking) {
        throw new ReasonError("CallNotFound", { call_id });
      }
      if (asking !== undefined && approvals.isAsking(asking)) {
        const yes = plan === undefined ? "approve" : JSON.stringify({ plan });
        await approvals.answerFor(client, asking, approve ? yes : `${PLAN_REJECTION}${reason}`);
      } else if (approve) await agreements.approve(plan, client.id);
      return {};
    },
    async ClosePlan(client, { session, as }) {
      await agreementsOf(session).closePlan(as, client.id);
      return {};
    },
    async SetMode(client, { session, mode }) {
      await agreementsOf(session).setMode(mode, client.id);
      return {};
    },
    async AnswerPermission(client, { session, call_id, decision, reason, args }) {
      if (args !== undefined && decision !== "allow_once") {
        throw new ReasonError("InvalidCommand", "changed args come with the decision allow_once only");
      }
      const { approvals, live } = find(session);
      const late = await approvals.decideFor(client, call_id, { decision, ...defined({ reason, args }) });
      if (late !== undefined) {
        await live.engine.bus.publish("AnswerTooLate", { turn: late.tooLate, call_id, decision, by: client.id });
      }
      return {};
    },
    async AnswerQuestion(client, { session, call_id, answer }) {
      await find(session).approvals.answerFor(client, call_id, answer);
      return {};
    },
    DescribeAck: async (_client, { session, call_id }) => ({ result: find(session).live.describeAck(call_id) }),
    async AnswerAck(client, { session, call_id: callId, sha256, answer }) {
      await find(session).approvals.ackFor(client, { callId, sha256, answer });
      return {};
    },
    async ResolveOrphan(client, { session: id, call_id, resolution, note }) {
      await find(id).live.engine.recovery.resolve(call_id, resolution, client.id, note);
      if (resolution === "abort") await desk.end(id);
      else find(id).live.engine.deliverQueued();
      return {};
    },
    DescribeSession: async (_client, { session }) => ({ result: await find(session).live.describe() }),
    DescribeChanges: async (_client, { session, ...query }) => ({ result: await find(session).live.changes(query) }),
    ListRules: async (_client, { session }) => ({ result: find(session).live.rules() }),
    async RevokeRule(client, { session, rule }) {
      await find(session).live.revokeRule(rule, client.id);
      return {};
    },
    async PromoteRule(client, { session, rule }) {
      await find(session).live.promoteRule(rule, client.id);
      return {};
    },
    async SetContext(_client, { session, values }) {
      await find(session).live.setContext(values);
      return {};
    },
    UndoTurn: restore,
    UndoCall: restore,
    Redo: restore,
    async RunSlashCommand({ id, identityClass, allow = () => undefined }, { session, namespace, name, args }) {
      const { slash } = find(session).live;
      return { result: await slash.run({ namespace, name }, args, { session, client: id, identityClass, allow }) };
    },
    async CompleteInput({ id }, { session, text }) {
      return { result: await find(session).live.completeInput(text, id) };
    },
    async CustomCommand(client, command) {
      find(command.session);
      const handler = desk.customHandlers.get(command.namespace);
      if (handler === undefined) throw new ReasonError("UnknownNamespace", { namespace: command.namespace });
      return { result: await handler(command, client.id) };
    },
  };
}
