/** Hooks: one table for a file in `hooks/`, an entry of `hooks:` in `harness.md`, in a bundle and in an agent. */
import { defined } from "#base";
import { canonicalEvent, hookEventAliases, hookEvents } from "./hook-events.ts";
import type { HookArtifact, PolicyExample } from "./project.ts";
import {
  choice,
  defineTable,
  type FieldType,
  field,
  integer,
  list,
  nearestTo,
  nested,
  plainValue,
  type Reader,
  required,
  script,
  type TableValues,
  warning,
  words,
  wrongValue,
} from "./schema.ts";
import { artifactName, type FileGiven } from "./tool-table.ts";

const MAX_PRIORITY = 1_000_000;
const MAX_HOOK_TIMEOUT_MS = 60_000;
const MAX_EXAMPLES = 100;

const event: FieldType<string> = {
  shown: "the name of an event",
  read(tree, reader) {
    const written = tree.kind === "scalar" ? String(tree.value) : "";
    const found = canonicalEvent(written);
    if (found === undefined) {
      const known = [...Object.keys(hookEvents), ...Object.keys(hookEventAliases)];
      reader.report({ ...wrongValue(tree, this.shown), code: "unknown-event", ...nearestTo(written, known) });
    }
    return found;
  },
};

const example: FieldType<PolicyExample> = {
  shown: "a payload, or a tool name",
  read: (tree) => ({ place: tree.place, payload: plainValue(tree) }),
};

export const hookTable = defineTable(
  "Hook",
  "A file `.harness/hooks/NAME.md`, or an entry of `hooks:` in `harness.md`, a bundle or an agent. For a file, the file name is the hook's name. The body is for reviewers; the model never sees it.",
).of({
  name: field(words("a name")).means(
    "Required in an entry of `hooks:`, unless it has `handler`. In a file, leave it out: the file name is used.",
  ),
  handler: field(words("a name")).means("The same as `name`."),
  event: required(event).means("The event that the hook runs on: see [Events](#events)."),
  priority: field(integer(-MAX_PRIORITY, MAX_PRIORITY), "`0`, with a warning").means(
    "The order of the hooks of one event. The hook with the lowest number runs first.",
  ),
  when: field(script, "always").means(
    "A Starlark expression over `event`, `payload` and `ctx`. The hook runs only when it is true.",
  ),
  script: field(script).means(
    "Starlark with `def handle(event, payload)` that returns `allow()`, `block(reason)` or `modify(payload)`.",
  ),
  timeout_ms: field(integer(1, MAX_HOOK_TIMEOUT_MS), "`100`; `5000` if the script calls a function that waits").means(
    "The time limit for one run of the hook, in milliseconds.",
  ),
  on_error: field(choice("allow", "block"), "`block` for guards, else `allow`").means(
    "What Harness does with the event if the hook fails or exceeds its time limit.",
  ),
  match: field(list(example, { max: MAX_EXAMPLES })).means(
    "Examples: payloads that the hook blocks or modifies. Harness checks them when it loads the project.",
  ),
  not_match: field(list(example, { max: MAX_EXAMPLES })).means(
    "Examples: payloads that the hook lets pass unchanged. Harness checks them when it loads the project.",
  ),
});

/** Undefined when it has no usable name or event. */
export function makeHook(
  { values, at, place }: TableValues<typeof hookTable.fields>,
  reader: Reader,
  given?: FileGiven,
): HookArtifact | undefined {
  const written = values.handler === undefined ? "name" : "handler";
  const name = artifactName("Hook", values[written], at(written), place, reader, given?.name);
  if (name === undefined || values.event === undefined) return undefined;
  if (values.priority === undefined) {
    const message = `The hook "${name}" has no priority. It gets priority 0 and runs before most other hooks.`;
    reader.report(warning("no-priority", at("event"), message, { expected: "priority: 10" }));
  }
  if (values.script === undefined) {
    reader.report(warning("no-script", at("event"), `The hook "${name}" has no script and does nothing.`));
  }
  const kept = values.event;
  return {
    kind: "hook",
    name,
    place,
    hash: reader.hash,
    tier: reader.tier,
    event: kept,
    priority: values.priority ?? 0,
    match: (values.match ?? []).map((one) => withPayload(kept, one)),
    notMatch: (values.not_match ?? []).map((one) => withPayload(kept, one)),
    ...defined({ when: values.when, script: values.script, timeoutMs: values.timeout_ms, onError: values.on_error }),
  };
}

export const hookType: FieldType<HookArtifact> = nested(hookTable, (read, reader) => makeHook(read, reader));

/** For tool events the short forms `exec` and `{name, args}` become a payload with every field that a real one has. */
function withPayload(forEvent: string, { place, payload }: PolicyExample): PolicyExample {
  if (forEvent !== "tool.pre" && forEvent !== "tool.post") return { place, payload };
  const written = typeof payload === "string" ? { name: payload } : payload;
  if (typeof written !== "object" || written === null || Array.isArray(written)) return { place, payload };
  const args = "args" in written ? written.args : {};
  const content = "content" in written ? written.content : "";
  const filled =
    forEvent === "tool.pre"
      ? { id: "example", args, arguments: args, arguments_json: JSON.stringify(args) }
      : { call_id: "example", args, content, result: content, is_error: false };
  return { place, payload: { ...filled, ...written } };
}
