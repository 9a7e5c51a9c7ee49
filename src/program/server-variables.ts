/** Variables in the entries of a project's MCP servers: `${NAME}` and `${NAME:-default}`, as other agents write them. Pure. */
import type { DeclaredServer, McpConnection, McpServer } from "#artifacts";

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export interface ExpandedServer {
  readonly server: McpServer;
  /** Names, each once. */
  readonly variables: readonly string[];
  /** Why it cannot be used: a variable has no value and no default. */
  readonly unset?: string;
}

/** Only `.mcp.json` has variables in its texts. A variable that is not `readable` stays as it is written. */
export function expandedServer(
  { server, expands }: DeclaredServer,
  env: Readonly<Record<string, string | undefined>>,
  readable: (name: string) => boolean,
): ExpandedServer {
  const { connection } = server;
  const named = new Set(namesIn(connection));
  if (expands !== true) return { server, variables: [...named] };
  let unset: string | undefined;
  const text = (written: string): string =>
    written.replace(VARIABLE, (whole, name: string, fallback: string | undefined) => {
      named.add(name);
      const value = readable(name) ? env[name] : undefined;
      if (value === undefined && fallback === undefined) unset ??= `the variable ${name} is not set`;
      return value ?? fallback ?? whole;
    });
  const record = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, text(value)]));
  const expanded: McpConnection =
    connection.kind === "stdio"
      ? {
          ...connection,
          command: text(connection.command),
          args: connection.args.map(text),
          env: record(connection.env),
        }
      : { ...connection, url: text(connection.url), headers: record(connection.headers) };
  const wrong = unset ?? addressProblem(expanded);
  return {
    server: { ...server, connection: expanded },
    variables: [...named],
    ...(wrong !== undefined && { unset: wrong }),
  };
}

function addressProblem(connection: McpConnection): string | undefined {
  if (connection.kind === "stdio") return undefined;
  const url = URL.parse(connection.url);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  return isWeb && url.username === "" && url.password === "" ? undefined : "its address is not one of http or https";
}

function namesIn(connection: McpConnection): readonly string[] {
  if (connection.kind === "stdio") return connection.envVars;
  const { envHeaders = {}, bearerVariable } = connection;
  return [...Object.values(envHeaders), ...(bearerVariable === undefined ? [] : [bearerVariable])];
}
