/**
 * The client that `conformance client --command` starts: our own connections, transports and credential helper, with a person who agrees
 * to every login. Prints what happened; exits 1 when the server could not be used.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { McpServer } from "#artifacts";
import { isRecord } from "#base";
import { createEnvironmentKeys } from "#credentials";
import type { QuestionDetails, ToolContext } from "#engine";
import { createMcpServers } from "#mcp";
import { createSystemClock } from "#world";
import { programCredentials } from "../../src/program/credentials.ts";
import { createRemoteServers } from "../../src/session/remote-servers.ts";

/** A person gives up then. */
const MAX_LOGINS = 3;
const CIMD_URL = "https://conformance-test.local/client-metadata.json";
const NEEDS_LOGIN = /Run: harness mcp login/;

const url = process.argv.at(-1) ?? "";
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context: unknown = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const given = isRecord(context) ? context : {};

const home = mkdtempSync(join(tmpdir(), "harness-conformance-"));
const env: Record<string, string> = {
  HOME: home,
  PATH: process.env.PATH ?? "",
  HARNESS_MACHINE_KEY: "ab".repeat(32),
  ...(typeof given.client_secret === "string" && { CLIENT_SECRET: given.client_secret }),
};
const clock = createSystemClock();
const credentials = programCredentials({
  env,
  keys: createEnvironmentKeys(env, undefined),
  clock,
  file: process.env.HARNESS_TEST_HELPER ?? resolve(import.meta.dirname, "../../src/credential-helper.ts"),
});
const remote = createRemoteServers({ credentials, domains: () => undefined, clock, bus: () => undefined });
const server: McpServer = {
  name: "net",
  connection: { kind: "http", url, headers: {} },
  startupTimeoutMs: 20_000,
  toolTimeoutMs: 20_000,
  discovery: "eager",
  disabledTools: [],
  readOnlyTools: [],
};
const servers = createMcpServers({
  servers: [server],
  world: { fetch: remote.fetch, start: () => Promise.reject(new Error("no program is started here")) },
  clock,
  onDown: () => undefined,
  onWaiting: () => undefined,
  log: (level, text) => console.error(level, text),
});

let logins = 0;

async function login(): Promise<void> {
  logins += 1;
  await credentials.login({
    ...{ name: "net", url, kind: "http", headers: {}, mayBePrivate: false, clientMetadataUrl: CIMD_URL },
    ...(typeof given.client_id === "string" && { clientId: given.client_id }),
    ...(typeof given.client_secret === "string" && { clientSecretVariable: "CLIENT_SECRET" }),
    onAddress: (address) => void fetch(address),
    signal: new AbortController().signal,
  });
}

async function connected(): Promise<void> {
  await servers.ready();
  for (;;) {
    const [state] = servers.states();
    if (state?.state === "ready") return;
    const why = state?.lastError ?? "it is not ready";
    if (!NEEDS_LOGIN.test(why) || logins >= MAX_LOGINS) throw new Error(why);
    await login();
    await servers.restart("net");
  }
}

async function call(tool: string, args: Record<string, unknown>): Promise<void> {
  const found = servers.tools().find(({ name }) => name === `mcp.net.${tool}`);
  if (found === undefined) throw new Error(`${tool} is not offered`);
  // A tool of a server uses these alone.
  const parts = {
    ...{ ports: { servers: servers.port }, signal: new AbortController().signal, progress: () => undefined },
    ask: async (_question: string, _options: readonly string[], details?: QuestionDetails) => filledIn(details?.form),
  };
  for (;;) {
    try {
      console.error(tool, JSON.stringify(await found.run(args, parts as unknown as ToolContext)));
      return;
    } catch (error) {
      if (!NEEDS_LOGIN.test(String(error)) || logins >= MAX_LOGINS) throw error;
      await login();
    }
  }
}

/** A person who leaves what is filled in, and fills in the rest. */
function filledIn(form: QuestionDetails["form"] = []): string {
  const given = form.map((field) => [field.name, field.default ?? firstValue(field)]);
  return JSON.stringify(Object.fromEntries(given));
}

function firstValue({ type, options }: NonNullable<QuestionDetails["form"]>[number]): unknown {
  const [first] = options ?? [];
  if (first !== undefined) return type === "choices" ? [first.value] : first.value;
  return type === "boolean" ? true : type === "text" ? "given" : 1;
}

function argumentsFor(tool: string): Record<string, unknown> {
  if (tool === "add_numbers") return { a: 5, b: 3 };
  const described = servers.tools().find(({ name }) => name === "mcp.net.json_schema_2020_12_tool");
  // Called with the schema of the other tool, as the model was shown it.
  if (tool === "json_schema_echo") return { schema: described?.parameters };
  return {};
}

try {
  await connected();
  const planned = Array.isArray(given.toolCalls) ? given.toolCalls.filter(isRecord) : undefined;
  const names = servers
    .tools()
    .flatMap(({ name }) => (name.startsWith("mcp.net.") ? [name.slice("mcp.net.".length)] : []));
  const calls =
    planned?.map((one) => [String(one.name), one.arguments] as const) ??
    names.map((name) => [name, undefined] as const);
  for (const [name, args] of calls) await call(name, isRecord(args) ? args : argumentsFor(name));
} catch (error) {
  console.error(scenario, String(error));
  process.exitCode = 1;
} finally {
  await servers.close();
  credentials.close();
  rmSync(home, { recursive: true, force: true });
}
