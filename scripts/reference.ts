/**
 * Writes the reference pages that follow from tables in the code: the protocol, the tools, the providers, the files of a project,
 * the built-ins of scripts and redaction. What a table
 * declares but this version never does is told apart, by looking for it in the sources. Pages about behaviour are written by
 * hand and are not touched. `npm run docs`
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { adminKeys, artifactTables, hookEventAliases, hookEvents } from "#artifacts";
import type { Tool } from "#engine";
import { CallId, ClientId, LogId, type Reason, reasons, SessionId, TokenId, TurnId } from "#protocol";
import { commands, contentBlocks, events, PROTOCOL_VERSION, protocolJsonSchema } from "#protocol/schemas";
import { vendors } from "#providers";
import { ruleFamilies, STREAM_WINDOW_CHARS } from "#redaction";
import { type Audience, type BuiltinRow, builtinModules, builtinTable } from "#script";
import { createBuiltinTools } from "#tools";

const root = resolve(import.meta.dirname, "..");
const LINE_WIDTH = 120;
const GENERATED = "<!-- Made by `npm run docs` from the tables in the code. Change those, not this page. -->";

export interface ReferencePage {
  /** Relative to the repository root. */
  readonly path: string;
  readonly text: string;
}

/** Every generated page. The same sources always give the same bytes. */
export function referencePages(): readonly ReferencePage[] {
  return [
    { path: "docs/reference/protocol.md", text: protocolPage() },
    { path: "docs/reference/protocol.schema.json", text: `${formatJson(protocolJsonSchema())}\n` },
    { path: "docs/reference/tools.md", text: toolsPage() },
    { path: "docs/reference/providers.md", text: providersPage() },
    { path: "docs/reference/artifacts.md", text: artifactsPage() },
    { path: "docs/reference/built-ins.md", text: builtinsPage() },
    { path: "docs/reference/redaction.md", text: redactionPage() },
  ];
}

