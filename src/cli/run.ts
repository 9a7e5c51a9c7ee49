/** `harness run`: one prompt, or a conversation on a terminal. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { defined, messageOf, visibleLine, visibleProse } from "#base";
import type { Input } from "#client";
import { type LogFlags, type OpenOptions, profileNamed, type RunFlags, readImageFile, readTextFile } from "#program";
import { ReasonError, SessionId } from "#protocol";
import { storeKinds } from "#stores/kinds";
import { type AnswerSchema, parseAnswerSchema, sendForSchema } from "./answer-schema.ts";
import type { CliPorts } from "./cli-ports.ts";
import { withProgram } from "./cli-session.ts";
import { errorLine } from "./error-line.ts";
import { type ExitCode, exitCodeOf } from "./exit-code.ts";
import { reviewsAt } from "./file-review.ts";
import { type InterfaceFlags, showsFullInterface } from "./interface-choice.ts";
import { isPrompt } from "./prompt-arguments.ts";
import type { EndedTurn, OutputMode } from "./session-view.ts";

export const PROMPT_MAX_BYTES = 10 * 1024 * 1024;
const NO_PROMPT = "no prompt: give one as an argument or on standard input (add --help for usage)";

export interface RunCommandFlags extends RunFlags, LogFlags, InterfaceFlags {
  /** True without an id: the newest session of the folder. */
  readonly resume?: string | true;
  /** As `resume` without an id. */
  readonly continue?: boolean;
  readonly print?: boolean;
  /** Images that go with the prompt. */
  readonly image?: readonly string[];
  /** Text files that go with the prompt, from any folder. */
  readonly file?: readonly string[];
  readonly json?: boolean;
  readonly outputSchema?: string;
  readonly listTools?: boolean;
  readonly record?: string;
  readonly replay?: string;
}

