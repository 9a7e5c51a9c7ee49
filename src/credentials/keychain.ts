/**
 * The keychain of the operating system, through the program that it ships: `secret-tool` on Linux, `security` on macOS. The
 * secret goes in and comes out over pipes, never as an argument.
 */
import { defined, type ProcessPort } from "#base";

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
const SERVICE = "harness";

export interface KeychainItem {
  readonly provider: string;
  readonly name: string;
}

export interface Keychain {
  /** The program behind it, for messages. */
  readonly program: string;
  /** Undefined when it worked, else why it did not. */
  store(item: KeychainItem, secret: Uint8Array): Promise<string | undefined>;
  /** The secret, or why there is none. */
  lookup(item: KeychainItem): Promise<Buffer | string>;
  remove(item: KeychainItem): Promise<string | undefined>;
}

/** What the keychain's program needs of our environment to find the session of the user. */
const SESSION_VARIABLES = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"];

/** Undefined where there is no keychain that we know. */
export function createKeychain(options: {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly processes: ProcessPort;
}): Keychain | undefined {
  const run = createRunner(options);
  if (options.platform === "linux") return secretTool(run);
  if (options.platform === "darwin") return macosSecurity(run);
  return undefined;
}

type Run = (file: string, args: readonly string[], stdin?: string) => Promise<{ out: Buffer } | { problem: string }>;

function createRunner({ env, processes }: Parameters<typeof createKeychain>[0]): Run {
  const session = Object.fromEntries(
    SESSION_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  return async (file, args, stdin) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let errors = "";
    try {
      const exit = await processes.run(
        {
          file,
          args,
          env: session,
          timeoutMs: TIMEOUT_MS,
          ...defined({ stdin }),
          onOutput(stream, chunk) {
            size += chunk.length;
            if (size > MAX_OUTPUT_BYTES) return;
            if (stream === "stdout") chunks.push(Buffer.from(chunk));
            else errors += Buffer.from(chunk).toString();
          },
        },
        new AbortController().signal,
      );
      if (exit.code === 0) return { out: Buffer.concat(chunks) };
      const said = errors.trim().split("\n")[0] ?? "";
      return { problem: `${file} ended with ${exit.code ?? exit.ended}${said === "" ? "" : `: ${said}`}` };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  };
}

function problemOf(result: { out: Buffer } | { problem: string }): string | undefined {
  return "problem" in result ? result.problem : undefined;
}

function secretTool(run: Run): Keychain {
  const program = "secret-tool";
  const attributes = ({ provider, name }: KeychainItem) => ["service", SERVICE, "provider", provider, "name", name];
  return {
    program,
    async store(item, secret) {
      const label = `--label=harness ${item.provider}/${item.name}`;
      return problemOf(await run(program, ["store", label, ...attributes(item)], Buffer.from(secret).toString("utf8")));
    },
    async lookup(item) {
      const result = await run(program, ["lookup", ...attributes(item)]);
      if ("problem" in result) return result.problem;
      return result.out.length === 0 ? "the keychain has no such entry" : withoutNewline(result.out);
    },
    remove: async (item) => problemOf(await run(program, ["clear", ...attributes(item)])),
  };
}

function macosSecurity(run: Run): Keychain {
  const program = "security";
  const item = ({ provider, name }: KeychainItem) => ["-s", `${SERVICE}:${provider}`, "-a", name];
  return {
    program,
    async store(entry, secret) {
      // Read from its standard input with -i, so that the secret is in nobody's list of processes. Hex needs no quoting.
      const hex = Buffer.from(secret).toString("hex");
      const command = ["add-generic-password", "-U", ...item(entry), "-X", hex].join(" ");
      return problemOf(await run(program, ["-i"], `${command}\n`));
    },
    async lookup(entry) {
      const result = await run(program, ["find-generic-password", "-w", ...item(entry)]);
      return "problem" in result ? result.problem : withoutNewline(result.out);
    },
    remove: async (entry) => problemOf(await run(program, ["delete-generic-password", ...item(entry)])),
  };
}

function withoutNewline(bytes: Buffer): Buffer {
  return bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
}
