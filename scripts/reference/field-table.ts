/** JSON Schemas of objects as tables of their fields. */
import { CallId, ClientId, LogId, SessionId, TokenId, TurnId } from "#protocol";
import { plain, table } from "./markdown.ts";

/** The part of JSON Schema that zod writes for the protocol, and that the tools' parameters use. */
export interface Schema {
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

export const idKinds = [
  { kind: SessionId, meaning: "a session" },
  { kind: TurnId, meaning: "a turn" },
  { kind: CallId, meaning: "a tool call" },
  { kind: ClientId, meaning: "a client" },
  { kind: LogId, meaning: "a log; reserved" },
  { kind: TokenId, meaning: "a token; reserved" },
] as const;

/** The fields of an object schema; the last column only where something is said about one. */
export function fieldTable(schema: Schema, hidden: readonly string[]): string {
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
