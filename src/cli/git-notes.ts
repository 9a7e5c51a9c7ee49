/** Anchors as git notes, under a ref of their own so that they never mix with a person's notes. */
import { git } from "#program";
import { ReasonError } from "#protocol";

const NOTES_REF = "refs/notes/harness-audit";

/** Adds a line to the note on HEAD of the repository that `dir` is in; returns the commit. */
export async function appendGitNote(dir: string, line: string): Promise<string> {
  const commit = (await git(dir, ["rev-parse", "--verify", "HEAD^{commit}"], failedIn(dir))).trim();
  await git(dir, ["notes", "--ref", NOTES_REF, "append", "-m", line, commit], failedIn(dir));
  return commit;
}

/** The text of all notes of ours in that repository, on whichever commit they are. */
export async function readGitNotes(dir: string): Promise<string> {
  const list = await git(dir, ["for-each-ref", "--format=%(objectname)", NOTES_REF], failedIn(dir));
  if (list.trim() === "") return "";
  const notes = await git(dir, ["notes", "--ref", NOTES_REF, "list"], failedIn(dir));
  const blobs = notes.split("\n").flatMap((row) => row.split(" ")[0] || []);
  const batch = await git(dir, ["cat-file", "--batch"], failedIn(dir), `${blobs.join("\n")}\n`);
  // Before each object stands a line with its name, type and size; an anchor never looks like one.
  return batch.replace(/^[0-9a-f]{40,64} blob \d+$/gm, "");
}

function failedIn(dir: string): (why: string, cause?: unknown) => ReasonError {
  return (why, cause) => new ReasonError("UsageInvalid", `Git notes cannot be used in ${dir}: ${why}`, { cause });
}
