/** `harness run`: one prompt, or a conversation on a terminal. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { defined, messageOf, visibleLine, visibleProse } from "#base";
import type { LogFlags, OpenOptions, RunFlags } from "#program";
import { ReasonError, SessionId } from "#protocol";
import { storeKinds } from "#stores/kinds";
import { type AnswerSchema, parseAnswerSchema, sendForSchema } from "./answer-schema.ts";
import type { CliPorts } from "./cli-ports.ts";
import { withProgram } from "./cli-session.ts";
import { errorLine } from "./error-line.ts";
import { type ExitCode, exitCodeOf } from "./exit-code.ts";
import { reviewAt } from "./file-review.ts";
import type { EndedTurn, OutputMode } from "./session-view.ts";

export const PROMPT_MAX_BYTES = 10 * 1024 * 1024;

export interface RunCommandFlags extends RunFlags, LogFlags {
  readonly resume?: string;
  readonly json?: boolean;
  readonly outputSchema?: string;
  readonly listTools?: boolean;
  readonly record?: string;
  readonly replay?: string;
}

export async function runCommand(
  ports: CliPorts,
  prompt: string | undefined,
  flags: RunCommandFlags,
): Promise<ExitCode> {
  const { terminal } = ports;
  if (flags.listTools) {
    const { listTools } = await import("./list-tools.ts");
    return listTools(ports, flags);
  }
  const cassette = cassetteOf(ports, flags);
  const isReplay = cassette !== undefined && "replay" in cassette;
  // Without a prompt a replay takes those of the cassette.
  const text = isReplay && prompt === undefined ? undefined : await readPrompt(ports, prompt);
  if (text === undefined && flags.outputSchema !== undefined) {
    throw new ReasonError("UsageInvalid", { detail: "--output-schema needs a prompt" });
  }
  const schema = flags.outputSchema === undefined ? undefined : await readSchema(ports, flags.outputSchema);
  const output: OutputMode = flags.json ? "json" : schema === undefined ? "stream" : "answer";
  const left = new AbortController();
  const opening: OpenOptions = {
    flags,
    offlineAllowed: true,
    ...defined({ review: terminal.interactive && output === "stream" && !isReplay ? reviewAt(ports) : undefined }),
    ...defined({ cassette }),
  };
  return withProgram(ports, opening, async ({ harness, workspace }, open) => {
    const session = await open({
      output,
      ...(flags.resume === undefined ? {} : { resume: await resumed(ports, flags.resume, { ...flags, workspace }) }),
      ...(isReplay ? { interactive: false } : {}),
      exit: () => left.abort(),
    });
    if (text === undefined && isReplay) {
      const rest = harness.recordedCommands.filter(({ kind }) => kind !== "CreateSession");
      const last = await session.replay(rest);
      if (last !== undefined && output === "answer") printAnswer(ports, last);
      return last === undefined ? 0 : exitCodeOf(last);
    }
    if (text === undefined) {
      terminal.err(`${session.id} · ${harness.model} · /help for help\n`);
      await session.converse(left.signal);
      return left.signal.aborted ? 130 : 0;
    }
    const turn = schema === undefined ? await session.send(text) : await sendForSchema(session, text, schema);
    if (output === "answer") printAnswer(ports, turn);
    if (flags.json) reportUnrecorded(ports, turn);
    return exitCodeOf(turn);
  });
}

function cassetteOf({ cwd }: CliPorts, { record, replay, resume }: RunCommandFlags): OpenOptions["cassette"] {
  const file = record ?? replay;
  if (file === undefined) return undefined;
  const flag = record === undefined ? "--replay" : "--record";
  if (record !== undefined && replay !== undefined) {
    throw new ReasonError("UsageInvalid", { detail: "--record and --replay exclude each other" });
  }
  if (resume !== undefined) {
    throw new ReasonError("UsageInvalid", { detail: `${flag} is for a new session: leave --resume out` });
  }
  const path = resolve(cwd, file);
  return record === undefined ? { replay: path } : { record: path };
}

/** By its id, or by the beginning of it. */
async function resumed(
  ports: CliPorts,
  named: string,
  { store, workspace }: { readonly store: RunFlags["store"]; readonly workspace: string },
): Promise<SessionId> {
  if (SessionId.is(named)) return named;
  if (!storeKinds[store].isDurable) throw new ReasonError("SessionNotFound", { session: named });
  const { findSession, logOf, withStore } = await import("#program/session-store");
  return withStore(ports, logOf(store, workspace), async (opened) => (await findSession(opened, named)).id);
}

/** The answer on standard output, or on standard error why there is none. */
export function printAnswer({ terminal }: CliPorts, turn: EndedTurn): void {
  if (exitCodeOf(turn) === 0) terminal.out(`${visibleProse(turn.answer).trimEnd()}\n`);
  else if (turn.reason === "AnswerInvalid") terminal.err(`✗ ${turn.reason}: ${visibleLine(turn.message ?? "")}\n`);
}

/** A failure that is not an event of the session, as the last JSON line. */
export function reportUnrecorded({ terminal }: CliPorts, { reason, message }: EndedTurn): void {
  if (reason === "AnswerInvalid") terminal.out(`${errorLine(reason, message ?? "")}\n`);
}

export async function readSchema({ cwd }: CliPorts, file: string): Promise<AnswerSchema> {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const why = messageOf(error);
    throw new ReasonError("ConfigInvalid", { detail: `cannot read ${path}: ${why}` });
  }
  return parseAnswerSchema(path, text);
}

/** Undefined on a terminal without a prompt: a conversation. What is piped in goes below the prompt. */
async function readPrompt({ terminal }: CliPorts, prompt: string | undefined): Promise<string | undefined> {
  if (prompt !== undefined && prompt !== "-") {
    if (prompt.trim() === "") throw new ReasonError("UsageInvalid", { detail: "the prompt is empty" });
    const piped = terminal.inputIsPiped ? await terminal.readAll(PROMPT_MAX_BYTES) : "";
    return piped.trim() === "" ? prompt : `${prompt}\n\n${piped}`;
  }
  if (prompt === undefined && terminal.interactive) return undefined;
  return readPromptFromInput(terminal);
}

export async function readPromptFromInput(terminal: CliPorts["terminal"]): Promise<string> {
  const text = await terminal.readAll(PROMPT_MAX_BYTES);
  if (text.trim() === "") {
    const detail = "no prompt: give one as an argument or on standard input (add --help for usage)";
    throw new ReasonError("UsageInvalid", { detail });
  }
  return text;
}
