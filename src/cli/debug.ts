/** `harness debug`: what goes to the model of a session and what comes back, from now on and for some time, without secrets. */
import { createReadStream, existsSync } from "node:fs";
import { beginDump, dumpFile, endDump, findSession, logWith, withStore } from "#program";
import { ReasonError, SessionId } from "#protocol";
import { USER_LOG } from "#stores/kinds";
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
    throw new ReasonError("UsageInvalid", "--raw and --off cannot be combined");
  }
  const session = await sessionOf(ports, flags);
  const path = dumpFile(env, session);
  const tell = (state: "on" | "off", text: string): ExitCode => {
    terminal.out(flags.json ? `${JSON.stringify({ session, raw: state, file: path })}\n` : `${text}\n`);
    return 0;
  };
  if (flags.raw === true) {
    beginDump(ports, session, flags.minutes * MINUTE_MS);
    return tell(
      "on",
      `Recording the model calls of ${session} to ${path} for ${flags.minutes} minutes, without secrets.`,
    );
  }
  if (flags.off === true) {
    const wasOn = endDump(env, session);
    return tell("off", wasOn ? `Stopped recording and deleted ${path}.` : `Nothing was recorded for ${session}.`);
  }
  if (!existsSync(path)) {
    const detail = `nothing was recorded for ${session}. To start: harness debug --raw --session ${session}`;
    throw new ReasonError("UsageInvalid", detail);
  }
  for await (const chunk of createReadStream(path, "utf8") as AsyncIterable<string>) await terminal.outDrained(chunk);
  return 0;
}

/** What is printed or deleted is a file, whatever became of its session; what is begun is for one that is there. */
async function sessionOf(ports: CliPorts, { session: text, raw }: DebugFlags): Promise<SessionId> {
  if (!SessionId.is(text))
    return withStore(ports, { store: USER_LOG }, async (log) => (await findSession(log, text)).id);
  if (raw === true && (await logWith(ports, ports.cwd, text)) === undefined) {
    throw new ReasonError("SessionNotFound", { session: text });
  }
  return text;
}
