/** The program as users start it: a child process with its own home, or one on a real pseudo-terminal. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as pty from "@lydell/node-pty";
import { onTestFinished } from "vitest";
import { endDaemons } from "./end-daemons.ts";
import { launcher, sharedCompileCache } from "./launcher.ts";

export interface CliHome {
  readonly workspace: string;
  /** Absent: that of all tests. */
  readonly launcher?: string;
  readonly env: Readonly<Record<string, string>>;
  put(path: string, content: string): string;
  /** Writes `config.toml`. */
  configure(toml: string): void;
}

export interface CliResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** For a home whose sessions need no model of a vendor: without a key and a terminal `run` wants one named. */
export const offlineModel = { HARNESS_MODEL: "scripted:offline" };

export function createCliHome(extraEnv: Readonly<Record<string, string>> = {}): CliHome {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-cli-")));
  onTestFinished(() => {
    endDaemons(join(home, "data", "harness", "daemon"));
    // A program that was told to end may be writing its last file.
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  const put = (path: string, content: string): string => {
    const file = join(workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  return {
    workspace,
    put,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      XDG_DATA_HOME: join(home, "data"),
      XDG_CONFIG_HOME: join(home, "config"),
      XDG_CACHE_HOME: join(home, "cache"),
      ...sharedCompileCache,
      ...extraEnv,
    },
    configure(toml) {
      const folder = join(home, "config", "harness");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "config.toml"), toml);
    },
  };
}

export function startCli(home: CliHome, args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [home.launcher ?? launcher, ...args], {
    cwd: home.workspace,
    env: { ...home.env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Runs to the end. Standard input is what is given, or empty. */
export function runCli(home: CliHome, args: readonly string[], stdin = ""): Promise<CliResult> {
  const child = startCli(home, args);
  child.stdin.end(stdin);
  return finish(child);
}

export function finish(child: ChildProcessWithoutNullStreams): Promise<CliResult> {
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    err += chunk;
  });
  return new Promise((done) => child.once("close", (code) => done({ code, out, err })));
}

/** Longer than anything takes on a busy machine, and short enough to say what was shown instead. */
const SEE_PATIENCE_MS = 90_000;

export interface CliTerminal {
  type(text: string): void;
  /** Resolves with everything shown so far once it contains the text; consumes it, so that the next wait looks further. */
  see(text: string): Promise<string>;
  readonly exit: Promise<number>;
}

export function openCliTerminal(home: CliHome, args: readonly string[]): CliTerminal {
  return openTerminal(home, process.execPath, [home.launcher ?? launcher, ...args]);
}

/** A shell with job control, and how the program is called in it. */
export function openShell(home: CliHome): CliTerminal & { readonly program: string } {
  const program = `'${process.execPath}' '${home.launcher ?? launcher}'`;
  return { ...openTerminal(home, "bash", ["--norc", "--noprofile", "-i"]), program };
}

function openTerminal(home: CliHome, file: string, args: readonly string[]): CliTerminal {
  const terminal = pty.spawn(file, [...args], {
    cwd: home.workspace,
    env: { ...home.env, TERM: "xterm" },
    cols: 120,
    rows: 40,
  });
  let shown = "";
  let from = 0;
  let ended = false;
  let wake = (): void => undefined;
  terminal.onData((data) => {
    shown += data;
    wake();
  });
  const exit = new Promise<number>((done) => {
    terminal.onExit(({ exitCode }) => {
      ended = true;
      wake();
      done(exitCode);
    });
  });
  onTestFinished(() => {
    if (!ended) terminal.kill("SIGKILL");
  });
  return {
    exit,
    type: (text) => terminal.write(text),
    async see(text) {
      const late = AbortSignal.timeout(SEE_PATIENCE_MS);
      late.onabort = () => wake();
      for (;;) {
        const at = shown.indexOf(text, from);
        if (at >= 0) {
          from = at + text.length;
          return shown;
        }
        if (ended) throw new Error(`the program ended without showing ${JSON.stringify(text)}:\n${shown}`);
        if (late.aborted) throw new Error(`the program did not show ${JSON.stringify(text)}:\n${shown}`);
        await new Promise<void>((resume) => {
          wake = resume;
        });
      }
    },
  };
}
