/** `/sessions:export` and `/sessions:diff`: what a session said and what it changed, as text for whoever may read it. */
import { visibleLine } from "#base";
import type { BuiltInRuns } from "#engine";
import { ReasonError, type SessionId } from "#protocol";
import type { Undo } from "#session";
import { archiveOf } from "./branch.ts";
import { findSession } from "./built-in-runs.ts";
import type { Harness, HarnessOptions } from "./options.ts";
import { exportPieces } from "./session-texts.ts";

/** A reply is one message to the client. */
const EXPORT_MAX_CHARS = 1024 * 1024;
const LISTED_MAX = 200;
/** `undo`: asked when something is run. Without a redactor there is no export. */
export function sessionRuns(
  harness: () => Harness,
  undo: () => Pick<Undo, "changes"> | undefined,
  { outward }: Pick<HarnessOptions, "outward">,
): BuiltInRuns {
  const diff: BuiltInRuns = {
    diff: async (_args, caller) => ({ text: await changesText(harness(), undo(), caller.session) }),
    async "sessions:diff"({ session }, caller) {
      const id = session === undefined ? caller.session : await findSession(harness(), session, caller);
      return { text: await changesText(harness(), undo(), id) };
    },
  };
  if (outward === undefined) return diff;
  return {
    ...diff,
    async "sessions:export"({ session = "", format = "" }, caller) {
      const { name, chosen } = exportArguments(`${session} ${format}`);
      const id = name === undefined ? caller.session : await findSession(harness(), name, caller);
      const meta = await harness().store.get(id);
      if (meta === undefined) throw new ReasonError("SessionNotFound", { session: id });
      let text = "";
      for await (const piece of exportPieces(archiveOf(harness().archive), meta, await outward(), chosen, new Set())) {
        text += piece;
        if (text.length > EXPORT_MAX_CHARS) {
          const detail = `${id} has more than ${EXPORT_MAX_CHARS} characters; write it to a file with: harness sessions export ${id} --format ${chosen} --output FILE`;
          throw new ReasonError("InvalidCommand", detail);
        }
      }
      return { text: text.trimEnd() };
    },
  };
}

/** `SESSION --format markdown`; each part may be absent, and a client that sends arguments by name leaves out `--format`. */
function exportArguments(line: string) {
  const given = line.split(/[\s=]+/).filter((word) => word !== "");
  const chosen = (["jsonl", "markdown"] as const).find((format) => given.includes(format));
  const [name, ...others] = given.filter((word) => word !== "--format" && word !== chosen);
  const isUnclear = given.includes("--format") && chosen === undefined;
  if (isUnclear || others.length > 0 || name?.startsWith("-")) {
    throw new ReasonError("InvalidCommand", "Usage: /sessions:export [SESSION] [--format jsonl|markdown]");
  }
  return { name, chosen: chosen ?? "jsonl" };
}

async function changesText(
  { store }: Harness,
  undo: Pick<Undo, "changes"> | undefined,
  id: SessionId,
): Promise<string> {
  if (undo === undefined) return "Undo is off, so nobody has recorded which files this session changed.";
  const meta = await store.get(id);
  if (meta === undefined) throw new ReasonError("SessionNotFound", { session: id });
  const { changes, unknown, interrupted } = await undo.changes(meta.workingDir, id);
  const lines = [
    ...changes.map(({ path, what }) => `${what.padEnd(7)}  ${visibleLine(path)}`),
    ...unknown.map(({ path, why }) => `unknown  ${visibleLine(path)} (${visibleLine(why)})`),
    ...interrupted.map(({ call, tool }) => `unknown  what ${visibleLine(tool)} (${call}) changed: it was interrupted`),
  ];
  if (lines.length === 0) return `${id} has changed no files in ${visibleLine(meta.workingDir)}.`;
  const more = lines.length > LISTED_MAX ? [`and ${lines.length - LISTED_MAX} more`] : [];
  return [`${id} in ${visibleLine(meta.workingDir)}:`, ...lines.slice(0, LISTED_MAX), ...more].join("\n");
}