/** The part of JSON Schema that zod writes for the protocol, and that the tools' parameters use. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const idKinds = [
  { kind: SessionId, meaning: "a session" },
  { kind: TurnId, meaning: "a turn" },
  { kind: CallId, meaning: "a tool call" },
  { kind: ClientId, meaning: "a client" },
  { kind: LogId, meaning: "a log; reserved" },
  { kind: TokenId, meaning: "a token; reserved" },
] as const;

function protocolPage(): string {
  // The document's `$defs` are the schemas that were put there by name.
  const defs = protocolJsonSchema().$defs as Readonly<Record<string, Schema>>;
  const used = usedInSources();
  const schemaOf = (name: string): Schema => defs[name] ?? {};
  const entry = (prefix: string, hidden: readonly string[]) => (name: string) => {
    const schema = schemaOf(`${prefix}.${name}`);
    return [`### ${name}`, schema.description ?? "", fieldTable(schema, hidden)].filter((part) => part !== "");
  };
  const kinds = Object.keys(events);
  const published = kinds.filter((kind) => used.events.has(kind));
  const reservedEvents = kinds.filter((kind) => !used.events.has(kind));
  // `reasons` has exactly these keys.
  const codes = Object.keys(reasons) as Reason[];
  const given = codes.filter((code) => used.words.has(code));
  const reservedReasons = codes.filter((code) => !used.words.has(code));
  return page([
    "# Protocol",
    GENERATED,
    `Version ${PROTOCOL_VERSION}. Clients send commands and receive events. In this version clients live in the same process ` +
      "(the command line, an embedding program); `--json` prints the events as JSON lines. The same in JSON Schema: " +
      "[protocol.schema.json](protocol.schema.json).",
    "Objects may carry more fields than are listed. Unknown ones are ignored; those that begin with `x_` are kept.",
    "## Ids",
    table(
      ["id", "names"],
      idKinds.map(({ kind, meaning }) => [`\`${kind.prefix}_<ULID>\``, meaning]),
    ),
    "A ULID is 26 characters of Crockford base 32; ids of one kind sort in the order in which they were made.",
    "## Envelope",
    "The one form of an event, in the log and on every output.",
    fieldTable(schemaOf("envelope"), []),
    "## Commands",
    "Every command has `kind`, its name. A refused command is answered with a reason; nothing has happened then.",
    ...Object.keys(commands).flatMap(entry("command", ["kind"])),
    "## Events",
    "The payload by `kind`. `step` counts the model calls of a turn from 1, `block` the content blocks of a response from 0.",
    ...published.flatMap(entry("event", [])),
    "### Reserved events",
    `Declared, and not published by this version: ${list(reservedEvents)}. Their payloads are in the JSON Schema.`,
    "## Content blocks",
    "A client may send `text` and `image`; a tool result holds the same two.",
    ...Object.keys(contentBlocks).flatMap(entry("block", ["type"])),
    "## Reasons",
    "Why something was refused or failed. The code is stable, the text is for people; `<name>` is filled in. The numbers are " +
      "the HTTP status, the JSON-RPC code and the exit code that the reason stands for.",
    reasonTable(given),
    "### Reserved reasons",
    "In the table, and not given by this version.",
    reasonTable(reservedReasons),
    "## Handshake",
    "What a server tells about itself before the first command. Clients in the same process need none, and this version has no " +
      "others.",
    fieldTable(schemaOf("handshake"), []),
  ]);
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

function toolsPage(): string {
  const tools = createBuiltinTools().tools();
  return page([
    "# Built-in tools",
    GENERATED,
    "The canonical name is what logs and events carry; the label is what people see, and permission rules take either. A " +
      "provider's wire gets the name with `_` for each dot. How a call is judged: [permissions.md](permissions.md).",
    "Calls of one response: read-only and sensitive ones that stand next to each other run side by side, a mutating one runs " +
      "alone and in order. Paths are relative to the workspace and cannot leave it, symlinks included.",
    table(
      ["tool", "label", "class", "what the model is told"],
      tools.map((tool) => [`\`${tool.name}\``, tool.label, tool.class, plain(tool.description)]),
    ),
    ...tools.flatMap(toolSection),
  ]);
}

function toolSection(tool: Tool): string[] {
  // The built-in tools declare plain object schemas.
  return [`## ${tool.name}`, fieldTable(tool.parameters as Schema, [])];
}

function providersPage(): string {
  const code = (text: string | undefined): string => (text === undefined ? "–" : `\`${text}\``);
  return page([
    "# Providers",
    GENERATED,
    "A model is named `provider:name`; the name is the vendor's own and may contain `/` and `:`. Without a name, the first " +
      "provider of this list whose key is set gives its default model. `harness models` shows which keys are set, " +
      "`harness models <provider>` the models.",
    table(
      ["provider", "key", "default model", "small", "large"],
      vendors.map(({ name, keyVariables, models }) => [
        `\`${name}\``,
        keyVariables.length === 0 ? "none needed" : keyVariables.map((variable) => `\`${variable}\``).join(" or "),
        code(models?.default),
        code(models?.small),
        code(models?.large),
      ]),
    ),
    "## Addresses",
    "The variable, or `base_url` in the configuration, replaces the address; `base_url` wins.",
    table(
      ["provider", "wire family", "address", "variable", "key sent as", "lists its models"],
      vendors.map(({ name, family, baseUrl, baseUrlVariable, auth, catalogPath }) => [
        `\`${name}\``,
        family,
        code(baseUrl),
        code(baseUrlVariable),
        auth === "bearer" ? "`authorization: Bearer`" : "`x-api-key`",
        catalogPath === undefined ? "no; a list comes with the program" : "yes",
      ]),
    ),
    "`custom` is any server that speaks one of the two families; `family` in the configuration says which (default `openai`). " +
      "It and `ollama` send a key only when `api_key_env` names a variable.",
    "`scripted:<name>` is a scenario that ships with the program, `scripted:<file.yaml>` one of your own: " +
      "[scenarios.md](scenarios.md).",
  ]);
}

function artifactsPage(): string {
  const link = (title: string): string => `[${title}](#${title.toLowerCase().replaceAll(" ", "-")})`;
  return page([
    "# Files of a project",
    GENERATED,
    "A project is a folder with `harness.md` (or `harness.yaml`, `harness.yml`) and `.harness/`. Each file is read and checked " +
      "by the table for its kind; the same table holds for a file, for an entry in `harness.md` and for an entry in a bundle. " +
      "`artifact_roots` names further folders that are laid out like `.harness/`.",
    table(
      ["where", "what"],
      [
        ["`harness.md`", `${link("Project file")}; the body is the identity of the agent`],
        ["`.harness/tools/NAME.md`", `${link("Tool")}; the body is its description`],
        ["`.harness/hooks/NAME.md`", `${link("Hook")}; the body is for reviewers`],
        ["`.harness/agents/NAME.md`", `${link("Agent")}; the body is its system prompt`],
        ["`.harness/plugins/NAME.md`", `${link("Bundle")} of type \`plugin\``],
        ["`.harness/builtins/NAME.md`", `${link("Bundle")} of type \`builtin\``],
        ["`.harness/overrides/NAME.md`", `${link("Bundle")} of type \`override\``],
      ],
    ),
    "A Markdown file begins with a line `---`, then YAML 1.2, then a second line `---`; the rest is the body. Files are UTF-8 " +
      "and have at most 1 MiB. Links that lead out of the project are refused.",
    "Every problem of every file is reported at once, with file, line and column. An unknown key is a warning and has no effect; " +
      "of a key that is written twice the last one holds, with a warning. A wrong value is an error, and a project with an error " +
      "is not loaded. Files that change take effect at the next step; after a broken edit the last good version stays in force.",
    "A name has letters, digits, `_`, `.` and `-`, at most 64, and is unique among its kind over all files.",
    ...artifactTables.flatMap(({ title, about, fields }) => [
      `## ${title}`,
      about,
      table(
        ["field", "type", "default", "meaning"],
        Object.entries(fields).map(([name, field]) => [
          `\`${name}\``,
          [field.type.shown, ...(field.type.tables ?? []).map((one) => link(one.title))].join(", "),
          field.required ? "required" : (field.default ?? "–"),
          field.meaning,
        ]),
      ),
    ]),
    "## Events",
    "When hooks are asked. `custom.NAME`, with a name of lower-case letters, digits, `_` and `.`, is an event that scripts emit.",
    table(
      ["event", "when", "also written"],
      Object.entries(hookEvents).map(([name, when]) => [
        `\`${name}\``,
        when,
        list(Object.keys(hookEventAliases).filter((alias) => hookEventAliases[alias] === name)) || "–",
      ]),
    ),
    "## Admin policy",
    "`/etc/harness/policy.md`, or the file that `HARNESS_ADMIN_POLICY` names, has the form of `harness.md` and stands above every " +
      `project on the machine. It may hold ${list(adminKeys)}; anything else warns and has no effect.`,
    "Nothing below can loosen it: of two limits the lower one holds, of two sandbox modes the stricter one; tools and hosts have " +
      "to be allowed by both; its deny and ask rules always count; its hooks are asked first, and no other hook may have their " +
      "names. `meta` is on only when both say so. While the file is there and cannot be read or has an error, nothing is loaded.",
  ]);
}

function builtinsPage(): string {
  const rows = builtinTable();
  const alone = rows.filter(({ module }) => module === "");
  return page([
    "# Built-ins of scripts",
    GENERATED,
    "The names that scripts of tools (`run(args)`) and hooks (`handle(event, payload)`) see, and those of `when:` and `condition:` " +
      "expressions. The language is [Starlark](starlark.md); its own functions (`len`, `range`, `type`, …) are there as well. " +
      '`print` writes to the log like `log`. There is no `isinstance`: write `type(x) == "string"`.',
    "A function that fails ends the script: a tool then returns an error with the place in the file, a hook that guards blocks. " +
      "Letters say who has it: T tools, H hooks, C conditions. Everything is bounded: text, results, time, steps and memory of a run.",
    ...builtinModules.flatMap((module) => [
      `## ${module.name}`,
      `${module.meaning}.`,
      builtinRows(rows.filter((row) => row.module === module.name)),
    ]),
    "## Functions",
    "Those that stand alone.",
    builtinRows(alone),
  ]);
}

const LETTERS: Readonly<Record<Audience, string>> = { tool: "T", hook: "H", condition: "C" };

function builtinRows(rows: readonly BuiltinRow[]): string {
  return table(
    ["call", "gives", "for", "meaning"],
    rows.map(({ signature, returns, audience, meaning }) => [
      `\`${signature}\``,
      returns,
      audience.map((who) => LETTERS[who]).join(" "),
      meaning,
    ]),
  );
}
type Rule = (typeof ruleFamilies)[string][number];

function redactionPage(): string {
  const kinds = Object.values(ruleFamilies).flat();
  const toldBy = (rule: Rule): string => {
    switch (rule.type) {
      case "token":
        return `\`${rule.pattern}\``;
      case "context":
        return `\`${rule.pattern}\` on the same line behind ${rule.near.map((word) => `\`${word.trim()}\``).join(" or ")}`;
      case "field":
        return `a field named ${rule.names.map((name) => `\`${name}\``).join(", ")}`;
      case "url":
        return `the password in ${rule.schemes.map((scheme) => `\`${scheme === "" ? "any" : scheme}://\``).join(", ")}`;
      case "special":
        return SPECIAL_RULES[rule.matcher];
    }
  };
  return page([
    "# Redaction",
    GENERATED,
    "A secret is replaced by `«redacted:KIND»`. The same text always gives the same result, and redacting it again changes " +
      "nothing. `harness redact` shows what it does: [cli.md](cli.md#harness-redact).",
    "## How a secret is told",
    "One pass over the text looks for keywords; where one is found, its rules are tried. Their patterns are matched from left to " +
      "right and never go back, so that the time grows with the text alone. What was found must then bear it out: by its entropy, " +
      "by the name or the word beside it, by its check digits. Placeholders (`xxxx`, `your-key-here`), references (`$VAR`, `<token>`, " +
      "`op://…`, paths), expressions of code, hashes, UUIDs and our own ids stay.",
    "Besides the table:",
    [
      "- **Known secrets**: values of the environment and of the credential store, also as base64 at any alignment, base64url, hex, " +
        "URL-encoded, JSON-escaped, and line by line. Values under 8 characters or with fewer than 4 different ones are not looked " +
        "for, because that would destroy ordinary text; `status()` says how many those are.",
      "- **User patterns**: RE2 syntax, linear time, at most 100 of at most 1,000 characters; a match of up to 256 characters is found " +
        "for certain. Together they have 250 ms for one text; beyond that the text is refused.",
      "- **JSON values**: every string and key; names of passwords, phrases and codes decide on the whole value.",
    ].join("\n"),
    "## Streams",
    `What cannot be decided yet is held back: usually the last word, at most ${STREAM_WINDOW_CHARS} characters. A longer secret is ` +
      "replaced when that is full, and its rest is swallowed. All pieces together give what the whole text would have given, but for secrets that touch each other without anything in between: a " +
      "text of up to 64 KiB is looked at again where they do, a longer one or a stream is not. When no " +
      "text comes for 50 ms, what only might begin a secret goes out; a secret that has begun to show stays. If a token shows by its " +
      "form only behind its first part (the lines of a key whose first line is missing, for example), up to 20 characters of it can " +
      "have gone out by then. With user patterns the last 256 characters are held back as well.",
    "## When it fails",
    "If the table cannot be loaded, a rule fails, a user pattern is wrong or exceeds its budget, or a value is nested deeper than 256, " +
      "no text comes out: `RedactionFailed`.",
    "## What it does not find",
    "- Secrets without a form, a telling name or a vendor's name beside them, unless they are known secrets.\n" +
      "- Tokens that are URL-encoded in their middle, encoded otherwise, or split by other text.\n" +
      "- Weak passwords that are plain words without quotes in YAML or code, and passwords told in prose without a digit.",
    `## Kinds`,
    `${kinds.length} kinds. \`-\` in the name of a field stands for \`_\`, \`-\`, \`.\`, a space or nothing, and names may have more in front.`,
    ...Object.entries(ruleFamilies).flatMap(([family, rules]) => [
      `### ${family.charAt(0).toUpperCase()}${family.slice(1)}`,
      table(
        ["kind", "told by"],
        rules.map((rule) => [`\`${rule.kind}\``, toldBy(rule)]),
      ),
    ]),
  ]);
}

const SPECIAL_RULES = {
  "private-key": "a block of key lines behind `-----BEGIN … PRIVATE KEY-----`, also without its end",
  "private-key-tail": "key lines before `-----END … PRIVATE KEY-----`, without their beginning",
  cookie: "all of a `Cookie` header",
  "set-cookie": "the value in a `Set-Cookie` header",
  "user-flag": "the password in `-u user:password` of curl and the like",
  card: "13 to 19 digits of an issuer, plain or in groups, with the right check digit",
  iban: "an IBAN of the length of its country, with the right check digits",
} as const;

/** What the sources outside `protocol/` publish, and every quoted word in them. Tests do not count. */
function usedInSources(): { readonly events: ReadonlySet<string>; readonly words: ReadonlySet<string> } {
  const published = new Set<string>();
  const words = new Set<string>();
  for (const file of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || /(?:\.test|-suite)\.ts$|^protocol[/\\]/.test(file)) continue;
    const text = readFileSync(join(root, "src", file), "utf8");
    for (const [, kind = ""] of text.matchAll(/publish(?:Delta)?\((?:\{\s*kind:\s*)?"(\w+)"/g)) published.add(kind);
    for (const [, word = ""] of text.matchAll(/"(\w+)"/g)) words.add(word);
  }
  return { events: published, words };
}

/** The fields of an object schema; the last column only where something is said about one. */
function fieldTable(schema: Schema, hidden: readonly string[]): string {
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => !hidden.includes(name));
  if (fields.length === 0) return "No fields.";
  const described = fields.some(([, { description }]) => description !== undefined);
  const rows = fields.map(([name, field]) => [
    `\`${name}\``,
    typeText(field),
    schema.required?.includes(name) === true && !isAnything(field) ? "yes" : "",
    ...(described ? [plain(field.description ?? "")] : []),
  ]);
  return table(["field", "type", "required", ...(described ? ["meaning"] : [])], rows);
}

