/** `harness demo`: a real turn by the offline model, in a scratch folder made for it, under rules that it prints. */

import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { paint } from "#base";
import { loadScenario, type OpenOptions, type RunFlags } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import { withProgram } from "./cli-session.ts";
import { type ExitCode, exitCodeOf } from "./exit-code.ts";
import { reviewsAt } from "./file-review.ts";

export async function demoCommand(ports: CliPorts, { json = false }: { json?: boolean }): Promise<ExitCode> {
  const { terminal, scenariosDir } = ports;
  const { prompt, allow } = await loadScenario(join(scenariosDir, "demo.yaml"));
  if (prompt === undefined) throw new Error("the demo scenario has no prompt");
  const scratch = await mkdtemp(join(tmpdir(), "harness-demo-"));
  await cp(join(scenariosDir, "demo"), scratch, { recursive: true });
  const flags: RunFlags = { model: "scripted:demo", cwd: scratch, allow, store: "memory" };
  terminal.err(`${paint(terminal, "bold", "Harness demo")}: the offline model works in ${scratch}\n`);
  terminal.err(
    `Rules for this demo: ${allow.map((rule) => `allow ${rule}`).join(", ")}. Everything else asks or is denied.\n`,
  );
  const left = new AbortController();
  const opening: OpenOptions = {
    flags,
    offlineAllowed: true,
    ...(terminal.interactive ? reviewsAt(ports) : {}),
  };
  return withProgram(ports, opening, async (_program, open) => {
    const session = await open({ output: json ? "json" : "stream", exit: () => left.abort() });
    terminal.err(`${paint(terminal, "green", "›")} ${prompt}\n`);
    const turn = await session.send(prompt);
    session.finishLine();
    if (!terminal.interactive || json) return exitCodeOf(turn);
    await session.setModel("scripted:offline");
    terminal.err(
      "\nYour turn. This is the offline model; for a real one, set a key and start `harness`. /quit leaves.\n",
    );
    await session.converse(left.signal);
    return left.signal.aborted ? 130 : 0;
  });
}
