/** A question that only a clear yes answers with yes. */
import { ReasonError } from "#protocol";
import type { Terminal } from "./terminal.ts";

/** Throws UsageInvalid where nobody can be asked: `why` says what is at stake, and `--yes` stands for the answer. */
export async function isConfirmed(terminal: Terminal, question: string, why: string): Promise<boolean> {
  if (!terminal.interactive) throw new ReasonError("UsageInvalid", `${why}. To confirm, add --yes.`);
  const answer = await terminal.ask((screen) => screen.readAnswer(question, new AbortController().signal));
  return answer.kind === "line" && /^y(es)?$/i.test(answer.text.trim());
}
