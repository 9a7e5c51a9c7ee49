/**
 * Anchors as git notes, under a ref of their own so that they never mix with a person's notes. Runs git by its absolute
 * path, with an environment of a few names, without hooks, pager, prompts, network or anybody's configuration.
 */
import { existsSync } from "node:fs";
import { createProcesses, EffectError } from "#base";
import { ReasonError } from "#protocol";

const NOTES_REF = "refs/notes/harness-audit";
const PROGRAMS = ["/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git", "/bin/git"];
const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** What the folder's own configuration could start is switched off; it cannot be left out altogether. */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.pager=cat",
  "core.editor=false",
  "core.askPass=false",
  "core.sshCommand=false",
  "core.alternateRefsCommand=false",
  "core.attributesFile=/dev/null",
  "diff.external=false",
  "credential.helper=",
  "commit.gpgSign=false",
  "gpg.program=false",
  "log.showSignature=false",
  "safe.bareRepository=explicit",
  "protocol.allow=never",
  "gc.auto=0",
  "maintenance.auto=false",
];
const HARDENING = ["--no-pager", ...SETTINGS.flatMap((setting) => ["-c", setting])];
const ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_AUTHOR_NAME: "harness",
  GIT_AUTHOR_EMAIL: "harness@localhost",
  GIT_COMMITTER_NAME: "harness",
  GIT_COMMITTER_EMAIL: "harness@localhost",
  LC_ALL: "C",
};

/** Adds a line to the note on HEAD of the repository that `dir` is in; returns the commit. */
export async function appendGitNote(dir: string, line: string): Promise<string> {
  const commit = (await git(dir, ["rev-parse", "--verify", "HEAD^{commit}"])).trim();
  await git(dir, ["notes", "--ref", NOTES_REF, "append", "-m", line, commit]);
  return commit;
}

/** The text of all notes of ours in that repository, on whichever commit they are. */
export async function readGitNotes(dir: string): Promise<string> {
  const list = await git(dir, ["for-each-ref", "--format=%(objectname)", NOTES_REF]);
  if (list.trim() === "") return "";
  const notes = await git(dir, ["notes", "--ref", NOTES_REF, "list"]);
  const blobs = notes.split("\n").flatMap((row) => row.split(" ")[0] || []);
  const batch = await git(dir, ["cat-file", "--batch"], `${blobs.join("\n")}\n`);
  // Before each object stands a line with its name, type and size; an anchor never looks like one.
  return batch.replace(/^[0-9a-f]{40,64} blob \d+$/gm, "");
}

async function git(dir: string, args: readonly string[], stdin?: string): Promise<string> {
  const file = PROGRAMS.find((path) => existsSync(path));
  if (file === undefined) throw failed(dir, "git is not installed");
  const processes = createProcesses({ root: dir, env: { HOME: "/nonexistent" } });
  const out: Buffer[] = [];
  let err = "";
  let bytes = 0;
  const onOutput = (stream: "stdout" | "stderr", chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MAX_OUTPUT_BYTES) throw new Error(`git wrote more than ${MAX_OUTPUT_BYTES} bytes`);
    if (stream === "stdout") out.push(chunk);
    else err += chunk.toString("utf8");
  };
  const input = stdin === undefined ? {} : { stdin };
  const spec = { file, args: [...HARDENING, ...args], env: ENVIRONMENT, timeoutMs: TIMEOUT_MS, onOutput, ...input };
  try {
    const exit = await processes.run(spec, new AbortController().signal);
    if (exit.code === 0) return Buffer.concat(out).toString("utf8");
    throw failed(dir, exit.ended === "timeout" ? "git took too long" : err.trim());
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
    throw failed(dir, error.message, error);
  }
}

function failed(dir: string, why: string, cause?: unknown): ReasonError {
  return new ReasonError("UsageInvalid", { detail: `No git note can be used in ${dir}: ${why}` }, { cause });
}
