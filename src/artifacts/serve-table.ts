/** `serve`: where inputs come from when the program runs as a service. One table for each type of source. */
import type { ServeSource } from "./project.ts";
import {
  defineTable,
  error,
  type FieldMap,
  type FieldType,
  field,
  integer,
  list,
  nearestTo,
  nested,
  readTable,
  required,
  type Table,
  words,
  wrongValue,
} from "./schema.ts";

const MAX_ALLOWED = 1000;
const MAX_SAFE_ID = Number.MAX_SAFE_INTEGER;
const MAX_SOURCES = 10;

const type = required(words("`stdin`, `telegram` or `meshwire`")).means("The type of the source.");
const token_env = required(words("the name of an environment variable")).means(
  "The environment variable that holds the token. Never write the token itself here.",
);

export const sourceTables: Readonly<Record<ServeSource["type"], Table>> = {
  stdin: defineTable("Source stdin", "Reads inputs from standard input and writes answers to standard output.").of({
    type,
  }),
  telegram: defineTable("Source telegram", "Reads the messages that a Telegram bot receives.").of({
    type,
    token_env,
    chat_allowlist: required(list(integer(-MAX_SAFE_ID, MAX_SAFE_ID), { min: 1, max: MAX_ALLOWED })).means(
      "The chats that may send inputs.",
    ),
    poll_timeout_seconds: field(integer(0, 50), "the source's").means(
      "How long one poll waits for messages. `0` means the source's default.",
    ),
    offset_path: field(words("a path")).means("The file that remembers the last message across restarts."),
  }),
  meshwire: defineTable("Source meshwire", "Reads the messages of peers in a MeshWire mesh.").of({
    type,
    token_env,
    mesh_id: required(words()).means("The mesh to join."),
    agent_id: required(words()).means("The id of this agent in the mesh."),
    sender_allowlist: required(list(words("an agent id"), { min: 1, max: MAX_ALLOWED })).means(
      "The peers that may send inputs.",
    ),
    poll_timeout_seconds: field(integer(0, 60), "the source's").means(
      "How long one poll waits for messages. `0` means the source's default.",
    ),
    base_url: field(words("an address"), "`https://meshwire.io`").means("The address of the server."),
  }),
};

const source: FieldType<ServeSource> = {
  shown: "a source",
  tables: Object.values(sourceTables),
  read(tree, reader) {
    if (tree.kind !== "map") return reader.report(wrongValue(tree, "a table with `type`"));
    const written = tree.entries.find(({ key }) => key === "type")?.value;
    const name = written?.kind === "scalar" ? String(written.value) : "";
    if (!isSourceType(name)) {
      const expected = type.type.shown;
      const problem =
        written === undefined
          ? error("missing-key", tree.place, 'Source: "type" is missing.', { expected })
          : wrongValue(written, expected);
      return reader.report({ ...problem, ...nearestTo(name, Object.keys(sourceTables)) });
    }
    const table: Table<FieldMap> = sourceTables[name];
    const { values } = readTable(table, tree, reader);
    const { type: _, ...options } = values;
    return { type: name, place: tree.place, options };
  },
};

export const serveTable = defineTable("Serve", "Where `harness serve` gets its inputs.").of({
  sources: required(list(source, { min: 1, max: MAX_SOURCES })).means("The sources. Each type may appear once."),
});

export const serveType: FieldType<readonly ServeSource[]> = nested(serveTable, ({ values }, reader) => {
  const sources = values.sources ?? [];
  for (const [index, { type: name, place }] of sources.entries()) {
    if (sources.findIndex((other) => other.type === name) < index) {
      reader.report(error("duplicate-source", place, `There is more than one source of type "${name}".`));
    }
  }
  return sources;
});

function isSourceType(name: string): name is ServeSource["type"] {
  return Object.hasOwn(sourceTables, name);
}
