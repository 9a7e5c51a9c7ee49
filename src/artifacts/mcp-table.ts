/** `[mcp_servers.NAME]` in `config.toml`: MCP servers whose tools the agent may call. */
import { defined, isDomainEntry } from "#base";
import type { McpConnection, McpServer } from "./mcp-server.ts";
import {
  byName,
  choice,
  defineTable,
  type FieldType,
  flag,
  forms,
  integer,
  list,
  nested,
  type TableValues,
  text,
  textThat,
  words,
} from "./schema.ts";

const MAX_ARGS = 256;
const MAX_PATHS = 64;
const MAX_TOOLS = 10_000;
const MAX_DOMAINS = 1000;
const MAX_WAIT_MS = 60_000;
const MAX_CALL_MS = 24 * 60 * 60 * 1000;
const DEFAULT_STARTUP_MS = 3_000;
const DEFAULT_TOOL_MS = 60_000;
/** Words of `/mcp` and of `harness mcp`. */
const RESERVED = new Set(["approve", "restart", "list", "search", "describe"]);
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

const domains = list(textThat("host name, address, `*.name` or `*`, without scheme and port", isDomainEntry), {
  max: MAX_DOMAINS,
});
const network = forms<readonly string[] | "public">('`"none"`, `"public"` or a list of hosts', [], (tree) =>
  tree.kind === "list"
    ? (hosts, reader) => domains.read(hosts, reader)
    : (word, reader) => {
        const read = choice("none", "public").read(word, reader);
        return read === "none" ? [] : read;
      },
);
const toolNames = list(words("tool name"), { max: MAX_TOOLS });

const serverTable = defineTable({
  title: "MCP server",
  about:
    "A program that is started with the session. Its tools are called `mcp.NAME.TOOL`; each call passes rules, hooks and the log like any other.",
  fields: {
    command: {
      type: words("program"),
      required: true,
      meaning: "The program, which speaks MCP on its standard input and output.",
    },
    args: { type: list(text(), { max: MAX_ARGS }), default: "`[]`", meaning: "Its arguments." },
    env: {
      type: byName(text(), "variable"),
      default: "none",
      meaning: "Variables that it gets. Of your environment it gets no others.",
    },
    env_vars: {
      type: list(words("name of a variable"), { max: MAX_ARGS }),
      default: "`[]`",
      meaning: "Variables of your environment that it gets as they are.",
    },
    network: {
      type: network,
      default: '`"none"`',
      meaning: "The hosts that the program reaches. `network.allowed_domains` holds as well.",
    },
    paths: {
      type: list(
        textThat("absolute path", (path) => path.startsWith("/")),
        { max: MAX_PATHS },
      ),
      default: "`[]`",
      meaning:
        "Folders of the machine that it sees, read-only, besides [the usual ones](../security.md#what-both-see).",
    },
    enabled: { type: flag, default: "`true`", meaning: "`false`: the entry stays and nothing is started." },
    startup_timeout_ms: {
      type: integer(0, MAX_WAIT_MS),
      default: `\`${DEFAULT_STARTUP_MS}\``,
      meaning: "How long the first request to the model waits for it.",
    },
    tool_timeout_ms: {
      type: integer(1, MAX_CALL_MS),
      default: `\`${DEFAULT_TOOL_MS}\``,
      meaning: "How long one call may take.",
    },
    discovery: {
      type: choice("auto", "eager", "lazy"),
      default: '`"auto"`',
      meaning:
        "`eager`: the model sees every tool from the start. `lazy`: it sees names and finds the rest by searching. `auto`: eager up to 20 tools.",
    },
    enabled_tools: { type: toolNames, default: "all", meaning: "The tools that are offered." },
    disabled_tools: { type: toolNames, default: "`[]`", meaning: "Tools that are not offered." },
    read_only_tools: {
      type: toolNames,
      default: "`[]`",
      meaning: "Tools that change nothing, by your own judgement. What a server says of its tools does not count.",
    },
  },
});

const serverType: FieldType<Omit<McpServer, "name"> | "disabled"> = nested(serverTable, toServer);

export const mcpServersType: FieldType<readonly McpServer[]> = (() => {
  const named = byName(serverType, "server: small letters, digits, `-` and `_`", (name) => isServerName(name));
  return {
    ...named,
    read(tree, reader) {
      const read = named.read(tree, reader);
      if (read === undefined) return undefined;
      return Object.entries(read).flatMap(([name, server]) => (server === "disabled" ? [] : [{ name, ...server }]));
    },
  };
})();

export function isServerName(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name);
}

function toServer({
  values,
}: TableValues<typeof serverTable.fields>): Omit<McpServer, "name"> | "disabled" | undefined {
  const { command } = values;
  if (command === undefined) return undefined;
  if (values.enabled === false) return "disabled";
  const connection: McpConnection = {
    kind: "stdio",
    command,
    args: values.args ?? [],
    env: values.env ?? {},
    envVars: values.env_vars ?? [],
    network: values.network ?? [],
    paths: values.paths ?? [],
  };
  return {
    connection,
    startupTimeoutMs: values.startup_timeout_ms ?? (values.discovery === "lazy" ? 0 : DEFAULT_STARTUP_MS),
    toolTimeoutMs: values.tool_timeout_ms ?? DEFAULT_TOOL_MS,
    discovery: values.discovery ?? "auto",
    ...defined({ enabledTools: values.enabled_tools }),
    disabledTools: values.disabled_tools ?? [],
    readOnlyTools: values.read_only_tools ?? [],
  };
}
