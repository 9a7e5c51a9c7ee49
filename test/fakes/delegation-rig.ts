/** A whole harness on a project with agents. Each agent is played by its role: the word after `ROLE:` in its system prompt. */
import type { ModelCall, Plugin } from "#engine";
import type { Event, EventKind, EventOf, Message, SessionId } from "#protocol";
import { done, type FakeResponse, says, text, toolCall } from "./fake-provider.ts";
import type { RigOptions } from "./harness-rig.ts";
import { createProjectRig, type ProjectFiles, type ProjectRig } from "./project-rig.ts";

/** By the number of answers that it has given in this conversation; the last one is given again. */
export type Role = readonly FakeResponse[] | ((call: ModelCall, step: number) => FakeResponse);
export type Roles = Readonly<Record<string, Role>>;

export interface DelegationRig extends ProjectRig {
  /** Of all sessions, in the order in which they were stored. */
  readonly all: readonly Event[];
  allOf<Kind extends EventKind>(kind: Kind): EventOf<Kind>["payload"][];
  /** Sessions of delegates, oldest first. */
  children(): readonly SessionId[];
  ofSession<Kind extends EventKind>(session: SessionId | undefined, kind: Kind): EventOf<Kind>["payload"][];
  /** The results of the root's calls, parsed. */
  parsed(): readonly Record<string, unknown>[];
  /** The first event of this kind, of any session, now or when it comes. */
  anywhere<Kind extends EventKind>(kind: Kind): Promise<EventOf<Kind>>;
}

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

export async function createDelegationRig(
  files: ProjectFiles,
  roles: Roles,
  options: RigOptions = {},
): Promise<DelegationRig> {
  const all: Event[] = [];
  const waiting = new Set<(event: Event) => void>();
  const plugin = rolesPlugin(roles, (event) => {
    all.push(event);
    for (const told of [...waiting]) told(event);
  });
  const rig = await createProjectRig({ "harness.md": HARNESS, ...files }, [], {
    model: "roles:one",
    ...options,
    plugins: [plugin, ...(options.plugins ?? [])],
  });
  const of = (events: readonly Event[], kind: EventKind) =>
    events.filter((event) => event.kind === kind).map(({ payload }) => payload) as never; // chosen by its kind
  return {
    ...rig,
    all,
    allOf: (kind) => of(all, kind),
    children: () => [...new Set(all.flatMap(({ session }) => (session === rig.session ? [] : [session])))],
    ofSession: (session, kind) =>
      of(
        all.filter((event) => event.session === session),
        kind,
      ),
    parsed: () =>
      all.flatMap((event) => {
        if (event.kind !== "ToolResult" || event.session !== rig.session) return [];
        return [JSON.parse(textsOf({ role: "user", content: event.payload.content }))];
      }),
    anywhere(kind) {
      const known = all.find((event) => event.kind === kind);
      if (known !== undefined) return Promise.resolve(known as never); // chosen by its kind
      return new Promise((resolve) => {
        const told = (event: Event): void => {
          if (event.kind !== kind) return;
          waiting.delete(told);
          resolve(event as never); // chosen by its kind
        };
        waiting.add(told);
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
      return block.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    })
    .join("\n");
}

export { done };
