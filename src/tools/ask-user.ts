/** `ask_user`: puts a question to the person. It never decides for them; without an answer it says so. */
import { objectSchema } from "#base";
import { textOutput } from "#engine";
import { textArgument, textListArgument } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";

/** People take their time; whoever carries the question may give up earlier. */
const ANSWER_TIMEOUT_MS = 60 * 60 * 1000;

export const askUserTool: BuiltinTool = {
  name: "ask_user",
  label: "AskUser",
  class: "read_only",
  kind: "question",
  fresh: true,
  description: "Ask the user, with options to choose from if any. Only when the answer changes what you do.",
  parameters: objectSchema({ question: { type: "string" }, options: { type: "array", items: { type: "string" } } }, [
    "question",
  ]),
  timeoutMs: ANSWER_TIMEOUT_MS,
  subject: (args) => textArgument(args, "question"),
  async run(args, context) {
    const answer = await context.ask(textArgument(args, "question"), textListArgument(args, "options"));
    if (answer !== undefined) return textOutput(answer);
    const text = "Nobody can answer now. Continue with your best judgement, and say what you assumed.";
    return { content: [{ type: "text", text }], isError: true };
  },
};
