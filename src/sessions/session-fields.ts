/** What is known about a session, as on the wire, without its parent and its length. */
import type { SessionMeta } from "#engine";

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
