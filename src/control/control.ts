/**
 * Where clients meet sessions: commands come in with their sender, events go out to whoever is attached. Transports and
 * faces know this and nothing below it; the engine below knows clients only by their id.
 */
import { type Clock, defined } from "#base";
import type { Approver, CustomHandler, EngineSession, SessionStore, SlashRegistry, TurnSummary } from "#engine";
import {
  type ClientId,
  type CommandKind,
  type CommandOf,
  commandRows,
  type IdMint,
  isCommandKind,
  ReasonError,
  SET_CONTEXT_DEED,
  type SessionId,
} from "#protocol";
import { createApprovals } from "./approvals.ts";
import { attach, attachEarly, detach, type OpeningSession } from "./attachments.ts";
import type { Client, ClientOptions, ControlClient, Reply } from "./client.ts";
import { createCommandHandlers } from "./command-handlers.ts";
import { forwardQuestions } from "./delegate-questions.ts";
import { type EndReason, endSession, type Pause } from "./end-session.ts";
import type { Beginning, LiveSession } from "./live-session.ts";
import { requireHuman } from "./require-human.ts";
import type { ScheduleDesk } from "./schedule-handlers.ts";
import { type OpenSessionState, stateOf } from "./session-state.ts";
import { refuseWhileWorking, type SharedSession } from "./shared-session.ts";

/** How long a permission request waits when somebody is there to answer it. */
export const PERMISSION_TIMEOUT_MS = 60_000;

export interface ControlOptions {
  readonly clock: Clock;
  readonly ids: IdMint;
  readonly store: SessionStore;
  /**
   * Makes or reopens a session; the approver is where its questions go. `onTaken` is called when the log of one that is reopened is
   * taken, before it is read.
   */
  readonly open: (
    command: CommandOf<"CreateSession">,
    approver: Approver,
    onTaken: () => void,
    beginning?: Beginning,
  ) => Promise<LiveSession>;
  /** The name of the one that its sessions use when nobody names another. */
  readonly profile: string;
  readonly customHandlers: ReadonlyMap<string, CustomHandler>;
  /** Absent: schedules are not changed here. */
  readonly schedules?: ScheduleDesk | undefined;
  readonly permissionTimeoutMs?: number;
  /** Clients come and go: a question waits its time also when nobody is there yet. Default: it is denied at once then. */
  readonly waitsForHumans?: boolean;
}

export interface Control {
  connect(options: ClientOptions): ControlClient;
  /** Sessions that are open in this program. */
  sessions(): readonly OpenSessionState[];
  /** No session is opened and no turn begins from now on; resolves when none runs. */
  drain(): Promise<void>;
  /** Ends a session that nobody is attached to and that has nothing to do; false, and nothing happens, for any other. */
  retire(id: SessionId): Promise<boolean>;
  /**
   * Opens a stored session, or joins whoever does. Resolves as soon as its log is taken: clients that attach are told what is in it
   * while the session opens, and what fails from then on. Rejects with why it cannot be opened.
   */
  prepare(id: SessionId): Promise<void>;
  /** A session that continues another one, or has limits of its own. Nobody is attached to it yet. Rejects with why it cannot be opened. */
  openUnattended(command: CommandOf<"CreateSession">, beginning: Beginning): Promise<SessionId>;
  /**
   * Closes a session that somebody can resume. Rejects with TurnInProgress while it works, and with NotAllowed for a delegate; it stays
   * open then.
   */
  pause(id: SessionId, pause: Pause): Promise<void>;
  /** Open sessions, for plugins that publish on them. */
  session(id: SessionId): EngineSession | undefined;
  /** What people can type in an open session. */
  slash(id: SessionId): SlashRegistry | undefined;
  /**
   * A session that no client opened: a delegate of `parent`. Clients can attach to it, and its questions go to whoever may answer
   * those of its ancestors as well. Nobody but its parent sends it input.
   */
  adopt(parent: SessionId, open: (approver: Approver) => Promise<LiveSession>): Promise<AdoptedSession>;
  /** Cancels running turns, ends every session, waits until the log has it. */
  shutdown(): Promise<void>;
}

export interface AdoptedSession {
  readonly live: LiveSession;
  /** Its turn; a client that has cancelled it before it began is heard. */
  send(originator: ClientId, text: string): Promise<TurnSummary>;
  end(): Promise<void>;
}

interface Opening extends OpeningSession {
  readonly opened: Promise<Reply<"CreateSession">>;
  readonly taken: Promise<void>;
}

