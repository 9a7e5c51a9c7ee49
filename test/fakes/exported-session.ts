/** A session made of drafts, as the text of an export: the way into the log of a program that has none of its own. */
import type { EventDraft } from "#engine";
import type { SessionId } from "#protocol";
import { createMemoryStore, loadPortability } from "#stores";

const CREATED_AT = "2026-01-01T00:00:00.000Z";

export async function exportedSession(
  id: SessionId,
  drafts: readonly EventDraft[],
  workingDir: string,
): Promise<string> {
  const store = createMemoryStore();
  await store.create({ id, workingDir, profile: "default", model: "scripted:x", createdAt: CREATED_AT });
  await (await store.acquire(id)).append(drafts, CREATED_AT);
  const meta = await store.get(id);
  if (meta === undefined) throw new Error("the session is there");
  const { exportLines } = await loadPortability();
  const lines = await Array.fromAsync(exportLines(meta, store.readEvidence(id), "0.1.0"));
  return `${lines.join("\n")}\n`;
}
