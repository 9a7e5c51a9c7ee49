/** The terminal as the interface needs it, and the real one: raw keys in, bytes out, its size, and the way back to how it was. */
import { writeSync } from "node:fs";
import { errnoOf } from "#base";
import { WATCH_OFF } from "./background.ts";
import { MOUSE_OFF, MOUSE_ON } from "./mouse.ts";
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
/**
 * Rows end where the terminal does. A terminal that counts an emoji as wider than we do, or has another size by now, would break a row
 * and move all others.
 */
export const WRAP_OFF = `${ESC}[?7l`;
const WRAP_ON = `${ESC}[?7h`;
/** Bracketed paste, and keys that say which modifiers were held, where the terminal can. */
const ENTER = `${WRAP_OFF}${ESC}[?2004h${ESC}[>1u`;
const LEAVE = `${ESC}[?2026l${WATCH_OFF}${WRAP_ON}${ESC}[?2004l${ESC}[<u${ESC}[?25h${ESC}[0m`;
/** A terminal keeps the flags of its keys for each of the two screens. */
const FULL_ON = `${ESC}[?1049h${ESC}[>1u${MOUSE_ON}`;
const FULL_OFF = `${MOUSE_OFF}${ESC}[<u${ESC}[?1049l`;
/** What a terminal that takes nothing gets at the end of the program. */
const LAST_WRITE_MS = 300;
const LAST_WRITE_STEP_MS = 10;
const DEFAULT_SIZE: Size = { columns: 80, rows: 24 };
/** Without a handle that is alive, a program that is stopped ends when it is continued. */
const KEPT_ALIVE_MS = 2 ** 30;

type TerminalProcess = Pick<NodeJS.Process, "stdin" | "stdout" | "on" | "once" | "off" | "kill">;

export function createProcessScreen(process: TerminalProcess): ScreenPort {
  const { stdin, stdout } = process;
  const { write, onDrain } = createOutput(stdout);
  let suspend = (): void => undefined;
  let pause = (): (() => void) => () => undefined;
  let isFull = false;
  function useFull(isOn: boolean): void {
    if (isOn === isFull) return;
    isFull = isOn;
    write(isOn ? FULL_ON : FULL_OFF);
  }
  return {
    size: () => ({ columns: stdout.columns || DEFAULT_SIZE.columns, rows: stdout.rows || DEFAULT_SIZE.rows }),
    write,
    onDrain,
    useFull,
    begin(on) {
      const decoder = new TextDecoder();
      const onData = (chunk: Buffer): void => on.bytes(decoder.decode(chunk, { stream: true }));
      let isOn = false;
      const take = (): void => {
        isOn = true;
        stdin.setRawMode(true);
        stdin.resume();
        setBlocking(stdout, false);
        write(ENTER);
      };
      const give = (): void => {
        if (!isOn) return;
        isOn = false;
        useFull(false);
        stdin.setRawMode(false);
        stdin.pause();
        // With a frame that waits, the program would hang in writing it for as long as the terminal takes nothing.
        if (write(LEAVE)) setBlocking(stdout, true);
        else onDrain(() => isOn || setBlocking(stdout, true));
      };
      const onExit = (): void => {
        const isBehind = isOn && stdout.writableLength > 0;
        const last = `${isFull ? FULL_OFF : ""}${LEAVE}`;
        give();
        // What waits to be written goes with the program.
        if (isBehind) writeNow(stdout.fd, last);
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
      process.on("exit", onExit);
      take();
      return () => {
        give();
        stdin.off("data", onData);
        stdout.off("resize", on.resize);
        process.off("exit", onExit);
      };
    },
    suspend: () => suspend(),
    pause: () => pause(),
  };
}

/** False as soon as something waits: a frame that is painted later shows more than one that waits. */
function createOutput(stdout: TerminalProcess["stdout"]): Pick<ScreenPort, "write" | "onDrain"> {
  let listeners: (() => void)[] = [];
  const onWritten = (): void => {
    if (stdout.writableLength > 0) return;
    const waiting = listeners;
    listeners = [];
    for (const listener of waiting) listener();
  };
  return {
    write(bytes) {
      stdout.write(bytes, onWritten);
      return stdout.writableLength === 0;
    },
    onDrain: (listener) => void listeners.push(listener),
  };
}

/** Node writes to a terminal until it has taken everything; meanwhile no key would be read and no signal heard. */
function setBlocking(stdout: TerminalProcess["stdout"], isOn: boolean): void {
  const { _handle: handle } = stdout as { readonly _handle?: { setBlocking?(isOn: boolean): void } }; // there is no public way
  handle?.setBlocking?.(isOn);
}

function writeNow(fd: number, bytes: string): void {
  let left: Buffer = Buffer.from(bytes);
  for (let waitedMs = 0; left.length > 0 && waitedMs < LAST_WRITE_MS; waitedMs += LAST_WRITE_STEP_MS) {
    try {
      left = left.subarray(writeSync(fd, left));
    } catch (error) {
      // The terminal is gone, and with it what was to be restored.
      if (errnoOf(error) !== "EAGAIN") return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WRITE_STEP_MS);
    }
  }
}
