/** Agents that are played: a model that answers by the role in the system prompt, the word after `ROLE:`. */
import type { ModelCall, Plugin } from "#engine";
import type { Event, Message } from "#protocol";
import { type FakeResponse, says, text, toolCall } from "./fake-provider.ts";

/** By the number of answers that it has given in this conversation; the last one is given again. */
export type Role = readonly FakeResponse[] | ((call: ModelCall, step: number) => FakeResponse);
export type Roles = Readonly<Record<string, Role>>;

export const HARNESS = "---\nmodel: roles:one\n---\n\nROLE:root\n";

export function agentFile(role: string, head = ""): string {
  return `---\ndescription: The ${role}.\n${head}---\n\nROLE:${role}\n`;
}

export function rolesPlugin(roles: Roles, onEvent: (event: Event) => void = () => undefined): Plugin {
  return {
    name: "roles",
    register(host) {
      host.onEvent(onEvent);
      host.addProvider({
        name: "roles",
        async chat(call) {
          const name = /ROLE:(\w+)/.exec(call.request.system.join("\n"))?.[1] ?? "inline";
          const role = roles[name];
          if (role === undefined) throw new Error(`nobody plays ${name}`);
          const step = call.request.messages.filter((message) => message.role === "assistant").length;
          if (typeof role === "function") return role(call, step)(call);
          return (role[Math.min(step, role.length - 1)] ?? says(text("nothing to say")))(call);
        },
        models: async () => [{ id: "roles:one" }],
        countTokens: () => 0,
      });
    },
  };
}

export function delegates(args: Readonly<Record<string, unknown>>, name = "delegate"): FakeResponse {
  return says(toolCall(name, args));
}

export function answers(answer: string): FakeResponse {
  return says(text(answer));
}

export function makes(...calls: readonly (readonly [name: string, args: unknown])[]): FakeResponse {
  return says(...calls.map(([name, args], block) => toolCall(name, args, block)));
}

/** Waits until the call is cancelled. */
export const hangs: FakeResponse = ({ signal }) =>
  new Promise((resolve) => {
    const end = () => resolve({ type: "failed", reason: "Cancelled", message: "cancelled", retryable: false });
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });

/** What the model was told last: the text of the last result, or of the last input. */
export function lastText({ request }: ModelCall): string {
  const last = request.messages.at(-1);
  return last === undefined ? "" : textsOf(last);
}

export function textsOf({ content }: Message): string {
  return content
    .flatMap((block) => {
      if (block.type === "text") return [block.text];
      if (block.type !== "tool_result") return [];
      return block.content.flatMap((part) => (part.type === "text" ? [undelimited(part.text)] : []));
    })
    .join("\n");
}

/** What a model that reads would take for the result: the text between the delimiters. */
function undelimited(text: string): string {
  return /^<untrusted [^>]*>\n([\s\S]*)\n<\/untrusted [^>]*>$/.exec(text)?.[1] ?? text;
}
