/** `harness debug`: what goes to the model of a session and what comes back, from now on and for some time, without secrets. */
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { beginDump, dumpFile, endDump, findSession, type StoreFlags, withStore } from "#program";
import { ReasonError, SessionId } from "#protocol";
import { harnessPaths } from "#stores";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

const MINUTE_MS = 60_000;

export interface DebugFlags {
  readonly session: string;
  readonly raw?: boolean;
  readonly off?: boolean;
  readonly minutes: number;
  readonly json?: boolean;
}

/** With `--raw` begins, with `--off` ends and deletes; with neither prints what was written. */
export async function debugCommand(ports: CliPorts, flags: DebugFlags): Promise<ExitCode> {
  const { terminal, env } = ports;
  if (flags.raw === true && flags.off === true) {
    throw new ReasonError("UsageInvalid", { detail: "--raw and --off exclude each other" });
  }
  const session = await sessionOf(ports, flags);
  const path = dumpFile(env, session);
  const tell = (state: "on" | "off", text: string): ExitCode => {
    terminal.out(flags.json ? `${JSON.stringify({ session, raw: state, file: path })}\n` : `${text}\n`);
    return 0;
  };
  if (flags.raw === true) {
    beginDump(ports, session, flags.minutes * MINUTE_MS);
    return tell("on", `The calls of ${session} are written to ${path} for ${flags.minutes} minutes, without secrets.`);
  }
  if (flags.off === true) {
    const wasOn = endDump(env, session);
    return tell("off", wasOn ? `${path} is deleted; nothing more is written.` : `Nothing was written for ${session}.`);
  }
  if (!existsSync(path)) {
    const detail = `nothing was written for ${session}. harness debug --raw --session ${session} begins`;
    throw new ReasonError("UsageInvalid", { detail });
  }
  for await (const chunk of createReadStream(path, "utf8") as AsyncIterable<string>) await terminal.outDrained(chunk);
  return 0;
}

/** What is printed or deleted is a file, whatever became of its session; what is begun is for one that is there. */
async function sessionOf(ports: CliPorts, { session: text, raw }: DebugFlags): Promise<SessionId> {
  if (SessionId.is(text)) {
    if (raw === true && !(await isKept(ports, text))) throw new ReasonError("SessionNotFound", { session: text });
    return text;
  }
  return withStore(ports, { store: "sqlite" }, async (store) => (await findSession(store, text)).id);
}

/** In the log of the user, or in that of this folder. */
async function isKept(ports: CliPorts, session: SessionId): Promise<boolean> {
  const isIn = (store: StoreFlags["store"]): Promise<boolean> =>
    withStore(ports, { store }, async (opened) => (await opened.get(session)) !== undefined);
  if (existsSync(harnessPaths(ports.env).sessionsDb) && (await isIn("sqlite"))) return true;
  return existsSync(join(ports.cwd, ".harness", "threads")) && (await isIn("jsonl"));
}
