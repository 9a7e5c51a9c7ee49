/**
 * Git, run by its absolute path, with an environment of a few names, without hooks, pager, prompts, network or anybody's
 * configuration.
 */
import { existsSync } from "node:fs";
import { EffectError } from "#base";
import type { ReasonError } from "#protocol";
import { createProcesses } from "#world";

const PROGRAMS = ["/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git", "/bin/git"];
const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** What the folder's own configuration could start is switched off; it cannot be left out altogether. */
const SETTINGS = (
  "core.hooksPath=/dev/null core.fsmonitor=false core.pager=cat core.editor=false core.askPass=false " +
  "core.sshCommand=false core.alternateRefsCommand=false core.attributesFile=/dev/null diff.external=false " +
  "credential.helper= commit.gpgSign=false gpg.program=false log.showSignature=false " +
  "safe.bareRepository=explicit protocol.allow=never gc.auto=0 maintenance.auto=false"
).split(" ");
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

/** What git printed. `failed` makes the error that is thrown when it did not end well. */
export async function git(
  dir: string,
  args: readonly string[],
  failed: (why: string, cause?: unknown) => ReasonError,
  stdin?: string,
): Promise<string> {
  const file = PROGRAMS.find((path) => existsSync(path));
  if (file === undefined) throw failed("git is not installed");
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
    throw failed(exit.ended === "timeout" ? "git took too long" : err.trim());
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
    throw failed(error.message, error);
  }
}
