/** The program in a real terminal: a pane of a tmux server of its own, with a shell that has job control. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as after } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { CliHome } from "./cli-process.ts";
import { launcher } from "./launcher.ts";

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

const PATIENCE_MS = 60_000;
const LOOK_MS = 50;

export interface TmuxPane {
  /** As tmux names keys (`Enter`, `C-z`); everything else is typed as it is. */
  keys(...names: readonly string[]): void;
  text(text: string): void;
  resize(columns: number, rows: number): void;
  /** The screen and what has scrolled away above it. */
  all(): string;
  screen(): string;
  /** Resolves with the screen once it matches; fails with what it shows instead. */
  shows(wanted: RegExp | string): Promise<string>;
  /** The program with these arguments, in the shell. */
  run(...args: readonly string[]): void;
}

export function openTmux(home: CliHome, columns = 100, rows = 30): TmuxPane {
  const server = `harness-${randomUUID()}`;
  const tmux = (...args: readonly string[]): string => {
    return execFileSync("tmux", ["-L", server, "-f", "/dev/null", ...args], {
      ...{ cwd: home.workspace, env: { ...home.env, TERM: "xterm-256color" }, encoding: "utf8" },
    });
  };
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "env PS1='$ ' bash --norc --noprofile -i");
  onTestFinished(() => void tmux("kill-server"));
  const screen = (): string => tmux("capture-pane", "-p");
  return {
    keys: (...names) => void tmux("send-keys", ...names),
    text: (text) => void tmux("send-keys", "-l", text),
    resize: (width, height) => void tmux("resize-window", "-x", String(width), "-y", String(height)),
    all: () => tmux("capture-pane", "-p", "-S", "-"),
    screen,
    async shows(wanted) {
      const begin = performance.now();
      for (;;) {
        const shown = screen();
        if (typeof wanted === "string" ? shown.includes(wanted) : wanted.test(shown)) return shown;
        if (performance.now() - begin > PATIENCE_MS) throw new Error(`${wanted} was not shown, but:\n${shown}`);
        await after(LOOK_MS);
      }
    },
    run: (...args) => void tmux("send-keys", `'${process.execPath}' '${launcher}' ${args.join(" ")}`, "Enter"),
  };
}
