/** The real network of a session for a test, and commands that run in it as the product starts them. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EgressRecord, openSessionNetwork, type SessionNetwork, type SessionNetworkOptions } from "#sandbox";
import { createSystemClock, startReaped } from "#world";

export const BWRAP = programPath("bwrap");
export const NSENTER = programPath("nsenter");

/** A command with its own user and PID namespace and no capability. */
export const CONFINEMENT =
  "--unshare-user --disable-userns --unshare-pid --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --".split(
    " ",
  );

export interface TestNetwork extends SessionNetwork {
  readonly folder: string;
  readonly records: EgressRecord[];
  /** Starts Bash in it. */
  start(script: string): TestCommand;
  /** Runs Bash in it to its end and gives both streams. */
  shell(script: string): Promise<string>;
  /** Closes it and removes its folder. */
  remove(): Promise<void>;
}

export interface TestCommand {
  /** Resolves with the first text that it printed. */
  printed(): Promise<string>;
  kill(): void;
}

export async function openTestNetwork(options: Partial<SessionNetworkOptions> = {}): Promise<TestNetwork> {
  const folder = options.folder ?? realpathSync(mkdtempSync(join(tmpdir(), "harness-network-")));
  const records: EgressRecord[] = [];
  const network = await openSessionNetwork({
    bwrap: BWRAP,
    nsenter: NSENTER,
    node: process.execPath,
    folder,
    domains: undefined,
    loopbackPorts: [],
    clock: createSystemClock(),
    record: async (entry) => void records.push(entry),
    start: startReaped,
    ...options,
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true });
    throw error;
  });
  const begin = (script: string) => {
    const { file, args } = network.enter({ file: BWRAP, args: [...CONFINEMENT, "bash", "-c", script] });
    const env = { PATH: process.env.PATH, NODE: process.execPath, ...network.env };
    return spawn(file, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  };
  return {
    ...network,
    folder,
    records,
    start(script) {
      const child = begin(script);
      return {
        printed: async () => String((await once(child.stdout, "data"))[0]),
        kill: () => void child.kill("SIGKILL"),
      };
    },
    async shell(script) {
      const child = begin(script);
      let output = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
      await once(child, "close");
      return output;
    },
    async remove() {
      await network.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function programPath(name: string): string {
  try {
    return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
  } catch {
    return `/usr/bin/${name}`;
  }
}
