/** The program in this process, with a home and a folder of its own; nobody is at its terminal, or somebody who presses one key. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished } from "vitest";
import { runCli } from "#cli";
import type { EventDraft } from "#engine";
import type { SessionId } from "#protocol";
import { exportedSession } from "./exported-session.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { quietCliPorts, quietScreen } from "./quiet-cli-ports.ts";

export interface InProcessCli {
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: ManualClock;
  /** Ctrl-C. */
  interrupt(): void;
  put(path: string, content: string | Uint8Array): string;
  run(...args: string[]): Promise<{ code: number; out: string; err: string }>;
  /** Runs the command, which must print JSON, whatever its exit code is. */
  json(...args: string[]): Promise<unknown>;
  /** Puts a session with these events into the log, by way of an export. */
  putSession(id: SessionId, drafts: readonly EventDraft[], workingDir?: string): Promise<void>;
}

/** With a `key` somebody is at the terminal and answers every question for one key with it. */
export function createInProcessCli(extraEnv: Readonly<Record<string, string>> = {}, key?: string): InProcessCli {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-cli-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  const listeners = new Set<(by: "person") => void>();
  const cli: InProcessCli = {
    workspace,
    env: { HOME: home, ...extraEnv },
    clock: createManualClock(),
    interrupt() {
      for (const listener of listeners) listener("person");
    },
    put(path, content) {
      const file = resolve(workspace, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    async run(...args) {
      const said = { out: "", err: "" };
      const ports = quietCliPorts(said, {
        env: cli.env,
        cwd: workspace,
        clock: cli.clock,
        terminal: {
          interactive: key !== undefined,
          columns: Number.POSITIVE_INFINITY,
          ask: (question) =>
            question({
              ...quietScreen(said),
              readKey: async () => (key === undefined ? { kind: "end" } : { kind: "key", key }),
            }),
          onInterrupt(listener) {
            listeners.add(listener);
            return () => void listeners.delete(listener);
          },
        },
      });
      const code = await runCli(args, ports);
      return { code, ...said };
    },
    async json(...args) {
      return JSON.parse((await cli.run(...args, "--json")).out);
    },
    async putSession(id, drafts, workingDir = workspace) {
      const file = cli.put(join(home, `${id}.jsonl`), await exportedSession(id, drafts, workingDir));
      expect(await cli.run("sessions", "import", file)).toMatchObject({ code: 0 });
    },
  };
  return cli;
}
