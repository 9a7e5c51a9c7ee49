/** Logins at MCP servers of the user's configuration, and the browser that a person needs for one. */
import type { LoginResult } from "#credentials";
import { ReasonError } from "#protocol";
import { hasOwnToken } from "#session";
import { createProcesses } from "#world";
import { configuredServers, type ServerFlags } from "./mcp-servers.ts";
import type { ProgramPorts } from "./ports.ts";

const BROWSER_MS = 30_000;

/** Rejects with UsageInvalid for a server that has no login, with MCPLoginFailed and with Cancelled. */
export async function loginAtServer(
  ports: ProgramPorts,
  flags: ServerFlags,
  name: string,
  options: { readonly onAddress: (url: string) => void; readonly signal: AbortSignal },
): Promise<LoginResult> {
  const [server] = await configuredServers(ports, flags, name);
  const connection = server?.connection;
  if (connection === undefined || connection.kind === "stdio") {
    throw new ReasonError("UsageInvalid", `'${name}' is a program, not a server on the network: it has no login`);
  }
  if (hasOwnToken(connection)) {
    const detail = `the entry of '${name}' names a token of its own. Remove bearer_token_env_var, or the Authorization header, to log in`;
    throw new ReasonError("UsageInvalid", detail);
  }
  const { url, kind, headers, mayBePrivate = false, oauth = {} } = connection;
  return ports.credentials.login({ name, url, kind, headers, mayBePrivate, ...oauth, ...options });
}

/** Does nothing where there is no screen; whoever calls has printed the address. */
export async function openBrowser({ env, cwd }: Pick<ProgramPorts, "env" | "cwd">, url: string): Promise<void> {
  const isMac = process.platform === "darwin";
  if (!isMac && !env.DISPLAY && !env.WAYLAND_DISPLAY) return;
  const passed = Object.fromEntries(
    BROWSER_VARIABLES.flatMap((variable) => (env[variable] === undefined ? [] : [[variable, env[variable]]])),
  );
  const run = { file: isMac ? "open" : "xdg-open", args: [url], env: passed, timeoutMs: BROWSER_MS };
  try {
    await createProcesses({ root: cwd, env }).run({ ...run, onOutput: () => undefined }, new AbortController().signal);
  } catch {
    // There is no such program here: the address is on the screen.
  }
}

const BROWSER_VARIABLES = (
  "BROWSER DBUS_SESSION_BUS_ADDRESS DISPLAY HOME LANG PATH WAYLAND_DISPLAY XAUTHORITY XDG_CURRENT_DESKTOP XDG_DATA_DIRS " +
  "XDG_RUNTIME_DIR XDG_SESSION_TYPE"
).split(" ");
