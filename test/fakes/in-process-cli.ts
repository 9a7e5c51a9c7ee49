/** The program in this process, with a home and a folder of its own; nobody is at its terminal, or somebody who presses one key. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished } from "vitest";
import { runCli } from "#cli";
import type { EventDraft } from "#engine";
import type { SessionId } from "#protocol";
import { createMemoryStore, loadPortability } from "#sessions";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { testCredentials } from "./test-credentials.ts";

const packageRoot = resolve(import.meta.dirname, "../..");
const CREATED_AT = "2026-01-01T00:00:00.000Z";

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
  const listeners = new Set<() => void>();
  const cli: InProcessCli = {
    workspace,
    env: { HOME: home, ...extraEnv },
    clock: createManualClock(),
    interrupt() {
      for (const listener of listeners) listener();
    },
    put(path, content) {
      const file = resolve(workspace, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    async run(...args) {
      const said = { out: "", err: "" };
      const code = await runCli(args, {
        terminal: {
          out: (text) => {
            said.out += text;
          },
          err: (text) => {
            said.err += text;
          },
          interactive: key !== undefined,
          inputIsPiped: false,
          colour: false,
          columns: Number.POSITIVE_INFINITY,
          readLine: async () => ({ kind: "end" }),
          readKey: async () => (key === undefined ? { kind: "end" } : { kind: "key", key }),
          readSecret: async () => ({ kind: "end" }),
          readAll: async () => "",
          readLines: async function* () {},
          readChunks: async function* () {},
          readBytes: async function* () {},
          claimOutput: () => ({ write: async () => undefined, close: () => undefined }),
          outDrained: async () => undefined,
          onInterrupt(listener) {
            listeners.add(listener);
            return () => void listeners.delete(listener);
          },
        },
        env: cli.env,
        credentials: testCredentials(cli.env),
        concealed: () => undefined,
        cwd: workspace,
        clock: cli.clock,
        build: { version: "0.0.0", commit: "test", builtAt: "test" },
        scenariosDir: join(packageRoot, "scenarios"),
        templatesDir: join(packageRoot, "templates"),
        relaunch: () => {
          throw new Error("no process is started here");
        },
        endsWhenStopped: () => undefined,
      });
      return { code, ...said };
    },
    async json(...args) {
      return JSON.parse((await cli.run(...args, "--json")).out);
    },
    async putSession(id, drafts, workingDir = workspace) {
      const store = createMemoryStore();
      await store.create({ id, workingDir, profile: "default", model: "scripted:x", createdAt: CREATED_AT });
      await (await store.acquire(id)).append(drafts, CREATED_AT);
      const meta = await store.get(id);
      if (meta === undefined) throw new Error("the session is there");
      const { exportLines } = await loadPortability();
      const lines = await Array.fromAsync(exportLines(meta, store.readEvidence(id), "0.1.0"));
      const file = cli.put(join(home, `${id}.jsonl`), `${lines.join("\n")}\n`);
      expect(await cli.run("sessions", "import", file)).toMatchObject({ code: 0 });
    },
  };
  return cli;
}
