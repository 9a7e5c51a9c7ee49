/** The line-by-line conversation on a terminal. Slash words are handled here and never reach the model. */
import { paint } from "#base";
import type { CliPorts } from "./cli-ports.ts";
import type { CliSession } from "./cli-session.ts";
import { isQuit, runSlash, type SlashSession, sessionWords } from "./slash-words.ts";

/** Returns when the person leaves; `left` aborts to make it return at once. A failed turn is shown, and the next one can go on. */
export async function runRepl(
  { terminal, outward }: Pick<CliPorts, "terminal" | "outward">,
  session: CliSession,
  left: AbortSignal,
  health: SlashSession["health"],
): Promise<void> {
  const words = sessionWords(terminal, { ...session, health });
  while (!left.aborted) {
    const line = await terminal.readLine(paint(terminal, "green", "› "), left);
    if (line.kind === "end") return;
    if (line.kind === "interrupted") continue;
    const input = line.text.trim();
    if (input === "") continue;
    if (isQuit(input)) return;
    try {
      if (input.startsWith("/")) await runSlash(terminal, words, input);
      else await session.send(input);
    } catch (error) {
      terminal.err(`${await outward.describe(error)}\n`);
    }
    session.finishLine();
  }
}
