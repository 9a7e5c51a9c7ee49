/**
 * Where clients meet sessions: commands come in with their sender, events go out to whoever is attached. Transports and
 * faces know this and nothing below it; the engine below knows clients only by their id.
 */
import type { Clock } from "#base";
import type { Approver, CustomHandler, EngineSession, SessionStore, TurnSummary } from "#engine";
import {
  type ClientId,
  type Command,
  type CommandOf,
  type Event,
  type IdMint,
  ReasonError,
  type SessionId,
  type TurnId,
} from "#protocol";
import { type Approvals, createApprovals } from "./approvals.ts";
import { subscribe } from "./subscription.ts";

/** How long a permission request waits when somebody is there to answer it. */
export const PERMISSION_TIMEOUT_MS = 60_000;

export interface ClientOptions {
  readonly identityClass: "human" | "agent";
  /** False when nobody can be asked: requests are then denied at once. */
  readonly interactive: boolean;
  /** Absent for a client that only sends: it is attached to nothing. */
  readonly onEvent?: (event: Event) => void;
  /** Asked before each event of a replay, which comes no faster than the client takes it: undefined, or what to wait for. */
  readonly ready?: () => Promise<void> | undefined;
  /** Of a client that has several connections; default: a new one. */
  readonly id?: ClientId;
}

export interface Reply {
  readonly session?: SessionId;
  readonly turn?: TurnId;
  /** Settles when the turn that a SendInput started has ended. Not part of the wire. */
  readonly done?: Promise<TurnSummary>;
  /** What a CustomCommand's handler returned, or what an undo or redo did. */
  readonly result?: unknown;
}

export interface ControlClient {
  readonly id: ClientId;
  /** Rejects with a ReasonError that says why the command was refused. */
  submit(command: Command): Promise<Reply>;
  /** Detaches from everything; running turns go on. */
  disconnect(): void;
}

export type RestoreCommand = CommandOf<"UndoTurn"> | CommandOf<"UndoCall"> | CommandOf<"Redo">;

export interface LiveSession {
  readonly engine: EngineSession;
  /** Publishes the first event, once somebody is attached to see it, and takes up what an earlier run left behind. */
  begin(): Promise<void>;
  /** The session is about to end. */
  finish(): Promise<void>;
  /** Lets another process have the session. */
  release(): Promise<void>;
  /** Turns plan mode on or off; enforced below. */
  setPlanMode(active: boolean): Promise<void>;
  /** The permission rules in force, those of answers last. */
  rules(): readonly { readonly effect: string; readonly rule: string; readonly source: string }[];
  /** Both throw RuleNotFound for a rule that no answer has added. */
  revokeRule(rule: string, by: ClientId): Promise<void>;
  promoteRule(rule: string, by: ClientId): Promise<void>;
  /** Changes values of the run context; null removes one. */
  setContext(values: CommandOf<"SetContext">["values"]): Promise<void>;
  /**
   * Takes back or makes again what calls of the session changed in the workspace, and publishes what was done. The report;
   * rejects with NothingToUndo, or with NotAllowed where nothing is kept.
   */
  restore(command: RestoreCommand, by: ClientId): Promise<unknown>;
  /** Checks that a model can be used, then makes it the next step's. */
  setModel(model: string): Promise<void>;
}

export interface ControlOptions {
  readonly clock: Clock;
  readonly ids: IdMint;
  readonly store: SessionStore;
  /** Makes or reopens a session; the approver is where its questions go. */
  readonly open: (command: CommandOf<"CreateSession">, approver: Approver) => Promise<LiveSession>;
  readonly customHandlers: ReadonlyMap<string, CustomHandler>;
  readonly permissionTimeoutMs?: number;
  /** Clients come and go: a question waits its time also when nobody is there yet. Default: it is denied at once then. */
  readonly waitsForHumans?: boolean;
}

/** What a session does now. */
export type SessionActivity = "idle" | "running" | "waiting" | "ending";

export interface OpenSessionState {
  readonly id: SessionId;
  readonly activity: SessionActivity;
  readonly model: string;
  /** Clients that are told of its events. */
  readonly attached: number;
  readonly turn?: TurnId;
  readonly originator?: ClientId;
}

export interface Control {
  connect(options: ClientOptions): ControlClient;
  /** Sessions that are open in this program. */
  sessions(): readonly OpenSessionState[];
  /** No session is opened and no turn begins from now on; resolves when none runs. */
  drain(): Promise<void>;
  /** Open sessions, for plugins that publish on them. */
  session(id: SessionId): EngineSession | undefined;
  /** Cancels running turns, ends every session, waits until the log has it. */
  shutdown(): Promise<void>;
}

