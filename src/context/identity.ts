/** Request middleware: who the agent is, where it works, and what the project adds to that. The first system blocks. */
import type { Settings } from "#artifacts";
import { defined } from "#base";
import type { RequestMiddleware } from "#engine";
import type { SessionId } from "#protocol";
import { delimit, withoutDelimiters } from "./delimiters.ts";
import type { BasePrompt, PromptBlock } from "./prompt-blocks.ts";

/** Who the agent is when nobody says otherwise. */
const DEFAULT_PROMPT = `You are Harness, an agent that works on the user's machine through tools.
Look before you change: read a file before you edit it, and prefer small, exact edits. Check your work by running what proves it.
A refused tool call is a decision of the user or of policy: do not work around it; say what you could not do.
When you are done, answer briefly: what you did, what you saw, what is left.`;

/** With what the user's configuration and profile say. */
export function basePrompt({ systemPrompt, promptHeader }: Settings): BasePrompt {
  return { identity: systemPrompt ?? DEFAULT_PROMPT, ...defined({ header: promptHeader }) };
}

/** Files that a project adds are its text, not ours: its owner has allowed them to be read, not to speak for us. */
function shown({ kind, name, text }: PromptBlock, session: SessionId): string {
  if (kind === "notice") return text;
  // With the text itself in it: whoever writes a memory may know everything else.
  if (kind === "memory" || kind === "source")
    return delimit(text, { about: [session, name, text], from: `${kind} ${name}` });
  return kind === "file" || kind === "skills"
    ? delimit(text, { about: [session, name], from: name })
    : withoutDelimiters(text);
}

/** `blocks` is asked at every step. */
export function createIdentity(blocks: () => readonly PromptBlock[]): RequestMiddleware {
  return (call, next) => {
    const { request, session } = call;
    const texts = blocks()
      .filter(({ active, text }) => active && text !== "")
      .map((block) => shown(block, session));
    return next({ ...call, request: { ...request, system: [...texts, ...request.system] } });
  };
}
