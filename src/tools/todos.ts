/** `todos`: replaces the list of what is to be done. It keeps nothing: the list is an event of the session. */
import { isRecord, objectSchema, visibleLine } from "#base";
import { type Tool, type ToolContext, ToolError, textOutput } from "#engine";
import { TODO_MAX_CHARS, TODO_STATES, TODOS_MAX, type Todo } from "#protocol";
import type { ToolFacts } from "./facts.ts";

export const todosFacts = {
  name: "todos",
  label: "Todos",
  class: "read_only",
  kind: "todo",
  fresh: true,
} as const satisfies ToolFacts;

/** `change` resolves when the list is on the record. */
export function createTodosTool(
  change: (call: Pick<ToolContext, "turn" | "callId">, todos: readonly Todo[]) => Promise<void>,
): Tool & ToolFacts {
  return {
    ...todosFacts,
    description: "Replace your todo list, which the user sees. For work of several steps; keep one item active.",
    parameters: objectSchema(
      {
        todos: {
          type: "array",
          items: objectSchema({ text: { type: "string" }, state: { enum: TODO_STATES } }, ["text", "state"]),
        },
      },
      ["todos"],
    ),
    async run(args, context) {
      const todos = checked(args.todos);
      await change(context, todos);
      const open = todos.filter(({ state }) => state !== "done").length;
      return textOutput(todos.length === 0 ? "The list is empty." : `${todos.length} todos, ${open} open.`);
    },
  };
}

/** One visible line each. Throws InvalidArguments for a list that is too long. */
function checked(given: unknown): readonly Todo[] {
  const items: readonly unknown[] = Array.isArray(given) ? given : [];
  if (items.length > TODOS_MAX) refuse(`the list has ${items.length} todos; at most ${TODOS_MAX} are possible`);
  return items.map((item, index) => {
    const { text, state } = isRecord(item) ? item : {};
    const known = TODO_STATES.find((one) => one === state);
    // The chain has checked the types; what is refused here is what a schema does not say.
    const line = typeof text === "string" ? visibleLine(text.trim()) : "";
    if (line === "" || known === undefined) return refuse(`todo ${index + 1} needs a text and a state`);
    if (line.length > TODO_MAX_CHARS) {
      refuse(`todo ${index + 1} has ${line.length} characters; at most ${TODO_MAX_CHARS} are possible`);
    }
    return { text: line, state: known };
  });
}

function refuse(why: string): never {
  throw new ToolError(`The todos did not change: ${why}.`, "InvalidArguments");
}
