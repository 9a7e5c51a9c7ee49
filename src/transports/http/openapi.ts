/** The route table as an OpenAPI 3.1 document. The schemas are those of the protocol; nothing is written twice. */
import { defined } from "#base";
import { reasons } from "#protocol";
import { protocolJsonSchema } from "#protocol/schemas";
import { CLIENT_HEADER } from "./principal.ts";
import type { Route } from "./route.ts";

type Json = Readonly<Record<string, unknown>>;

export function openApiDocument(routes: readonly Route[], version: string): Json {
  // The document's `$defs` are the schemas that were put there by name.
  const defs = protocolJsonSchema().$defs as Readonly<Record<string, Json>>;
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] ?? {}, { [route.method.toLowerCase()]: operation(route, defs) });
  }
  return {
    openapi: "3.1.0",
    info: { title: "Harness control plane", version },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "apiKey", in: "header", name: "X-Harness-Token" } },
      schemas: { Event: defs.envelope ?? {}, Handshake: defs.handshake ?? {}, Failure: failure },
    },
  };
}

const failure: Json = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: { reason: { type: "string", enum: Object.keys(reasons) }, message: { type: "string" } },
      required: ["reason", "message"],
    },
  },
  required: ["error"],
};

function operation(route: Route, defs: Readonly<Record<string, Json>>): Json {
  const { summary, commands, query = {}, headers = {}, answers, type = "application/json" } = route;
  const schema = bodySchema(route, defs);
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const text = { schema: { type: "string" } };
  const parameters = [
    ...names.map((name) => ({ name, in: "path", required: true, ...text })),
    ...Object.entries(query).map(([name, description]) => ({ name, in: "query", description, ...text })),
    ...Object.entries(headers).map(([name, description]) => ({ name, in: "header", description, ...text })),
    ...(route.handshake
      ? [{ name: CLIENT_HEADER, in: "header", description: "The client of the handshake.", ...text }]
      : []),
  ];
  const responses = Object.entries(answers).map(([status, description]) => {
    return [status, { description, ...(status === "204" ? {} : { content: { [type]: {} } }) }] as const;
  });
  return {
    summary,
    ...(commands?.length === 1 ? { "x-command": commands[0] } : defined({ "x-commands": commands })),
    "x-handshake": route.handshake,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(schema === undefined ? {} : { requestBody: { content: { "application/json": { schema } } } }),
    responses: {
      ...Object.fromEntries(responses),
      default: {
        description: "A reason of the protocol.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
      },
    },
  };
}

/** The fields of the command without those that the route knows. */
export function bodySchema({ method, commands, body }: Route, defs: Readonly<Record<string, Json>>): Json | undefined {
  if (method !== "POST") return undefined;
  if (body !== undefined) return body;
  const schema = commands === undefined ? undefined : defs[`command.${commands[0]}`];
  if (schema === undefined) return undefined;
  const { properties = {}, required = [], ...rest } = schema;
  // JSON Schema of an object: both are what their names say.
  const { kind: _, session: __, ...fields } = properties as Json;
  const needed = (required as readonly string[]).filter((name) => name in fields);
  return { ...rest, properties: fields, ...(needed.length === 0 ? {} : { required: needed }) };
}
