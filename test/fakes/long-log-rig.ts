/** A long session in a real store behind a real server, with a count of what is read of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { createUlidFactory } from "#base";
import { createControl } from "#control";
import { type EventDraft, type EventPage, reopenSession } from "#engine";
import { createIdMint, type Event, SessionId } from "#protocol";
import { loadPortability, openSqliteStore } from "#stores";
import { startHttpServer } from "#transports/http";
import { serveRpc } from "#transports/rpc";
import { createSystemClock } from "#world";
import { chainStart, createSalts } from "../../src/stores/evidence.ts";
import { chainDrafts } from "../../src/stores/record.ts";
import { createFakeProvider } from "./fake-provider.ts";
import { createPlainSession, plainLiveSession } from "./plain-session.ts";
import { wholeClaims } from "./token-claims.ts";

export const LONG_SESSION = SessionId.from("0".repeat(26));
const NOW = "2026-01-01T00:00:00.000Z";

export interface LongLogOptions {
  readonly store: "sqlite" | "jsonl";
  readonly events: number;
  /** Of each event. */
  readonly chars?: number;
  /** Awaited while the session opens, after its log was taken. */
  readonly whileOpening?: () => Promise<void>;
}

export async function createLongLogRig({ store: kind, events, chars = 20, whileOpening }: LongLogOptions) {
  const folder = mkdtempSync(join(tmpdir(), "harness-long-log-"));
  const clock = createSystemClock();
  const opened =
    kind === "sqlite"
      ? await openSqliteStore({
          path: join(folder, "s.db"),
          clock,
          key: { bytes: Buffer.alloc(32, 7), source: "the test" },
        })
      : await (await loadPortability()).openJsonlStore({ root: folder, clock });
  const dates = { createdAt: NOW, updatedAt: NOW };
  const rest = { title: "", state: "active", pinned: false, workingDir: folder, profile: "default" } as const;
  const drafts = Array.from({ length: events }, () => tick(chars));
  const { records } = chainDrafts(
    LONG_SESSION,
    { lastEventId: 0, hash: chainStart(LONG_SESSION) },
    drafts,
    createSalts(),
  );
  await opened.restore({ id: LONG_SESSION, model: "fake:one", ...rest, ...dates }, records);

  const pages: number[] = [];
  const counted = { rows: 0, largestPage: 0, rowsAtFirst: undefined as number | undefined, pages };
  const store = {
    ...opened,
    async read(id: SessionId, page: EventPage) {
      const found = await opened.read(id, page);
      counted.rows += found.length;
      pages.push(found.length);
      counted.largestPage = Math.max(counted.largestPage, found.length);
      return found;
    },
  };
  const ids = createIdMint(createUlidFactory({ clock, random: { bytes: (count) => new Uint8Array(count) } }));
  const control = createControl({
    clock,
    ids,
    store,
    profile: "default",
    customHandlers: new Map(),
    async open(_command, _approver, onTaken) {
      const log = await opened.acquire(LONG_SESSION);
      onTaken();
      await whileOpening?.();
      const earlier = await reopenSession(opened, log, LONG_SESSION);
      const provider = createFakeProvider([]);
      const engine = createPlainSession({ id: LONG_SESSION, clock, ids, store, log, provider, earlier });
      return plainLiveSession(engine, { release: () => log.release() });
    },
  });
  const socketPath = join(folder, "c.sock");
  const text = async function* (): AsyncGenerator<string> {};
  const server = await startHttpServer({
    backend: {
      control,
      store,
      version: "0.0.0",
      clean: (given) => given,
      cleanValue: (value) => value,
      replayed: () => (event) => {
        counted.rowsAtFirst ??= counted.rows;
        return event;
      },
      subsystems: async () => ({}),
      tools: () => [],
      servers: () => [],
      schedules: async () => [],
      profiles: async () => [],
      providers: () => [],
      slashCommands: () => [],
      exportSession: text,
      branch: async () => ({}),
    },
    authenticate: () => ({ claims: wholeClaims({ jti: "tok_human" }) }),
    clock,
    listen: [{ kind: "unix", path: socketPath }],
  });
  const rpcPath = join(folder, "r.sock");
  const rpc = createServer((socket) => {
    socket.on("error", () => undefined);
    void serveRpc({
      ...{
        control,
        store,
        slashCommands: () => [],
        clock,
        identityClass: "human",
        directory: folder,
        version: "0.0.0",
        input: socket,
      },
      write: (line) => new Promise((resolve) => void socket.write(line, () => resolve())),
      onClosed: () => undefined,
      shutdown: async () => undefined,
      outward: { text: (given) => given, value: (value) => value, log: () => (_kind, payload) => payload },
      log: () => undefined,
    }).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve) => rpc.listen(rpcPath, resolve));
  onTestFinished(async () => {
    rpc.close();
    await control.shutdown();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { control, store, socketPath, rpcPath, counted, settled };

  /** Resolves when nothing more is read for many turns of the event loop. */
  async function settled(): Promise<void> {
    for (let quiet = 0, before = -1; quiet < 500; quiet += 1) {
      if (counted.rows !== before) quiet = 0;
      before = counted.rows;
      await nextTurn();
    }
  }
}

export function tick(chars: number): EventDraft {
  return { kind: "CustomEvent", ts: NOW, payload: { namespace: "t", kind: "tick", payload: "x".repeat(chars) } };
}

/** True when the ids go up by one from `first`. */
export function areInOrder(events: readonly Event[], first: number): boolean {
  return events.every(({ id }, index) => id === first + index);
}
