/**
 * What a person types: lines, secrets, and answers. An answer is read only after its question is on the screen; what was typed
 * before is dropped, also what waits in the buffers of Node and of the system. It knows nothing about what is asked.
 */
import type { Interface, ReadLineOptions } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import { type Clock, visibleLine } from "#base";
import { asOneLine, createLineKeys, PASTE_OFF, PASTE_ON } from "./line-keys.ts";

export type ReadLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupted" };

export type ReadKey =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupted" };

/** What helps whoever types a line. */
export interface LineAid {
  /** Earlier inputs for arrow-up and Ctrl-P, newest first. */
  readonly history: readonly string[];
  /** Lines that Tab puts in the place of this one: one at once, several as a list. */
  complete(line: string): Promise<readonly string[]>;
  /** What stands in the line for a pasted text; undefined: the text itself. */
  pasted?(text: string): string | undefined;
  /** What stands in the line for what is in the clipboard; empty when there is nothing to use. */
  fromClipboard?(): Promise<string>;
}

export interface Keyboard {
  /**
   * One line, or a paste of several. What stood there when the signal took it away comes back with the next line behind the same
   * prompt.
   */
  readLine(prompt: string, signal: AbortSignal, aid?: LineAid): Promise<ReadLine>;
  /** The last line of `keys` is the prompt. A paste is one answer, with line feeds in it. */
  readAnswer(keys: string, signal: AbortSignal): Promise<ReadLine>;
  readKey(prompt: string, signal: AbortSignal): Promise<ReadKey>;
  readSecret(prompt: string, signal: AbortSignal): Promise<ReadLine>;
}

export interface KeyboardParts {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
  readonly interactive: boolean;
  readonly clock: Clock;
  /** Ctrl-C was pressed. */
  readonly interrupt: () => void;
  /** Ctrl-Z was pressed. Returns when the program goes on. */
  readonly suspend: () => void;
  /** Somebody else writes a line that has not ended: nothing of what is typed is shown until then. */
  readonly isMuted: () => boolean;
  /** The line that is read is about to end, or to give the terminal away. */
  readonly onLineEnd: () => void;
  /** A line of the conversation is being read, or no longer: what is written meanwhile goes above it. */
  readonly onReading: (lines: Interface | undefined, wasAborted: boolean) => void;
}

/** Nobody who types pauses for so long between two keys of a word, and nobody reads a question faster. */
const STILL_MS = 300;
/** The lines of a paste come faster than this after one another; no person types so. */
const PASTE_MS = 50;
const ERASE_LINE = "\r\u001b[K";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_Z = "\u001a";
const BACKSPACE = "\u007f";
const ENDS_A_LINE = ["\r", CTRL_C, CTRL_D, CTRL_Z];
const ENDS_A_SECRET = `\r\n${CTRL_C}${CTRL_D}`;
const DROPPED = "  (Keys that you typed before the question appeared were dropped.)\n";

