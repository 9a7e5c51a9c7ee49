/** A pane of tmux as the judge of a storm: bytes go to it through a pipe, and its screen is what tmux captures. */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { StormTerminal } from "./interface-storm.ts";

const ESC = "\u001b";

export function tmuxTerminal(): StormTerminal {
  const folder = mkdtempSync(join(tmpdir(), "harness-tmux-storm-"));
  const env = { PATH: process.env.PATH, HOME: folder, TERM: "xterm-256color", LC_ALL: "C.UTF-8" };
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-S", join(folder, "s"), "-f", "/dev/null", ...args], { env, encoding: "utf8" });
  const [shown, other] = ["shown", "fresh"].map((name) => openPane(name, folder, tmux));
  if (shown === undefined || other === undefined) throw new Error("no panes");
  return {
    async resize(columns, rows) {
      await shown.rows();
      shown.resize(columns, rows);
    },
    write: shown.write,
    rows: shown.rows,
    async fresh(bytes, { columns, rows }) {
      other.write(`${ESC}[?1049l${ESC}c`);
      await other.rows();
      other.resize(columns, rows);
      other.write(bytes);
      return other.rows();
    },
    close() {
      shown.close();
      other.close();
      spawnSync("tmux", ["-S", join(folder, "s"), "kill-server"], { env });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function openPane(name: string, folder: string, tmux: (...args: readonly string[]) => string) {
  const pipe = join(folder, name);
  execFileSync("mkfifo", [pipe]);
  tmux("new-session", "-d", "-s", name, "-x", "80", "-y", "24", `stty raw -echo; exec cat '${pipe}'`);
  tmux("set-option", "-t", name, "status", "off");
  const fd = openSync(pipe, "r+");
  let marks = 0;
  return {
    write: (bytes: string): void => void writeSync(fd, bytes),
    resize: (columns: number, rows: number): void =>
      void tmux("resize-window", "-t", name, "-x", String(columns), "-y", String(rows)),
    /** When it has read everything: the title of the pane comes after the rest. */
    async rows(): Promise<readonly string[]> {
      marks += 1;
      writeSync(fd, `${ESC}]2;mark-${marks}\u0007`);
      await expect
        .poll(() => tmux("display-message", "-p", "-t", name, "#{pane_title}").trim(), { interval: 3 })
        .toBe(`mark-${marks}`);
      const rows = tmux("capture-pane", "-p", "-t", name).split("\n");
      return rows.slice(0, rows.findLastIndex((row) => row.trim() !== "") + 1);
    },
    close: () => closeSync(fd),
  };
}
