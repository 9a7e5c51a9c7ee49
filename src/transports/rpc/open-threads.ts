/** The threads that this connection has open, as sessions of the control: opened when they are needed, a bounded number at a time. */
import type { Control, ControlClient } from "#control";
import type { SessionMeta, SessionStore } from "#engine";
import { type CommandOf, ReasonError, SessionId } from "#protocol";

/** Beyond it the thread that was used longest ago is closed; a turn on it opens it again. */
export const OPEN_THREADS_MAX = 200;

/** What is in the log; the control has no command for it. */
export type ThreadStore = Pick<SessionStore, "get" | "list" | "read" | "update">;

export interface OpenThreads {
  /** A new thread. */
  create(
    directory: string,
    fields?: Pick<CommandOf<"CreateSession">, "model" | "profile" | "context">,
  ): Promise<SessionId>;
  /** The thread with this name, opened again when it is not. Rejects with SessionNotFound. */
  open(name: string): Promise<SessionId>;
  /** As `open`, and its events are told here also when it is open for somebody else. */
  attach(name: string): Promise<SessionId>;
  /** Rejects with SessionNotFound. */
  meta(name: string): Promise<SessionMeta>;
}

export function createOpenThreads(options: {
  readonly control: Control;
  readonly client: ControlClient;
  readonly store: ThreadStore;
  readonly max?: number;
}): OpenThreads {
  const { control, client, store, max = OPEN_THREADS_MAX } = options;
  /** Used longest ago first. */
  const open = new Set<SessionId>();
  /** Those of them whose events are told here: a session that somebody else has opened is not, until it is asked for. */
  const told = new Set<SessionId>();

  async function makeRoom(): Promise<void> {
    for (const id of [...open]) {
      if (open.size < max) return;
      const session = control.session(id);
      if (session?.running !== undefined) continue;
      open.delete(id);
      told.delete(id);
      if (session !== undefined) await client.submit({ kind: "EndSession", session: id });
    }
    if (open.size >= max) {
      throw new ReasonError("NotAllowed", `${max} threads are running a turn: end one of them first.`);
    }
  }

  async function reopen(id: SessionId): Promise<void> {
    await makeRoom();
    await client.submit({ kind: "CreateSession", resume: id });
    told.add(id);
  }

  function use(id: SessionId): SessionId {
    open.delete(id);
    open.add(id);
    return id;
  }

  async function meta(name: string): Promise<SessionMeta> {
    const found = SessionId.is(name) ? await store.get(name) : undefined;
    if (found === undefined) throw new ReasonError("SessionNotFound", { session: name.slice(0, 100) });
    return found;
  }

  return {
    meta,
    async create(directory, fields = {}) {
      await makeRoom();
      const { session } = await client.submit({ kind: "CreateSession", working_dir: directory, ...fields });
      told.add(session);
      return use(session);
    },
    async open(name) {
      const { id } = await meta(name);
      if (control.session(id) === undefined) await reopen(id);
      return use(id);
    },
    async attach(name) {
      const { id } = await meta(name);
      if (!told.has(id) || control.session(id) === undefined) await reopen(id);
      return use(id);
    },
  };
}
