/** What was typed in a project and not sent: without secrets, in a bounded file that only its owner can read. */
import { dirname, join } from "node:path";
import { isRecord } from "#base";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#stores/keys";
import { makePrivateDirectory, readOwnedFile, withFileLock, writePrivateFile } from "#world";
import type { CliPorts } from "./cli-ports.ts";

const MAX_DRAFTS = 50;
const MAX_CHARS = 64 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;

export interface InputDraft {
  /** Empty when there is none. */
  readonly text: string;
  /** Replaces it; an empty text removes it. One that is too long or cannot be redacted is not kept. Rejects when the file cannot be written. */
  keep(text: string): Promise<void>;
}

export function openInputDraft(
  { env, clock, outward }: Pick<CliPorts, "env" | "clock" | "outward">,
  project: string,
): InputDraft {
  const file = join(harnessPaths(env).stateDir, "input-drafts.json");
  return {
    text: read(file).find((draft) => draft.project === project)?.text ?? "",
    async keep(text) {
      const redacted = text === "" || text.length > MAX_CHARS ? "" : await outward.orNothing(text);
      makePrivateDirectory(dirname(file));
      const held = await withFileLock(file, clock, () => {
        const others = read(file).filter((draft) => draft.project !== project);
        const drafts = redacted === "" ? others : [{ project, text: redacted }, ...others].slice(0, MAX_DRAFTS);
        writePrivateFile(file, JSON.stringify(drafts), { durable: false });
      });
      if (held === undefined) throw new ReasonError("FileFailed", `another process has locked ${file}`);
    },
  };
}

interface Draft {
  readonly project: string;
  readonly text: string;
}

/** None of a file that is missing, that is not ours or that somebody has broken. */
function read(file: string): readonly Draft[] {
  try {
    const drafts: unknown = JSON.parse(readOwnedFile(file, MAX_BYTES)?.toString("utf8") ?? "[]");
    return Array.isArray(drafts) ? drafts.filter(isDraft).slice(0, MAX_DRAFTS) : [];
  } catch {
    return [];
  }
}

function isDraft(value: unknown): value is Draft {
  return isRecord(value) && typeof value.project === "string" && typeof value.text === "string";
}
