/**
 * Context files that come up while a session runs, where no terminal of this program can show them: whoever is attached is asked in
 * the conversation and sees the whole text. Only text for the prompt: everything else waits for `harness ack`. The answer is kept.
 */
import type { AwaitingFile } from "#artifacts";
import { visibleLine } from "#base";
import type { AskForAck } from "#session";
import type { ProjectTrust } from "#trust";

/** A longer text cannot be judged in a question. */
const MAX_SHOWN_CHARS = 32 * 1024;
const MAX_ASKED_FILES = 20;
const [ALLOW, LEAVE_OUT] = ["allow", "leave out"] as const;

export function askInline(trust: Pick<ProjectTrust, "look" | "ack" | "deny">): AskForAck {
  return async (awaiting, _signal, ask) => {
    const files = awaiting.filter(isPrompt).slice(0, MAX_ASKED_FILES);
    if (files.length === 0) return false;
    if (ask === undefined) return "later";
    let isAnswered = false;
    for (const file of files) {
      const shown = trust.look(file);
      if (shown.text === undefined || shown.text.length > MAX_SHOWN_CHARS) continue;
      const name = visibleLine(file.file);
      const what = file.change === "new" ? "is new" : "has changed";
      const question = `The context file ${name} ${what}. May its text be part of the prompt? Your answer holds until the file changes.\n\n${shown.text}`;
      const answer = await ask(file.file, question, [ALLOW, LEAVE_OUT]);
      if (answer === ALLOW) trust.ack([shown], "individual");
      else if (answer === LEAVE_OUT) trust.deny([shown]);
      else continue;
      isAnswered = true;
    }
    return isAnswered;
  };
}

function isPrompt({ kind, change }: AwaitingFile): boolean {
  return kind === "instructions" && change !== "removed";
}
