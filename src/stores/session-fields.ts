/** What is known about a session besides its events, as on the wire and in files. */
import type { SessionMeta } from "#engine";
import { SessionId } from "#protocol";
import type { ArchivedSession } from "./archive.ts";

/** What does not change with every append. */
export type StoredMeta = Omit<ArchivedSession, "updatedAt">;

/** Without its parent and its length. */
export function sessionFields(meta: SessionMeta) {
  const { id, workingDir, profile, model, createdAt, updatedAt, title, state, pinned } = meta;
  return {
    id,
    working_dir: workingDir,
    profile,
    model,
    created_at: createdAt,
    updated_at: updatedAt,
    title,
    state,
    pinned,
  };
}

/** Gets the name of a field and what it is not; the reader throws what it makes of them. */
type WrongField = (name: string, what: string) => Error;

export function textField(value: Record<string, unknown>, name: string, wrong: WrongField): string {
  const field = value[name];
  if (typeof field !== "string") throw wrong(name, "is not text");
  return field;
}

/** All of it but when the session was last written to. */
export function readSessionFields(value: Record<string, unknown>, wrong: WrongField): StoredMeta {
  const text = (name: string): string => textField(value, name, wrong);
  const session = (name: string): SessionId => {
    const id = text(name);
    if (!SessionId.is(id)) throw wrong(name, "is not a session id");
    return id;
  };
  return {
    id: session("id"),
    workingDir: text("working_dir"),
    profile: text("profile"),
    model: text("model"),
    createdAt: text("created_at"),
    title: text("title"),
    state: text("state") === "ended" ? "ended" : "active",
    pinned: value.pinned === true,
    ...(value.parent === undefined ? {} : { parent: session("parent") }),
  };
}