/** A field without a type holds whatever there is, nothing included. */
function isAnything(schema: Schema): boolean {
  return (
    schema.type === undefined && schema.const === undefined && schema.enum === undefined && schema.oneOf === undefined
  );
}

function typeText(schema: Schema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(" or ");
  if (schema.oneOf !== undefined) return schema.oneOf.map(typeText).join(" or ");
  if (schema.type === "array") return `list of ${typeText(schema.items ?? {})}`;
  if (schema.type === "object") return objectText(schema);
  const id = idKinds.find(({ kind }) => kind.pattern.source === schema.pattern);
  if (id !== undefined) return `\`${id.kind.prefix}_…\``;
  if (schema.format === "date-time") return "time, ISO 8601 in UTC";
  if (schema.format === "base64") return "base64";
  return schema.type ?? "any";
}

/** A content block by its type, any other object by its fields. */
function objectText({ properties = {} }: Schema): string {
  const { type } = properties;
  if (type?.const !== undefined) return `${String(type.const)} block`;
  return `{ ${Object.keys(properties)
    .map((name) => `\`${name}\``)
    .join(", ")} }`;
}

function page(parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

/** Text in which Markdown must see no tag and no emphasis. */
function plain(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll("*", "\\*");
}

/** JSON as the formatter of this repository writes it: a list stays on one line where it fits. */
function formatJson(value: unknown, indent = "", used = 0): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const flat = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    const isPlain = value.every((item) => typeof item !== "object" || item === null);
    if (isPlain && used + flat.length < LINE_WIDTH) return flat;
    return `[\n${value.map((item) => inner + formatJson(item, inner)).join(",\n")}\n${indent}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value);
  if (fields.length === 0) return "{}";
  const lines = fields.map(([key, field]) => {
    const start = `${inner}${JSON.stringify(key)}: `;
    return start + formatJson(field, inner, start.length);
  });
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

if (process.argv[1] === import.meta.filename) {
  for (const { path, text } of referencePages()) {
    writeFileSync(join(root, path), text);
    process.stdout.write(`${path}\n`);
  }
}