export function createControl(options: ControlOptions): Control {
  const { clock, ids, store } = options;
  const sessions = new Map<SessionId, SharedSession>();
  const opening = new Map<SessionId, Opening>();
  let isDraining = false;

  function find(id: SessionId): SharedSession {
    const session = sessions.get(id);
    if (session === undefined) throw new ReasonError("SessionNotFound", { session: id });
    return session;
  }

  async function create(client: Client, command: CommandOf<"CreateSession">): Promise<Reply<"CreateSession">> {
    refuseWhileDraining();
    const { resume, context = {}, profile } = command;
    if (profile !== undefined && profile !== options.profile) requireHuman(client, "choose the profile of a session");
    if (Object.keys(context).length > 0) requireHuman(client, SET_CONTEXT_DEED);
    if (resume === undefined) return open(client, command);
    // One that is about to end is opened again, not joined.
    await sessions.get(resume)?.ending?.catch(() => undefined);
    // Two clients that open the same session at once get the same one, when its beginning is in the log.
    const first = opening.get(resume);
    if (first === undefined && !sessions.has(resume)) return startOpening(client, { ...command, resume }).opened;
    await first?.opened;
    if (client.onEvent === undefined) return { session: resume };
    await attach(store, find(resume), client, undefined);
    return { session: resume };
  }

  function startOpening(client: Client, command: CommandOf<"CreateSession"> & { readonly resume: SessionId }): Opening {
    const { resume: id } = command;
    const taken = Promise.withResolvers<void>();
    const opened = open(client, command, taken.resolve).finally(() => opening.delete(id));
    // Whoever waits for either is told.
    opened.then(() => taken.resolve(), taken.reject);
    taken.promise.catch(() => undefined);
    const started = { id, opened, taken: taken.promise, replays: new Map() };
    opening.set(id, started);
    return started;
  }

  async function prepare(id: SessionId): Promise<void> {
    refuseWhileDraining();
    await sessions.get(id)?.ending?.catch(() => undefined);
    if (sessions.has(id)) return;
    const started = opening.get(id) ?? startOpening(nobody(ids), { kind: "CreateSession", resume: id });
    await started.taken;
  }

  async function attachTo(client: Client, id: SessionId, since: number | undefined): Promise<void> {
    const early = sessions.has(id) ? undefined : opening.get(id);
    if (early === undefined) await attach(store, find(id), client, since);
    else await attachEarly(store, early, () => find(id), client, since);
  }

  function detachFrom(client: Client, id: SessionId): void {
    const early = opening.get(id)?.replays.get(client);
    early?.();
    if (early === undefined || sessions.has(id)) detach(find(id), client);
  }

  async function open(
    client: Client,
    command: CommandOf<"CreateSession">,
    onTaken = (): void => {},
    beginning?: Beginning,
  ): Promise<Reply<"CreateSession">> {
    const attached = new Map<Client, () => void>();
    const timeoutMs = options.permissionTimeoutMs ?? PERMISSION_TIMEOUT_MS;
    const { waitsForHumans = false } = options;
    const approvals = createApprovals({ clock, timeoutMs, waitsForHumans, attached: () => attached.keys() });
    const live = await options.open(command, approvals, onTaken, beginning);
    const { id } = live.engine;
    if (client.onEvent !== undefined) attached.set(client, live.engine.bus.subscribe(client.onEvent));
    sessions.set(id, { live, approvals, attached });
    await begin(id, live);
    return { session: id };
  }

  /** One whose beginning the log did not take is not open: whoever tries again opens it again. */
  async function begin(id: SessionId, live: LiveSession): Promise<void> {
    try {
      await live.begin();
    } catch (error) {
      sessions.delete(id);
      // Why it did not begin is what the sender has to know.
      await live.finish().catch(() => undefined);
      await live.release().catch(() => undefined);
      throw error;
    }
  }

  function end(id: SessionId, reason: EndReason, pause?: Pause): Promise<void> {
    const session = find(id);
    session.ending ??= endSession(store, session, reason, () => sessions.delete(id), pause);
    return session.ending;
  }

  /** Those attached to the session and to the ones above it, each once. */
  function audience(id: SessionId, own: ReadonlyMap<Client, unknown>): ReadonlySet<Client> {
    const clients = new Set(own.keys());
    for (let above = sessions.get(id); above !== undefined; ) {
      for (const client of above.attached.keys()) clients.add(client);
      above = above.parent === undefined ? undefined : sessions.get(above.parent);
    }
    return clients;
  }

  async function retire(id: SessionId): Promise<boolean> {
    const session = sessions.get(id);
    // A delegate ends with its work.
    if (session === undefined || session.parent !== undefined || session.restoring !== undefined) return false;
    const { activity, attached, queued, keptJobs } = stateOf(session);
    if (activity !== "idle" || attached > 0 || queued > 0 || keptJobs > 0) return false;
    await end(id, "idle");
    return true;
  }

  async function adopt(parent: SessionId, open: (approver: Approver) => Promise<LiveSession>): Promise<AdoptedSession> {
    const attached = new Map<Client, () => void>();
    const { permissionTimeoutMs: timeoutMs = PERMISSION_TIMEOUT_MS, waitsForHumans = false } = options;
    const approvals = createApprovals({ clock, timeoutMs, waitsForHumans, attached: () => audience(parent, attached) });
    const live = await open(approvals);
    const { id, bus } = live.engine;
    const session: SharedSession = { live, parent, approvals, attached };
    sessions.set(id, session);
    forwardQuestions(bus, () => [...audience(parent, attached)].filter((client) => !attached.has(client)));
    await begin(id, live);
    return {
      live,
      send(originator, text) {
        const { done } = live.engine.send(originator, [{ type: "text", text }]);
        if (session.cancelledBy !== undefined) live.engine.cancel({ reason: "user", by: session.cancelledBy });
        return done;
      },
      async end() {
        if (sessions.has(id)) await end(id, "delegation-over");
      },
    };
  }

  function refuseWhileDraining(): void {
    if (isDraining) throw new ReasonError("ShuttingDown");
  }

  const handlers = createCommandHandlers({
    ...options,
    find,
    refuseWhileDraining,
    create,
    attach: attachTo,
    detach: detachFrom,
    end: (id) => end(id, "user"),
  });

  async function submit<Kind extends CommandKind>(client: Client, command: CommandOf<Kind>): Promise<Reply<Kind>> {
    const { kind } = command;
    // The type says it cannot be; a client without types can still send it.
    if (!isCommandKind(kind)) {
      throw new ReasonError("InvalidCommand", `unknown command ${JSON.stringify(command).slice(0, 200)}`);
    }
    const { humanOnly } = commandRows[kind];
    if (humanOnly !== undefined) requireHuman(client, humanOnly);
    if ("session" in command) seen(client, command.session);
    const reply = await handlers[kind](client, command);
    if ("session" in reply) seen(client, reply.session);
    return reply;
  }

  function seen({ transport = "in-process", name }: Client, id: SessionId): void {
    const session = sessions.get(id);
    if (session === undefined) return;
    session.lastSeen = { transport, at: new Date(clock.now()).toISOString(), ...defined({ name }) };
  }

  return {
    connect(clientOptions) {
      const client: Client = { ...clientOptions, id: clientOptions.id ?? ids.client() };
      return {
        id: client.id,
        rename(name) {
          client.name = name;
        },
        submit: (command) => submit(client, command),
        disconnect() {
          for (const { replays } of opening.values()) replays.get(client)?.();
          for (const session of sessions.values()) detach(session, client);
        },
      };
    },
    session: (id) => sessions.get(id)?.live.engine,
    slash: (id) => sessions.get(id)?.live.slash,
    sessions: () => [...sessions.values()].map(stateOf),
    async drain() {
      isDraining = true;
      for (const { live } of sessions.values()) live.engine.holdQueue();
      await Promise.all([...sessions.values()].map(async ({ live }) => live.engine.running?.ended));
    },
    ...{ adopt, prepare, retire },
    async openUnattended(command, beginning) {
      refuseWhileDraining();
      const { session } = await open(nobody(ids), command, undefined, beginning);
      return session;
    },
    async pause(id, pause) {
      refuseWhileDraining();
      refuseWhileWorking(find(id));
      await end(id, "paused", pause);
    },
    async shutdown() {
      let failure: { readonly error: unknown } | undefined;
      // Delegates end with the turn of their root.
      const roots = [...sessions].filter(([, { parent }]) => parent === undefined).map(([id]) => id);
      for (const id of new Set([...roots, ...sessions.keys()])) {
        if (!sessions.has(id)) continue;
        await end(id, "binary-shutdown").catch((error: unknown) => {
          failure ??= { error };
        });
      }
      await store.close();
      if (failure !== undefined) throw failure.error;
    },
  };
}

/** Who opens a session that clients attach to later. */
function nobody(ids: Pick<IdMint, "client">): Client {
  return { id: ids.client(), identityClass: "agent", interactive: false };
}
