/** The terminal as the interface needs it, and the real one: raw keys in, bytes out, its size, and the way back to how it was. */
import type { Size } from "./screen-writer.ts";

export interface ScreenPort {
  size(): Size;
  /** False: the terminal takes no more for now; `onDrain` says when it does. */
  write(bytes: string): boolean;
  onDrain(listener: () => void): void;
  /** The alternate screen, or the main one as it was. */
  useFull(isOn: boolean): void;
  /** Takes the keyboard; returns how to give everything back. Safe to call more than once. */
  begin(on: { bytes(chunk: string): void; resize(): void; resumed(): void }): () => void;
  /** Stops the whole job, as the terminal itself would. `resumed` is called when it goes on. */
  suspend(): void;
  /** Gives the terminal to another program; returns how to take it back. `resumed` is called then. */
  pause(): () => void;
}

const ESC = "\u001b";
/** Bracketed paste, and keys that say which modifiers were held, where the terminal can. */
const ENTER = `${ESC}[?2004h${ESC}[>1u`;
const LEAVE = `${ESC}[?2026l${ESC}[?2004l${ESC}[<u${ESC}[?25h${ESC}[0m`;
/** A terminal keeps the flags of its keys for each of the two screens. */
const FULL_ON = `${ESC}[?1049h${ESC}[>1u`;
const FULL_OFF = `${ESC}[<u${ESC}[?1049l`;
const DEFAULT_SIZE: Size = { columns: 80, rows: 24 };
/** Without a handle that is alive, a program that is stopped ends when it is continued. */
const KEPT_ALIVE_MS = 2 ** 30;

type TerminalProcess = Pick<NodeJS.Process, "stdin" | "stdout" | "on" | "once" | "off" | "kill">;

export function createProcessScreen(process: TerminalProcess): ScreenPort {
  const { stdin, stdout } = process;
  let suspend = (): void => undefined;
  let pause = (): (() => void) => () => undefined;
  let isFull = false;
  function useFull(isOn: boolean): void {
    if (isOn === isFull) return;
    isFull = isOn;
    stdout.write(isOn ? FULL_ON : FULL_OFF);
  }
  return {
    size: () => ({ columns: stdout.columns || DEFAULT_SIZE.columns, rows: stdout.rows || DEFAULT_SIZE.rows }),
    write: (bytes) => stdout.write(bytes),
    onDrain: (listener) => void stdout.once("drain", listener),
    useFull,
    begin(on) {
      const decoder = new TextDecoder();
      const onData = (chunk: Buffer): void => on.bytes(decoder.decode(chunk, { stream: true }));
      let isOn = false;
      const take = (): void => {
        isOn = true;
        stdin.setRawMode(true);
        stdin.resume();
        stdout.write(ENTER);
      };
      const give = (): void => {
        if (!isOn) return;
        isOn = false;
        useFull(false);
        stdin.setRawMode(false);
        stdin.pause();
        stdout.write(LEAVE);
      };
      const onContinue = (): void => {
        take();
        on.resumed();
      };
      pause = () => {
        give();
        return onContinue;
      };
      suspend = () => {
        const alive = setTimeout(() => undefined, KEPT_ALIVE_MS);
        give();
        process.once("SIGCONT", () => {
          clearTimeout(alive);
          onContinue();
        });
        process.kill(0, "SIGTSTP");
      };
      stdin.on("data", onData);
      stdout.on("resize", on.resize);
      process.on("exit", give);
      take();
      return () => {
        give();
        stdin.off("data", onData);
        stdout.off("resize", on.resize);
        process.off("exit", give);
      };
    },
    suspend: () => suspend(),
    pause: () => pause(),
  };
}
