/** `harness serve`: a session that keeps running and takes its prompts from sources, until it is told to stop. */

import type { ServeSource } from "#artifacts";
import { type LogFlags, openServiceLog, type RunFlags } from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import { type CliSession, withProgram } from "./cli-session.ts";
import type { ExitCode } from "./exit-code.ts";
import { PROMPT_MAX_BYTES } from "./run.ts";

export interface ServeFlags extends RunFlags, LogFlags {
  readonly source?: readonly ServeSource["type"][];
  readonly json?: boolean;
}

/** From the first SIGTERM to the end; half of it belongs to the running turn. A supervisor waits 90 seconds between the two. */
const STOP_GRACE_MS = 120_000;

/**
 * 0 at the end of input and when it is told to stop; a turn that fails is reported, and the next one begins. SIGTERM lets the
 * running turn end; the second, which follows by itself, and Ctrl-C cancel it.
 */
export async function serveCommand(ports: CliPorts, flags: ServeFlags): Promise<ExitCode> {
  const { terminal } = ports;
  if (flags.source !== undefined) checkSources(flags.source);
  const { watch } = await openServiceLog(ports, flags);
  const stopped = new AbortController();
  const opening = { flags, offlineAllowed: true, watch };
  return withProgram(ports, opening, async ({ harness, project }, open): Promise<ExitCode> => {
    let session: CliSession | undefined;
    const stopListening = terminal.onInterrupt((by) => {
      const drains = by === "system" && !stopped.signal.aborted;
      stopped.abort();
      if (drains) terminal.err("stopping: waiting for the running turn, starting no other\n");
      else session?.cancel();
    });
    ports.endsWhenStopped(STOP_GRACE_MS);
    try {
      if (flags.source === undefined) checkSources(project?.config.serve.map(({ type }) => type) ?? []);
      session = await open({ output: flags.json ? "json" : "stream", interactive: false });
      terminal.err(`${session.id} · ${harness.model} · one prompt per line\n`);
      for await (const line of terminal.readLines(PROMPT_MAX_BYTES, stopped.signal)) {
        if (stopped.signal.aborted) break;
        if (line.trim() !== "") await answer(ports, session, line.trim());
      }
      return 0;
    } finally {
      stopListening();
    }
  });
}

async function answer({ terminal, outward }: CliPorts, session: CliSession, prompt: string): Promise<void> {
  try {
    await session.send(prompt);
  } catch (error) {
    if (!(error instanceof ReasonError) || error.reason === "StoreFailed") throw error;
    terminal.err(`${await outward.describe(error)}\n`);
  }
  session.finishLine();
}

/** A source that this build lacks is refused, never left out. */
function checkSources(sources: readonly ServeSource["type"][]): void {
  const missing = sources.find((source) => source !== "stdin");
  if (missing !== undefined) {
    throw new ReasonError("ConfigInvalid", `the source '${missing}' is not in this build; use stdin`);
  }
  if (sources.length === 0) {
    throw new ReasonError("UsageInvalid", "name a source: --source stdin, or serve.sources in harness.md");
  }
}
