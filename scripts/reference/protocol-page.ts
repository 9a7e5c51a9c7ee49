/** The page about the protocol. Reserved events are a list of the protocol; reserved reasons are those that no source names. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { commandKinds, commandRows, mcpToolOf, type Reason, reasons } from "#protocol";
import {
  buildHandshake,
  contentBlocks,
  events,
  PROTOCOL_VERSION,
  protocolJsonSchema,
  reservedEvents,
  streamEvents,
} from "#protocol/schemas";
import { HTTP_FEATURES } from "../../src/transports/http/handshake.ts";
import { fieldTable, idKinds, type Schema } from "./field-table.ts";
import { GENERATED, list, page, plain, table } from "./markdown.ts";

const sources = resolve(import.meta.dirname, "../../src");

export function protocolPage(): string {
  // The document's `$defs` are the schemas that were put there by name.
  const defs = protocolJsonSchema().$defs as Readonly<Record<string, Schema>>;
  const used = wordsInSources();
  const schemaOf = (name: string): Schema => defs[name] ?? {};
  const entry = (prefix: string, hidden: readonly string[]) => (name: string) => {
    const schema = schemaOf(`${prefix}.${name}`);
    return [`### ${name}`, schema.description ?? "", fieldTable(schema, hidden)].filter((part) => part !== "");
  };
  const reserved = new Set<string>(reservedEvents);
  const published = Object.keys(events).filter((kind) => !reserved.has(kind));
  // `reasons` has exactly these keys.
  const codes = Object.keys(reasons) as Reason[];
  const given = codes.filter((code) => used.has(code));
  const reservedReasons = codes.filter((code) => !used.has(code));
  return page([
    "# Protocol",
    GENERATED,
    `Version ${PROTOCOL_VERSION}. Clients send commands and receive events. Clients live in the same process (the ` +
      "command line, an embedding program) or on the other side of [HTTP](http.md); `--json` prints the events as JSON lines. The package has " +
      "the same as a JSON Schema, `harness-runtime/protocol.schema.json`.",
    "Objects may have more fields than are listed. Unknown fields have no effect; fields that begin with `x_` are kept. " +
      "`POST /v1/sessions` lists the fields that it ignored in `ignored_fields`: a client cannot set the sandbox or approvals.",
    "## Ids",
    table(
      ["id", "names"],
      idKinds.map(({ kind, meaning }) => [`\`${kind.prefix}_<ULID>\``, meaning]),
    ),
    "A ULID is 26 characters of Crockford base 32; ids of one kind sort by creation time.",
    "## Envelope",
    "Every event has this form, in the log and on every output.",
    fieldTable(schemaOf("envelope"), []),
    "## Commands",
    "Every command has `kind`, its name. A refused command gets a reason as its answer and has no effect.",
    "In the same process and over web sockets, a command is sent as it is. The table shows its place on the other wires. Commands of a " +
      "connection for the same session are executed in order. Commands marked *at once* wait for no other, because others may wait for them. " +
      "The MCP names are those that the MCP server will use.",
    commandTable(),
    ...commandKinds.flatMap((kind) => [
      ...entry("command", ["kind"])(kind),
      ...replyOf(kind, schemaOf(`reply.${kind}`)),
    ]),
    "## Events",
    "The payload by `kind`. `step` counts the model calls of a turn from 1, `block` the content blocks of a response from 0.",
    ...published.flatMap(entry("event", [])),
    `Sent to one client on its stream and never stored in the log: ${list(streamEvents)}.`,
    "### Reserved events",
    reservedEvents.length === 0
      ? "There are none: this version publishes every event above."
      : `Declared, but not published by this version: ${list(reservedEvents)}. Their payloads are in the JSON Schema.`,
    "## Content blocks",
    "A client may send `text`, `image` and `file`; a tool result holds `text` and `image`.",
    ...Object.keys(contentBlocks).flatMap(entry("block", ["type"])),
    "## Reasons",
    "A reason says why something was refused or failed. The code is stable, the text is for people; `<name>` is filled in. The numbers are " +
      "the reason's HTTP status, JSON-RPC code and exit code.",
    reasonTable(given),
    ...(reservedReasons.length === 0
      ? []
      : [
          "### Reserved reasons",
          "These reasons are in the table, but this version does not use them.",
          reasonTable(reservedReasons),
        ]),
    "## Handshake",
    "A server describes itself before the first command. Clients in the same process need no handshake.",
    fieldTable(schemaOf("handshake"), []),
    `Features of every server: ${list(buildHandshake().features)}. A wire adds its own: ${list(HTTP_FEATURES)} over HTTP, \`rpc\` over ` +
      "JSON-RPC, `inproc` in the same process.",
  ]);
}

function commandTable(): string {
  return table(
    ["command", "REST", "JSON-RPC", "MCP tool", "order", "who", "feature"],
    commandKinds.map((kind) => {
      const { route = "POST /v1/sessions/{id}/commands", rpc, scope, humanOnly, feature } = commandRows[kind];
      return [
        `[\`${kind}\`](#${kind.toLowerCase()})`,
        `\`${route}\``,
        rpc === undefined ? "–" : `\`${rpc}\``,
        `\`${mcpToolOf(kind)}\``,
        scope === "none" ? "at once" : scope,
        humanOnly === undefined ? "all" : "humans",
        feature === undefined ? "–" : `\`${feature}\``,
      ];
    }),
  );
}

function replyOf(kind: string, schema: Schema): readonly string[] {
  return Object.keys(schema.properties ?? {}).length === 0 ? [] : [`Reply to \`${kind}\`:`, fieldTable(schema, [])];
}

function reasonTable(codes: readonly Reason[]): string {
  return table(
    ["reason", "HTTP", "RPC", "exit", "text"],
    codes.map((code) => {
      const { http, rpc, exit, text } = reasons[code];
      return [`\`${code}\``, String(http), String(rpc), String(exit), plain(text)];
    }),
  );
}

/** Every quoted word in the sources outside `protocol/`. Tests do not count. */
function wordsInSources(): ReadonlySet<string> {
  const words = new Set<string>();
  for (const file of readdirSync(sources, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || /(?:\.test|-suite)\.ts$|^protocol[/\\]/.test(file)) continue;
    const text = readFileSync(join(sources, file), "utf8");
    for (const [, word = ""] of text.matchAll(/"(\w+)"/g)) words.add(word);
  }
  return words;
}
