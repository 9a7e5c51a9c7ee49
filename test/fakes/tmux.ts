/** The program in a real terminal: a tmux server of its own, whose panes are read and typed into. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { CliHome } from "./cli-process.ts";
import { launcher } from "./launcher.ts";

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

const COLUMNS = 100;
const ROWS = 30;

export interface Pane {
  /** As `tmux send-keys` names them: `Enter`, `M-m`, `C-c`; everything else is typed as it is. */
  press(...keys: readonly string[]): void;
  type(text: string): void;
  resize(columns: number, rows: number): void;
  screen(): string;
  /** The screen and what has scrolled away above it. */
  all(): string;
  sees(text: string | RegExp): Promise<string>;
  /** What tmux knows of the pane, by its names for it. */
  format(text: string): string;
  /** Sends a signal to the program that runs in the shell of the pane. */
  signal(name: NodeJS.Signals): void;
  /** What the terminal has closed over: its programs get SIGHUP. */
  hangUp(): void;
}

/** Panes with a shell in the workspace of the home; `harness` there is the program. */
export function openTmux(home: CliHome): { pane(): Pane } {
  const socket = join(home.env.HOME ?? "", "tmux.sock");
  const env = { ...home.env, TERM: "xterm-256color", LC_ALL: "C.UTF-8" };
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], { env, cwd: home.workspace, encoding: "utf8" });
  onTestFinished(() => void spawnSync("tmux", ["-S", socket, "kill-server"]));
  // A server that ends with its last pane would be ending while the next pane is made.
  tmux("start-server", ";", "set-option", "-g", "exit-empty", "off");
  let count = 0;
  return {
    pane() {
      count += 1;
      const name = `pane${count}`;
      const size = ["-x", String(COLUMNS), "-y", String(ROWS)];
      tmux("new-session", "-d", "-s", name, ...size, "bash", "--norc", "--noprofile", "-i");
      const type = (text: string): void => void tmux("send-keys", "-t", name, "-l", text);
      const screen = (): string => tmux("capture-pane", "-p", "-t", name);
      type(
        `HARNESS="${process.execPath} ${home.launcher ?? launcher}"; harness() { $HARNESS "$@"; }; PS1='READY> '; clear\n`,
      );
      return {
        type,
        screen,
        press: (...keys) => void tmux("send-keys", "-t", name, ...keys),
        resize: (width, height) => void tmux("resize-window", "-t", name, "-x", String(width), "-y", String(height)),
        all: () => tmux("capture-pane", "-p", "-t", name, "-S", "-"),
        async sees(text) {
          const wanted = typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text);
          await expect.poll(screen, { interval: 50 }).toEqual(wanted);
          return screen();
        },
        format: (text) => tmux("display-message", "-p", "-t", name, text).trim(),
        signal(signal) {
          const shell = tmux("display-message", "-p", "-t", name, "#{pane_pid}").trim();
          process.kill(Number(readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8")), signal);
        },
        hangUp: () => void tmux("kill-session", "-t", name),
      };
    },
  };
}