interface Client extends ClientOptions {
  readonly id: ClientId;
}

interface OpenSession {
  readonly live: LiveSession;
  readonly approvals: Approvals;
  /** Each with how to stop telling it. */
  readonly attached: Map<Client, () => void>;
  /** While files are being restored no turn begins, and the other way round. */
  restoring?: { readonly by: ClientId; readonly since: string; readonly done: Promise<unknown> };
  /** Set as soon as it begins to end. */
  ending?: Promise<void>;
}

export function createControl(options: ControlOptions): Control {
  const { clock, ids, store } = options;
  const sessions = new Map<SessionId, OpenSession>();
  const opening = new Map<SessionId, Promise<Reply>>();
  let isDraining = false;

  function find(id: SessionId): OpenSession {
    const session = sessions.get(id);
    if (session === undefined) throw new ReasonError("SessionNotFound", { session: id });
    return session;
  }

  async function create(client: Client, command: CommandOf<"CreateSession">): Promise<Reply> {
    refuseWhileDraining();
    const { resume } = command;
    if (resume === undefined) return open(client, command);
    if (!sessions.has(resume)) {
      // Two clients that open the same session at once get the same one.
      const first = opening.get(resume);
      if (first === undefined) {
        const opened = open(client, command);
        opening.set(resume, opened);
        return opened.finally(() => opening.delete(resume));
      }
      await first;
    }
    if (client.onEvent === undefined) return { session: resume };
    return attach(client, { kind: "AttachSession", session: resume });
  }

  async function open(client: Client, command: CommandOf<"CreateSession">): Promise<Reply> {
    const attached = new Map<Client, () => void>();
    const timeoutMs = options.permissionTimeoutMs ?? PERMISSION_TIMEOUT_MS;
    const { waitsForHumans = false } = options;
    const approvals = createApprovals({ clock, timeoutMs, waitsForHumans, attached: () => attached.keys() });
    const live = await options.open(command, approvals);
    const { id } = live.engine;
    if (client.onEvent !== undefined) attached.set(client, live.engine.bus.subscribe(client.onEvent));
    sessions.set(id, { live, approvals, attached });
    await live.begin();
    return { session: id };
  }

  async function attach(client: Client, { session: id, since }: CommandOf<"AttachSession">): Promise<Reply> {
    const session = find(id);
    const { onEvent, ready } = client;
    if (onEvent === undefined) throw new ReasonError("InvalidCommand", { detail: "this client takes no events" });
    detach(session, client);
    const subscription = subscribe({
      bus: session.live.engine.bus,
      read: (after, limit) => store.read(id, { after, limit }),
      onEvent,
      ...(ready === undefined ? {} : { ready }),
      ...(since === undefined ? {} : { since }),
    });
    session.attached.set(client, subscription.stop);
    await subscription.caughtUp;
    return { session: id };
  }

  function detach({ attached }: OpenSession, client: Client): void {
    attached.get(client)?.();
    attached.delete(client);
  }

  function end(id: SessionId, reason: "user" | "binary-shutdown"): Promise<void> {
    const session = find(id);
    session.ending ??= endSession(id, session, reason);
    return session.ending;
  }

  async function endSession(id: SessionId, session: OpenSession, reason: "user" | "binary-shutdown"): Promise<void> {
    const { engine } = session.live;
    engine.holdQueue();
    engine.cancel({ reason: reason === "user" ? "user" : "shutdown" });
    await engine.running?.ended;
    await session.restoring?.done;
    await session.live.finish();
    await engine.bus.publish("SessionEnded", { reason });
    await store.update(id, { state: "ended" });
    await session.live.release();
    sessions.delete(id);
  }

  async function resolveOrphan(client: Client, command: CommandOf<"ResolveOrphan">): Promise<void> {
    if (client.identityClass !== "human") {
      throw new ReasonError("NotAllowed", { detail: "Only a human can say what became of a call." });
    }
    const { session: id, call_id, resolution, note } = command;
    await find(id).live.engine.recovery.resolve(call_id, resolution, client.id, note);
    if (resolution === "abort") await end(id, "user");
    else find(id).live.engine.deliverQueued();
  }

  async function restore(client: Client, command: RestoreCommand): Promise<Reply> {
    if (client.identityClass !== "human") {
      throw new ReasonError("NotAllowed", { detail: "Only a human may undo or redo what calls have changed." });
    }
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
    session.restoring = { by: client.id, since: new Date(clock.now()).toISOString(), done };
    try {
      return { result: await restored };
    } finally {
      delete session.restoring;
      resumeQueue();
    }
  }

  function refuseWhileDraining(): void {
    if (isDraining) throw new ReasonError("ShuttingDown");
  }

  function refuseWhileEnding(session: OpenSession): void {
    if (session.ending !== undefined) throw new ReasonError("SessionClosed", { session: session.live.engine.id });
  }

  /** The session, when a turn may begin in it. */
  function forInput(id: SessionId): OpenSession {
    const session = find(id);
    refuseWhileDraining();
    refuseWhileEnding(session);
    return session;
  }

  function refuseWhileRestoring({ restoring }: OpenSession): void {
    if (restoring !== undefined) {
      throw new ReasonError("TurnInProgress", { originator: restoring.by, ts: restoring.since });
    }
  }

  async function submit(client: Client, command: Command): Promise<Reply> {
    switch (command.kind) {
      case "CreateSession":
        return create(client, command);
      case "AttachSession":
        return attach(client, command);
      case "DetachSession":
        detach(find(command.session), client);
        return {};
      case "SendInput": {
        const session = forInput(command.session);
        refuseWhileRestoring(session);
        return session.live.engine.send(client.id, command.content);
      }
      case "QueueInput":
        await forInput(command.session).live.engine.queue(client.id, command.content);
        return {};
      case "SteerTurn":
        await find(command.session).live.engine.steer(client.id, command.content);
        return {};
      case "CancelTurn":
        find(command.session).live.engine.cancel({ reason: "user", by: client.id });
        return {};
      case "AnswerPermission": {
        const { approvals } = find(command.session);
        approvals.decideFor(client, command.call_id, command.decision, command.reason);
        return {};
      }
      case "AnswerQuestion":
        find(command.session).approvals.answerFor(client, command.call_id, command.answer);
        return {};
      case "SetModel":
        await find(command.session).live.setModel(command.model);
        return {};
      case "EnterPlanMode":
        await find(command.session).live.setPlanMode(true);
        return {};
      case "ExitPlanMode": {
        if (client.identityClass !== "human") {
          throw new ReasonError("NotAllowed", { detail: "Only a human may approve a plan." });
        }
        if (command.approve) await find(command.session).live.setPlanMode(false);
        return {};
      }
      case "ResolveOrphan":
        await resolveOrphan(client, command);
        return {};
      case "ListRules":
        return { result: find(command.session).live.rules() };
      case "RevokeRule":
        await find(command.session).live.revokeRule(command.rule, client.id);
        return {};
      case "PromoteRule":
        if (client.identityClass !== "human") {
          throw new ReasonError("NotAllowed", { detail: "Only a human may keep a rule." });
        }
        await find(command.session).live.promoteRule(command.rule, client.id);
        return {};
      case "SetContext":
        await find(command.session).live.setContext(command.values);
        return {};
      case "UndoTurn":
      case "UndoCall":
      case "Redo":
        return restore(client, command);
      case "EndSession":
        await end(command.session, "user");
        return {};
      case "CustomCommand": {
        find(command.session);
        const handler = options.customHandlers.get(command.namespace);
        if (handler === undefined) throw new ReasonError("UnknownNamespace", { namespace: command.namespace });
        return { result: await handler(command, client.id) };
      }
      default:
        return refuseUnknown(command);
    }
  }

  /** The type says it cannot be; a client without types can still send it. */
  function refuseUnknown(command: never): never {
    throw new ReasonError("InvalidCommand", { detail: `unknown command ${JSON.stringify(command).slice(0, 200)}` });
  }

  return {
    connect(clientOptions) {
      const client: Client = { ...clientOptions, id: clientOptions.id ?? ids.client() };
      return {
        id: client.id,
        submit: (command) => submit(client, command),
        disconnect() {
          for (const session of sessions.values()) detach(session, client);
        },
      };
    },
    session: (id) => sessions.get(id)?.live.engine,
    sessions: () => [...sessions.values()].map(stateOf),
    async drain() {
      isDraining = true;
      for (const { live } of sessions.values()) live.engine.holdQueue();
      await Promise.all([...sessions.values()].map(async ({ live }) => live.engine.running?.ended));
    },
    async shutdown() {
      for (const id of [...sessions.keys()]) await end(id, "binary-shutdown");
      await store.close();
    },
  };
}

function stateOf({ live: { engine }, approvals, attached, ending }: OpenSession): OpenSessionState {
  const { running } = engine;
  return {
    id: engine.id,
    activity:
      ending !== undefined ? "ending" : approvals.isWaiting ? "waiting" : running === undefined ? "idle" : "running",
    model: engine.model,
    attached: attached.size,
    ...(running === undefined ? {} : { turn: running.turn, originator: running.originator }),
  };
}
