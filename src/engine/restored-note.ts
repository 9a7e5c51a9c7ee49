/** What the model is told when a person has taken back, or made again, changes of its calls. Bounded and pure. */
import type { EventPayload } from "#protocol";

const NOTE_MAX_PATHS = 20;
const NOTE_MAX_PATH_CHARS = 200;

export function restoredNote({
  action,
  restored,
  conflicts,
  failed,
  counts,
}: EventPayload<"WorkspaceRestored">): string {
  const done =
    action === "undo" ? "reverted changes that your earlier calls had made" : "applied reverted changes again";
  const sentences = [`The user ${done} in the workspace (${action}).`];
  const list = (title: string, paths: readonly { readonly path: string }[], count: number): void => {
    if (count === 0) return;
    // Quoted, so that a name cannot pass for a sentence of ours.
    const shown = paths.slice(0, NOTE_MAX_PATHS).map(({ path }) => JSON.stringify(path.slice(0, NOTE_MAX_PATH_CHARS)));
    const more = count > shown.length ? [`${count - shown.length}${shown.length === 0 ? "" : " more"}`] : [];
    sentences.push(`${title}: ${[...shown, ...more].join(", ")}.`);
  };
  list("Restored", restored, counts.restored);
  list("Changed by somebody else since, so left unchanged", conflicts, counts.conflicts);
  list("Could not be restored", failed, counts.failed);
  sentences.push("Read these files again before you rely on what they contained.");
  return `[harness: ${sentences.join(" ")}]`;
}