export function createKeyboard(parts: KeyboardParts): Keyboard {
  const { stdin, stderr, interactive, clock, interrupt, onReading } = parts;
  /** The line of a conversation that is being read. */
  let current: { readonly aid: LineAid | undefined; lines?: Interface } | undefined;
  const lineKeys = createLineKeys({
    pasted: (text) => current?.aid?.pasted?.(text),
    onClipboard() {
      const line = current;
      // A line that has ended in the meantime takes nothing.
      void line?.aid?.fromClipboard?.().then((text) => text !== "" && line === current && line.lines?.write(text));
    },
  });
  /** What stood behind a prompt when a question took its place; it comes back with the same prompt. */
  let draft = { prompt: "", text: "" };

  /** Every key until `onKeys` returns a result; undefined goes on. Raw: nothing is shown, and keys come without Enter. */
  function listen<Result>(
    signal: AbortSignal,
    onKeys: (keys: string) => Result | undefined,
  ): { readonly heard: Promise<Result | "end" | "interrupted">; stop(result: Result): void } {
    const { promise, resolve } = Promise.withResolvers<Result | "end" | "interrupted">();
    const finish = (result: Result | "end" | "interrupted"): void => {
      signal.removeEventListener("abort", abort);
      stdin.off("data", onData).off("end", onEnd);
      resolve(result);
    };
    const abort = (): void => finish("interrupted");
    const onEnd = (): void => finish("end");
    const onData = (chunk: Buffer): void => {
      const keys = chunk.toString("utf8");
      const result = onKeys(keys);
      if (result !== undefined) finish(result);
    };
    stdin.setRawMode(true);
    stdin.on("data", onData).on("end", onEnd);
    stdin.resume();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    return { heard: promise, stop: finish };
  }

  function release(): void {
    stdin.setRawMode(false);
    stdin.pause();
  }

  /** Drops what is typed until the keys are still. */
  async function untilStill(signal: AbortSignal): Promise<"still" | "dropped" | "end" | "interrupted"> {
    let restart = new AbortController();
    let hasDropped = lineKeys.drop();
    const { heard, stop } = listen<"still" | "interrupted">(signal, (keys) => {
      if (keys.includes(CTRL_C)) return "interrupted";
      hasDropped = true;
      restart.abort();
      return undefined;
    });
    let isOver = false;
    const over = heard.then((result) => {
      isOver = true;
      restart.abort();
      return result;
    });
    await new Promise((written) => stderr.write("", written));
    do {
      restart = new AbortController();
      if (!isOver) await clock.sleep(STILL_MS, restart.signal);
      // One round of the event loop fetches what the system has by now.
      await new Promise((fetched) => setImmediate(fetched));
    } while (restart.signal.aborted && !isOver);
    stop("still");
    const result = await over;
    if (result === "interrupted" && !signal.aborted) interrupt();
    if (result === "still") return hasDropped ? "dropped" : "still";
    return result;
  }

  /** Asks once the keys are still. */
  async function asked<Result extends ReadLine | ReadKey>(
    signal: AbortSignal,
    ask: (dropped: string) => Promise<Result>,
  ): Promise<Result | { readonly kind: "end" | "interrupted" }> {
    const state = await untilStill(signal);
    if (state === "still" || state === "dropped") return ask(state === "dropped" ? DROPPED : "");
    release();
    return { kind: state };
  }

  /** `onClosed` is called at once, before anybody learns of the result. */
  function openLine(
    { createInterface }: typeof import("node:readline"),
    signal: AbortSignal,
    onClosed: (lines: Interface, wasAborted: boolean) => void,
    options: Partial<ReadLineOptions> = {},
  ) {
    const lines: Interface = createInterface({ input: stdin, output: stderr, terminal: interactive, ...options });
    const { promise, resolve } = Promise.withResolvers<ReadLine>();
    let isClosed = false;
    const finish = (result: ReadLine): void => {
      if (isClosed) return;
      isClosed = true;
      signal.removeEventListener("abort", abort);
      onClosed(lines, signal.aborted);
      resolve(result);
      lines.close();
    };
    const abort = (): void => finish({ kind: "interrupted" });
    lines.on("SIGINT", () => {
      finish({ kind: "interrupted" });
      interrupt();
    });
    lines.on("close", () => finish({ kind: "end" }));
    signal.addEventListener("abort", abort, { once: true });
    return { lines, read: promise, finish };
  }

  /** Standard input and error as readline sees them while a line of a conversation is typed. */
  function openConversationKeys(): { readonly input: PassThrough; readonly output: Writable; close(): void } {
    const input = Object.assign(new PassThrough(), { setRawMode: (mode: boolean) => stdin.setRawMode(mode) });
    const output = new Writable({
      write(chunk: Buffer, _encoding, written) {
        if (!parts.isMuted()) stderr.write(chunk);
        written();
      },
    });
    for (const name of ["columns", "rows"] as const) Object.defineProperty(output, name, { get: () => stderr[name] });
    const give = (keys: string): void => {
      if (ENDS_A_LINE.some((key) => keys.includes(key))) parts.onLineEnd();
      if (keys !== "") input.write(keys);
    };
    const onData = (chunk: Buffer): void => give(lineKeys.take(chunk));
    const onEnd = (): void => void input.end();
    const onResize = (): void => void output.emit("resize");
    stdin.on("data", onData).on("end", onEnd).resume();
    stderr.on("resize", onResize);
    stderr.write(PASTE_ON);
    give(lineKeys.begin());
    return {
      input,
      output,
      close() {
        stdin.off("data", onData).off("end", onEnd).pause();
        stderr.off("resize", onResize);
        stderr.write(PASTE_OFF);
      },
    };
  }

  function suspend(lines: Interface): void {
    stdin.setRawMode(false);
    stderr.write(PASTE_OFF);
    parts.suspend();
    stdin.pause();
    stdin.setRawMode(true);
    stdin.resume();
    stderr.write(PASTE_ON);
    lines.prompt(true);
  }

  return {
    async readLine(prompt, signal, aid) {
      const readline = await import("node:readline");
      if (signal.aborted) return { kind: "interrupted" };
      current = { aid };
      const keys = interactive ? openConversationKeys() : undefined;
      const { lines, read, finish } = openLine(
        readline,
        signal,
        (closed, wasAborted) => {
          current = undefined;
          if (wasAborted) draft = { prompt, text: closed.line };
          onReading(undefined, wasAborted);
          keys?.close();
        },
        { ...(keys && { input: keys.input, output: keys.output }), ...(aid && editing(aid)) },
      );
      current.lines = lines;
      lines.on("SIGTSTP", () => suspend(lines));
      onReading(lines, false);
      lines.question(prompt, (text) => finish({ kind: "line", text: lineKeys.textOf(text) }));
      if (draft.text !== "" && draft.prompt === prompt) lines.write(draft.text);
      draft = { prompt: "", text: "" };
      return read;
    },
    async readAnswer(keys, signal) {
      const readline = await import("node:readline");
      return asked(signal, (dropped) => {
        const promptAt = keys.lastIndexOf("\n") + 1;
        stderr.write(dropped + keys.slice(0, promptAt));
        const { lines, read, finish } = openLine(readline, signal, (_, wasAborted) => {
          if (wasAborted) stderr.write(ERASE_LINE);
        });
        const typed: string[] = [];
        const settle = async (): Promise<void> => {
          for (let seen = 0; seen !== typed.length; ) {
            seen = typed.length;
            await clock.sleep(PASTE_MS, signal);
          }
          const rest = lines.line === "" ? [] : [lines.line];
          finish({ kind: "line", text: [...typed, ...rest].join("\n") });
        };
        lines.on("line", (line) => {
          typed.push(line);
          if (typed.length === 1) void settle();
        });
        lines.setPrompt(keys.slice(promptAt));
        lines.prompt();
        return read;
      });
    },
    async readKey(prompt, signal) {
      return asked<ReadKey>(signal, async (dropped) => {
        stderr.write(dropped + prompt);
        const { heard } = listen<string>(signal, (keys) => keys[Symbol.iterator]().next().value);
        const key = await heard;
        release();
        const isKey = key !== "end" && key !== "interrupted" && key !== CTRL_C && key !== CTRL_D;
        stderr.write(`${isKey ? visibleLine(key.trim()) : ""}\n`);
        if (isKey) return { kind: "key", key };
        if (key === CTRL_C) interrupt();
        return { kind: key === "end" || key === CTRL_D ? "end" : "interrupted" };
      });
    },
    async readSecret(prompt, signal) {
      let typed = "";
      // Whoever sees the prompt may type at once, and must not see what they type.
      const { heard } = listen<ReadLine | typeof CTRL_C>(signal, (keys) => {
        for (const key of keys) {
          if (key === BACKSPACE || key === "\b") typed = typed.slice(0, -1);
          else if (!ENDS_A_SECRET.includes(key)) typed += key;
          else if (key === CTRL_C) return CTRL_C;
          else return key === CTRL_D ? { kind: "end" } : { kind: "line", text: typed };
        }
        return undefined;
      });
      stderr.write(prompt);
      const result = await heard;
      release();
      stderr.write("\n");
      if (result === CTRL_C) interrupt();
      if (typeof result !== "string") return result;
      return { kind: result === "end" ? "end" : "interrupted" };
    },
  };
}

function editing({ history, complete }: LineAid): Partial<ReadLineOptions> {
  return {
    history: history.map(asOneLine),
    historySize: history.length + 1,
    completer: (line: string, tell: (error: Error | null, found: [string[], string]) => void) => {
      // Nothing to offer is what a failure looks like, too: whoever types goes on typing.
      void complete(line).then(
        (found) => tell(null, [[...found], line]),
        () => tell(null, [[], line]),
      );
    },
  };
}
