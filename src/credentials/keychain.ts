/** The keychain of the operating system, for provider keys and the newest head of a log; `world/keychain-program.ts` says how it is called. */
import { defined, type ProcessPort } from "#base";
import { type KeychainCommand, type KeychainItem, keychainProgram, keychainSession, lookedUp } from "#world";

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

export type { KeychainItem };

export interface Keychain {
  /** The program behind it, for messages. */
  readonly program: string;
  /** Undefined when it worked, else why it did not. */
  store(item: KeychainItem, secret: Uint8Array): Promise<string | undefined>;
  /** The secret, or why there is none. */
  lookup(item: KeychainItem): Promise<Buffer | string>;
  remove(item: KeychainItem): Promise<string | undefined>;
}

/** Undefined where there is no keychain that we know. */
export function createKeychain(options: {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly processes: ProcessPort;
}): Keychain | undefined {
  const calls = keychainProgram(options.platform);
  if (calls === undefined) return undefined;
  const run = createRunner(options);
  return {
    program: calls.program,
    store: async (item, secret) => problemOf(await run(calls.store(item, secret))),
    async lookup(item) {
      const result = await run(calls.lookup(item));
      return "problem" in result ? result.problem : (lookedUp(result.out) ?? "the keychain has no such entry");
    },
    remove: async (item) => problemOf(await run(calls.remove(item))),
  };
}

type Run = (command: KeychainCommand) => Promise<{ out: Buffer } | { problem: string }>;

function createRunner({ env, processes }: Parameters<typeof createKeychain>[0]): Run {
  const session = keychainSession(env);
  return async ({ file, args, stdin }) => {
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
