/** Which session to attach to: the one that is named, else an offer by folder and state: the last one here, a new one, or a list. */
import { defined, paint, visibleLine } from "#base";
import type { Client, ClientSession, SessionInfo } from "#client";
import { ReasonError, SessionId } from "#protocol";
import type { Terminal } from "./terminal.ts";

/** Sessions that a list shows, and among which an id is looked for by its beginning. */
const LISTED = 20;
const SEARCHED = 1000;
const TITLE_CHARS = 60;
const OFFERED_KEYS = "  [n] a new session (Enter)  [l] attach to the last one  [p] pick from the list\n  > ";

export interface OfferParts {
  readonly client: Client;
  /** What it shows was redacted. */
  readonly terminal: Pick<Terminal, "err" | "ask" | "colour" | "interactive">;
  /** Absolute. */
  readonly workingDir: string;
  readonly model?: string;
  readonly profile?: string;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Before a new session is opened. */
  readonly review: () => Promise<void>;
}

/** By its id or the beginning of it. Rejects with SessionNotFound, or UsageInvalid for a beginning that several have. */
export async function namedSession(client: Client, name: string): Promise<ClientSession> {
  if (SessionId.is(name)) return client.session(name);
  const ids = (await client.sessions({ limit: SEARCHED })).map(({ id }) => id);
  const [found, another] = ids.filter((id) => id.startsWith(name) || id.startsWith(`sess_${name.toUpperCase()}`));
  if (found === undefined || !SessionId.is(found)) throw new ReasonError("SessionNotFound", { session: name });
  if (another !== undefined) {
    throw new ReasonError("UsageInvalid", `several sessions begin with ${name}: ${found}, ${another}`);
  }
  return client.session(found);
}

/** The newest of this folder that no other agent works for; undefined when there is none. */
export async function lastSession({ client, workingDir }: OfferParts): Promise<SessionInfo | undefined> {
  for (const info of await client.sessions({ workingDir, limit: LISTED })) {
    if (!(await isDelegate(client, info))) return info;
  }
  return undefined;
}

/** Undefined when the person leaves. Without a last session here, or without anybody to ask, it is a new one. */
export async function offeredSession(parts: OfferParts): Promise<ClientSession | undefined> {
  const { client, terminal, signal } = parts;
  const last = await lastSession(parts);
  if (last === undefined || !terminal.interactive) return newSession(parts);
  terminal.err(`${paint(terminal, "bold", "Last session here:")} ${await describe(client, last, parts.nowMs)}\n`);
  for (;;) {
    const line = await terminal.ask((screen) => screen.readAnswer(OFFERED_KEYS, signal));
    if (line.kind !== "line") return undefined;
    const answer = line.text.trim().toLowerCase();
    if (answer === "" || answer === "n" || answer === "new") return newSession(parts);
    if (answer === "l" || answer === "last") return client.session(idOf(last));
    if (answer === "p" || answer === "pick") {
      const picked = await pickedSession(parts);
      if (picked !== undefined) return picked;
    }
  }
}

export async function newSession({ client, workingDir, model, profile, review }: OfferParts): Promise<ClientSession> {
  await review();
  return client.open({ workingDir, ...defined({ model, profile }) });
}

/** The list of all folders, newest first. */
export async function listedSessions({ client }: Pick<OfferParts, "client">): Promise<readonly SessionInfo[]> {
  const found = await client.sessions({ limit: LISTED });
  const delegates = await Promise.all(found.map((info) => isDelegate(client, info)));
  return found.filter((_, index) => delegates[index] === false);
}

/** Undefined: nothing was picked. */
async function pickedSession(parts: OfferParts): Promise<ClientSession | undefined> {
  const { client, terminal, nowMs, signal } = parts;
  const sessions = await listedSessions(parts);
  for (const [index, info] of sessions.entries()) {
    terminal.err(
      `  ${String(index + 1).padStart(2)}. ${await describe(client, info, nowMs)} · ${visibleLine(info.working_dir)}\n`,
    );
  }
  const line = await terminal.ask((screen) => screen.readAnswer("  number > ", signal));
  const picked = line.kind === "line" ? sessions[Number(line.text.trim()) - 1] : undefined;
  return picked === undefined ? undefined : client.session(idOf(picked));
}

/** `sess_… · running, 2 attached · 5 min ago · "title"`, visible. */
export async function describe(client: Client, info: SessionInfo, nowMs: number): Promise<string> {
  const { id, activity, attached, updated_at, title } = info;
  const doing = activity ?? (await howItEnded(client, info));
  const seen = attached === 0 ? "" : `, ${attached} attached`;
  const named = title === "" ? "" : ` · "${title.slice(0, TITLE_CHARS)}"`;
  return visibleLine(`${id} · ${doing}${seen} · ${age(nowMs - Date.parse(updated_at))}${named}`);
}

/** Whatever comes next resumes a session that ended because it was idle, so its state is still active; its log says that it was left in order. */
async function howItEnded(client: Client, info: SessionInfo): Promise<string> {
  if (info.state === "ended") return "ended";
  for await (const last of client.session(idOf(info)).log({ after: Math.max(0, info.last_event_id - 1) })) {
    if (last.kind !== "SessionEnded") return "cut off";
    return last.payload.reason === "paused" ? "paused" : `ended (${last.payload.reason})`;
  }
  return "cut off";
}

function age(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1440)} days ago`;
}

/** A branch has a parent, too; a delegate was opened by a call of its parent. */
async function isDelegate(client: Client, { id, parent }: SessionInfo): Promise<boolean> {
  if (parent === undefined || !SessionId.is(id)) return false;
  for await (const first of client.session(id).log()) {
    return first.kind === "SessionStarted" && first.payload.call_id !== undefined;
  }
  return false;
}

function idOf({ id }: SessionInfo): SessionId {
  if (SessionId.is(id)) return id;
  throw new ReasonError("SessionNotFound", { session: id });
}