export async function runCommand(
  ports: CliPorts,
  given: string | undefined,
  flags: RunCommandFlags,
): Promise<ExitCode> {
  const { terminal } = ports;
  const { prompt, resume } = promptAndSession(given, flags);
  if (flags.listTools) {
    const { listTools } = await import("./list-tools.ts");
    return listTools(ports, flags);
  }
  const cassette = cassetteOf(ports, { ...flags, ...defined({ resume }) });
  const isReplay = cassette !== undefined && "replay" in cassette;
  // Without a prompt a replay takes those of the cassette.
  const text = isReplay && prompt === undefined ? undefined : await readPrompt(ports, prompt, flags.print);
  checkAttachments(flags, text);
  if (text === undefined && flags.outputSchema !== undefined) {
    throw new ReasonError("UsageInvalid", "--output-schema needs a prompt");
  }
  const schema = flags.outputSchema === undefined ? undefined : await readSchema(ports, flags.outputSchema);
  const output: OutputMode = flags.json ? "json" : schema === undefined && !flags.print ? "stream" : "answer";
  const left = new AbortController();
  const opening: OpenOptions = {
    flags,
    // A script that lost its key must not take the answers of a scenario for those of a model.
    offlineAllowed: terminal.interactive,
    ...(terminal.interactive && output === "stream" && !isReplay ? reviewsAt(ports) : {}),
    startDaemon: async () => (await import("#daemon")).daemonFor(ports),
    ...defined({ cassette }),
  };
  const look = defined({ plain: flags.plain, quietCost: flags.quietCost });
  const isFull = text === undefined && !isReplay && output === "stream" && (await showsFullInterface(ports, flags));
  const ended = withProgram(ports, opening, async (opened, open): Promise<ExitCode> => {
    const { harness, workspace, settings } = opened;
    const renamed = resume === undefined || profileNamed(flags) === undefined ? {} : { profile: settings.profile.name };
    const from =
      resume === undefined ? {} : { resume: await resumed(ports, resume, { ...flags, workspace }), ...renamed };
    if (isFull) {
      const { converseInFull } = await import("./full-here.ts");
      const stopListening = terminal.onInterrupt(() => left.abort());
      await converseInFull(ports, opened, { ...from, ...look, flags, left: left.signal }).finally(stopListening);
      return 0;
    }
    let session = await open({
      output,
      ...from,
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
      for (;;) {
        const over = await session.converse(left.signal);
        if (over.kind !== "other") break;
        session = await open({ output, resume: over.session, exit: () => left.abort() });
        terminal.err(`${session.id} · /help for help\n`);
      }
      return left.signal.aborted ? 130 : 0;
    }
    const turn =
      schema === undefined
        ? await session.send(await withAttachments(ports, flags, session.id, text))
        : await sendForSchema(session, text, schema);
    if (output === "answer") printAnswer(ports, turn);
    if (flags.json) reportUnrecorded(ports, turn);
    return exitCodeOf(turn);
  });
  if (resume === undefined) return ended;
  return ended.catch(async (error: unknown) => {
    const { continueAtDaemon } = await import("./continued-elsewhere.ts");
    const isConversation = text === undefined && output === "stream";
    return continueAtDaemon(ports, error, { isConversation, ...look });
  });
}

/** What goes with a prompt needs one. */
function checkAttachments({ image, file, outputSchema }: RunCommandFlags, text: string | undefined): void {
  if ((image === undefined && file === undefined) || (text !== undefined && outputSchema === undefined)) return;
  const [flag, instead] =
    image === undefined
      ? ["--file", "type @path of a file of the workspace"]
      : ["--image", "paste the path of the image"];
  const detail = `${flag} needs a prompt and cannot be combined with --output-schema; in a conversation, ${instead}`;
  throw new ReasonError("UsageInvalid", detail);
}

/** Checked as every client's input is. */
async function withAttachments(
  { cwd }: CliPorts,
  { image = [], file = [] }: RunCommandFlags,
  session: SessionId,
  text: string,
): Promise<Input> {
  if (image.length + file.length === 0) return text;
  const images = image.map((path) => readImageFile(cwd, path));
  const files = file.map((path) => readTextFile(cwd, path));
  const content = [...(await Promise.all([...images, ...files])), { type: "text", text }];
  const { commandFrom } = await import("#protocol/schemas");
  return commandFrom("SendInput", { session, content }).content;
}

function cassetteOf({ cwd }: CliPorts, { record, replay, resume }: RunCommandFlags): OpenOptions["cassette"] {
  const file = record ?? replay;
  if (file === undefined) return undefined;
  const flag = record === undefined ? "--replay" : "--record";
  if (record !== undefined && replay !== undefined) {
    throw new ReasonError("UsageInvalid", "--record and --replay cannot be combined");
  }
  if (resume !== undefined) throw new ReasonError("UsageInvalid", `${flag} is only for a new session: remove --resume`);
  const path = resolve(cwd, file);
  return record === undefined ? { replay: path } : { record: path };
}

/** `--resume "fix the tests"` names no session: the text is the prompt. */
function promptAndSession(
  prompt: string | undefined,
  flags: RunCommandFlags,
): Pick<RunCommandFlags, "resume"> & { readonly prompt?: string } {
  const resume = flags.resume ?? (flags.continue ? true : undefined);
  const isText = typeof resume === "string" && prompt === undefined && isPrompt(resume);
  return isText ? { prompt: resume, resume: true } : defined({ prompt, resume });
}

/** By its id, by the beginning of it, or the newest of the folder. */
async function resumed(
  ports: CliPorts,
  named: string | true,
  { store, workspace }: { readonly store: RunFlags["store"]; readonly workspace: string },
): Promise<SessionId> {
  const id = named === true ? undefined : named;
  if (id !== undefined && SessionId.is(id)) return id;
  if (!storeKinds[store].isDurable) throw new ReasonError("SessionNotFound", { session: id ?? workspace });
  const { logOf, withStore } = await import("#program/session-store");
  const { namedOrLatest } = await import("./latest-session.ts");
  return withStore(ports, logOf(store, workspace), async (opened) => (await namedOrLatest(opened, id, workspace)).id);
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
    throw new ReasonError("ConfigInvalid", `cannot read ${path}: ${why}`);
  }
  return parseAnswerSchema(path, text);
}

/** Undefined on a terminal without a prompt: a conversation. What is piped in goes below the prompt. */
async function readPrompt(
  { terminal }: CliPorts,
  prompt: string | undefined,
  print = false,
): Promise<string | undefined> {
  if (prompt !== undefined && prompt !== "-") {
    if (prompt.trim() === "")
      throw new ReasonError("UsageInvalid", "the prompt is empty: say what the agent should do");
    const piped = terminal.inputIsPiped ? await terminal.readAll(PROMPT_MAX_BYTES) : "";
    return piped.trim() === "" ? prompt : `${prompt}\n\n${piped}`;
  }
  if (prompt === undefined && terminal.interactive && !print) return undefined;
  if (prompt === undefined && terminal.interactive) throw new ReasonError("UsageInvalid", NO_PROMPT);
  return readPromptFromInput(terminal);
}

export async function readPromptFromInput(terminal: CliPorts["terminal"]): Promise<string> {
  const text = await terminal.readAll(PROMPT_MAX_BYTES);
  if (text.trim() === "") throw new ReasonError("UsageInvalid", NO_PROMPT);
  return text;
}
