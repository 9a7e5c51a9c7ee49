/** `context` of a project, with `context.sources`: what joins a turn from files, commands, MCP servers and expressions, and when. */
import { defined } from "#base";
import { contextTable, pathInside, type WrittenContext, writtenContext } from "./context-table.ts";
import type { DeclaredSource, SourceOrigin } from "./project.ts";
import {
  choice,
  defineTable,
  error,
  field,
  flag,
  integer,
  list,
  nested,
  required,
  script,
  textThat,
  words,
} from "./schema.ts";

const MAX_SOURCES = 20;
const MAX_SOURCE_TOKENS = 20_000;
export const DEFAULT_SOURCE_TOKENS = 1_000;

const name = textThat("1 to 64 letters, digits, dots, hyphens and underscores", (value) => {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value);
});

export const resourceTable = defineTable("Resource", "A resource of an MCP server.").of({
  server: required(words("name of a server")).means("The MCP server."),
  uri: required(words("URI")).means("The URI of the resource."),
});

export const declaredSourceTable = defineTable(
  "Context source",
  "Text that joins the turns of a session while it applies. A source has exactly one of `file`, `command`, `resource` and `starlark`. Nobody is ever asked about a source: a command or a resource needs a permission rule that allows it.",
).of({
  name: required(name).means("The name of the source, unique in the list."),
  file: field(pathInside).means("A file of the project, read as `fs.read` reads it."),
  command: field(words("command")).means("A command, which runs as a call of `exec`."),
  resource: field(
    nested(resourceTable, ({ values: { server, uri } }) =>
      server === undefined || uri === undefined ? undefined : { server, uri },
    ),
  ).means("A resource of an MCP server, read by `mcp.read_resource`."),
  starlark: field(script).means(
    "A Starlark expression without effects, with the same names as `when`. Its value is the text; `None` or an empty text is nothing.",
  ),
  when: field(script, "always").means("A Starlark expression. The source applies when it is true."),
  refresh: field(choice("turn", "session"), "`session`").means(
    "`session`: Harness reads the source once, in the first turn to which it applies, and it stays in the prompt. `turn`: Harness reads it at each turn, and what has changed joins that turn.",
  ),
  max_tokens: field(integer(1, MAX_SOURCE_TOKENS), `\`${DEFAULT_SOURCE_TOKENS}\``).means(
    "The longest text that the source may add, in tokens, estimated. The rest is cut.",
  ),
  required: field(flag, "`false`").means(
    "If true, a turn ends when the source fails. Otherwise a notice says so, and the turn goes on.",
  ),
});

const declaredSource = nested(declaredSourceTable, ({ values, place }, reader): DeclaredSource | undefined => {
  const { file, command, resource, starlark, when } = values;
  const origins: SourceOrigin[] = [
    ...(file === undefined ? [] : [{ kind: "file" as const, path: file.path }]),
    ...(command === undefined ? [] : [{ kind: "command" as const, command }]),
    ...(resource === undefined ? [] : [{ kind: "resource" as const, ...resource }]),
    ...(starlark === undefined ? [] : [{ kind: "starlark" as const, script: starlark }]),
  ];
  const [origin] = origins;
  if (origin === undefined || origins.length > 1) {
    const message = `A context source needs exactly one of file, command, resource and starlark; this one has ${origins.length}.`;
    return reader.report(error("wrong-source", place, message));
  }
  if (values.name === undefined) return undefined;
  return {
    name: values.name,
    place,
    origin,
    ...defined({ when }),
    refresh: values.refresh ?? "session",
    maxTokens: values.max_tokens ?? DEFAULT_SOURCE_TOKENS,
    required: values.required ?? false,
  };
});

const all = list(declaredSource, { max: MAX_SOURCES });

const declaredSources: typeof all = {
  ...all,
  read(tree, reader) {
    const sources = all.read(tree, reader);
    for (const [at, source] of (sources ?? []).entries()) {
      if (sources?.findIndex((other) => other.name === source.name) === at) continue;
      reader.report(
        error("duplicate-name", source.place, `The context source "${source.name}" is defined more than once.`),
      );
    }
    return sources;
  },
};

export const projectContextTable = defineTable(
  "Context",
  "Which parts of the conversation, which files and which sources the model sees.",
).of({
  ...contextTable.fields,
  sources: field(declaredSources, "none").means("What else joins the turns of the agent at the root."),
});

export const projectContextType = nested(projectContextTable, (read): WrittenContext => {
  const { sources } = read.values;
  const written = writtenContext(read);
  return sources === undefined ? written : { ...written, config: { ...written.config, sources } };
});
