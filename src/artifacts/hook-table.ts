/** Hooks: one table for a file in `hooks/`, an entry of `hooks:` in `harness.md`, in a bundle and in an agent. */
import { defined } from "#base";
import { canonicalEvent, hookEventAliases, hookEvents } from "./hook-events.ts";
import type { HookArtifact, PolicyExample } from "./project.ts";
import {
  choice,
  defineTable,
  type FieldType,
  integer,
  list,
  nearestTo,
  nested,
  plainValue,
  type Reader,
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

export const hookTable = defineTable({
  title: "Hook",
  about:
    "A file `.harness/hooks/NAME.md`, or an entry of `hooks:` in `harness.md`, a bundle or an agent. In a file the name is the file's; the body is for reviewers and never reaches the model.",
  fields: {
    name: {
      type: words("a name"),
      meaning: "An entry of `hooks:` needs `name` or `handler`; in a file the file name is the name.",
    },
    handler: { type: words("a name"), meaning: "The same as `name`." },
    event: { type: event, required: true, meaning: "When it is asked: see [Events](#events)." },
    priority: {
      type: integer(-MAX_PRIORITY, MAX_PRIORITY),
      default: "`0`, with a warning",
      meaning: "Lower is asked first.",
    },
    when: {
      type: script,
      default: "always",
      meaning: "A Starlark expression over `event`, `payload` and `ctx`; the hook is asked only where it is true.",
    },
    script: {
      type: script,
      meaning:
        "Starlark with `def handle(event, payload)` that answers `allow()`, `block(reason)` or `modify(payload)`.",
    },
    timeout_ms: {
      type: integer(1, MAX_HOOK_TIMEOUT_MS),
      default: "`100`; `5000` when the script waits for something",
      meaning: "How long it may take.",
    },
    on_error: {
      type: choice("allow", "block"),
      default: "`block` for guards, else `allow`",
      meaning: "What a failure of the hook means.",
    },
    match: {
      type: list(example, { max: MAX_EXAMPLES }),
      meaning: "Payloads that it blocks or modifies. Checked when the project is loaded.",
    },
    not_match: {
      type: list(example, { max: MAX_EXAMPLES }),
      meaning: "Payloads that it lets pass unchanged. Checked when the project is loaded.",
    },
  },
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
    const message = `The hook "${name}" has no priority, so it is asked with 0: before most others.`;
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
