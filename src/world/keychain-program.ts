/**
 * The program through which the operating system's keychain is used, `secret-tool` on Linux and `security` on macOS, and how it is
 * called. The secret goes in and comes out over pipes, never as an argument. It runs nothing itself.
 */

const SERVICE = "harness";

export interface KeychainItem {
  readonly provider: string;
  readonly name: string;
}

export interface KeychainCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly stdin?: string;
}

export interface KeychainProgram {
  readonly program: string;
  store(item: KeychainItem, secret: Uint8Array): KeychainCommand;
  lookup(item: KeychainItem): KeychainCommand;
  remove(item: KeychainItem): KeychainCommand;
}

/** What the program needs of our environment to find the session of the user. */
const SESSION_VARIABLES = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"];

export function keychainSession(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of SESSION_VARIABLES) {
    const value = env[name];
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** Undefined where there is no keychain that we know. */
export function keychainProgram(platform: NodeJS.Platform): KeychainProgram | undefined {
  if (platform === "linux") return secretTool;
  return platform === "darwin" ? macosSecurity : undefined;
}

/** What `lookup` printed; undefined when it has no such entry. */
export function lookedUp(out: Buffer): Buffer | undefined {
  if (out.length === 0) return undefined;
  return out.at(-1) === 0x0a ? out.subarray(0, -1) : out;
}

const attributes = ({ provider, name }: KeychainItem) => ["service", SERVICE, "provider", provider, "name", name];

const secretTool: KeychainProgram = {
  program: "secret-tool",
  store: (item, secret) => ({
    file: "secret-tool",
    args: ["store", `--label=harness ${item.provider}/${item.name}`, ...attributes(item)],
    stdin: Buffer.from(secret).toString("utf8"),
  }),
  lookup: (item) => ({ file: "secret-tool", args: ["lookup", ...attributes(item)] }),
  remove: (item) => ({ file: "secret-tool", args: ["clear", ...attributes(item)] }),
};

const entry = ({ provider, name }: KeychainItem) => ["-s", `${SERVICE}:${provider}`, "-a", name];

const macosSecurity: KeychainProgram = {
  program: "security",
  // Read from its standard input with -i, so that the secret is in nobody's list of processes. Hex needs no quoting.
  store: (item, secret) => ({
    file: "security",
    args: ["-i"],
    stdin: `${["add-generic-password", "-U", ...entry(item), "-X", Buffer.from(secret).toString("hex")].join(" ")}\n`,
  }),
  lookup: (item) => ({ file: "security", args: ["find-generic-password", "-w", ...entry(item)] }),
  remove: (item) => ({ file: "security", args: ["delete-generic-password", ...entry(item)] }),
};
