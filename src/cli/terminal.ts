/** The terminal as the commands see it: two outputs, one prompt line, questions, interrupts. It knows nothing about agents. */
import { isUtf8 } from "node:buffer";
import { fstatSync } from "node:fs";
import type { Interface } from "node:readline";
import { type Clock, fileErrorText, messageOf, paint, visibleLine } from "#base";
import { ReasonError } from "#protocol";
import { createLineSplitter, type Line } from "#wire";
import { columnsOf, wrapped } from "./foreign-rows.ts";
import { createKeyboard, type Keyboard, type ReadKey, type ReadLine } from "./keyboard.ts";

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** A person is there: both ends are terminals, so that questions can be asked. */
  readonly interactive: boolean;
  /** Standard input is a shell pipe or a file, so that it has an end. */
  readonly inputIsPiped: boolean;
  readonly colour: boolean;
  /** The full interface can be shown: all three streams are terminals, and this one understands control sequences. */
  readonly canDraw: boolean;
  readonly columns: number;
  /** While something else has the screen: whatever is written goes to the listener. Returns how to end that. */
  divert(listener: (text: string) => void): () => void;
  /**
   * One line below everything that was written, above the line that is typed; each call replaces it, and an empty text erases it.
   * `text` is cut where the row ends, `ending` is not. Not shown during a question, and only on a terminal.
   */
  status(text: string, ending?: string): void;
  /** One line. `end` is the end of input, `interrupted` Ctrl-C or the signal. */
  readonly readLine: Keyboard["readLine"];
  /**
   * Questions, one after the other. Until it resolves, nothing but what it shows itself is written to the terminal: no output of
   * anything else scrolls the question away or stands below it. On a terminal only.
   */
  ask<Result>(question: (screen: QuestionScreen) => Promise<Result>): Promise<Result>;
  /** One line that is not shown while it is typed. On a terminal only. */
  readSecret(prompt: string, signal: AbortSignal): Promise<ReadLine>;
  /** All of standard input, refused above `maxBytes`. */
  readAll(maxBytes: number): Promise<string>;
  /** Standard input as it comes, split at \n alone; ends when `signal` aborts. A line above `maxBytes` is refused. */
  readLines(maxBytes: number, signal: AbortSignal): AsyncIterable<string>;
  /** Standard input as text, piece by piece. */
  readChunks(): AsyncIterable<string>;
  /** Standard input as it comes; ends when `signal` aborts. */
  readBytes(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Standard output for a protocol, and for nothing else: from now on whatever else is written there, also by `out` and by
   * `console`, goes to standard error. A reader that goes away no longer ends the program.
   */
  claimOutput(): ProtocolOutput;
  /** As `out`, and resolves when the reader has taken it, so that a slow one holds back the source and fills no memory. */
  outDrained(text: string): Promise<void>;
  /** Called on Ctrl-C, also while a line is read, and when the program is told to end. Returns how to stop listening. */
  onInterrupt(listener: (by: InterruptedBy) => void): () => void;
  /** Another program has the terminal meanwhile: a Ctrl-C there interrupts nothing here. */
  lend<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Where a question stands until it is answered. Answers count from when their prompt is shown: what was typed ahead is dropped. */
export interface QuestionScreen {
  show(text: string): void;
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  /** One line. Shows `keys`, whose last line is the prompt, as soon as nobody types. A paste is one answer. */
  readAnswer(keys: string, signal: AbortSignal): Promise<ReadLine>;
  /** One key, without Enter. */
  readKey(prompt: string, signal: AbortSignal): Promise<ReadKey>;
}

/** `system`: nobody is there who pressed a key, and nobody needs to be told of keys. */
export type InterruptedBy = "person" | "system";

export interface ProtocolOutput {
  /** Resolves when the reader can take more; rejects when it has gone away. */
  write(text: string): Promise<void>;
  /** The last thing before the program ends: what the reader has not taken by now is given up, or it could never end. */
  close(): void;
}

/** What is written while a question is open, in characters; the log of the session has everything. */
const HELD_MAX_CHARS = 1024 * 1024;
const ERASE_ROW_ABOVE = "\u001b[1A\r\u001b[J";
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/**
 * `onOutputLost` ends the program in good order, at once or soon: a reader went away (`| head`), of which nothing is said, or what is
 * written does not arrive, which is a failure. It can be called again and again.
 */
export function createTerminal(
  process: NodeJS.Process,
  clock: Clock,
  onOutputLost: (failure?: ReasonError) => void,
): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const colour = stderr.isTTY === true && env.NO_COLOR === undefined && env.TERM !== "dumb";
  const interactive = stdin.isTTY === true && stderr.isTTY === true;
  const listeners = new Set<(by: InterruptedBy) => void>();
  /** `signal` is the one that it stands for. */
  const interrupt = (signal: NodeJS.Signals = "SIGINT"): void => {
    if (signal === "SIGINT" && isLent) return;
    for (const listener of listeners) listener(signal === "SIGINT" ? "person" : "system");
  };
  /** The line that is being read, and what is written meanwhile has not ended its own. */
  let reading: { readonly lines: Interface; isMidLine: boolean } | undefined;
  /** What waits for the end of a question. */
  let held: { readonly texts: [NodeJS.WriteStream, string][]; chars: number; leftOut: number } | undefined;
  let diverted: ((text: string) => void) | undefined;
  let endsMidLine = false;
  let status = { text: "", ending: "" };
  let isStatusShown = false;
  let questions: Promise<unknown> = Promise.resolve();
  /** Ctrl-C is for the program that has the terminal. */
  let isLent = false;
  /** Of the line that is being read: a question takes the keyboard from it. */
  let line = new AbortController();
  const keyboard = createKeyboard({
    stdin,
    stderr,
    interactive,
    clock,
    interrupt,
    // The whole job, as the terminal itself would do it.
    suspend: () => process.kill(0, "SIGTSTP"),
    isMuted: () => reading?.isMidLine === true,
    onLineEnd: () => isStatusShown && redraw({ withStatus: false }),
    onReading(lines, wasAborted) {
      // Whoever took the line away goes on at its beginning.
      if (wasAborted && interactive && reading?.isMidLine === false) stderr.write(eraseTyped(reading.lines));
      reading = lines === undefined ? undefined : { lines, isMidLine: endsMidLine };
    },
  });
  /** Erases the line that is typed and the status above it. Whoever writes next goes on where they began. */
  function erased(): string {
    const typed = reading === undefined || reading.isMidLine ? "" : eraseTyped(reading.lines);
    const above = isStatusShown ? ERASE_ROW_ABOVE : "";
    isStatusShown = false;
    return typed + above;
  }
  function redraw({ withStatus }: { readonly withStatus: boolean }): void {
    stderr.write(erased());
    draw({ withStatus });
  }
  /** The cursor is at the beginning of a line. */
  function draw({ withStatus }: { readonly withStatus: boolean }): void {
    if (withStatus && status.text !== "") {
      const width = Math.max(1, screen.columns - 1 - columnsOf(status.ending));
      const [text = ""] = wrapped(visibleLine(status.text), width);
      stderr.write(`${paint({ colour }, "dim", text + status.ending)}\n`);
      isStatusShown = true;
    }
    if (reading === undefined) return;
    // It is drawn from here, and not from where it stood before.
    Object.assign(reading.lines, { prevRows: 0 });
    reading.lines.prompt(true);
  }
  /** Above the status and the line that is being read, which are shown again behind it. */
  function write(stream: NodeJS.WriteStream, text: string): void {
    if (!interactive || stream.isTTY !== true || text === "") {
      stream.write(text);
      return;
    }
    if (diverted !== undefined) {
      diverted(text);
      return;
    }
    if (held !== undefined) {
      if (held.leftOut > 0 || held.chars + text.length > HELD_MAX_CHARS) held.leftOut += text.length;
      else {
        held.chars += text.length;
        held.texts.push([stream, text]);
      }
      return;
    }
    stream.write(erased() + text);
    endsMidLine = !text.endsWith("\n");
    if (reading !== undefined) reading.isMidLine = endsMidLine;
    if (!endsMidLine) draw({ withStatus: true });
  }
  function writeHeld(): void {
    const { texts = [], leftOut = 0 } = held ?? {};
    held = undefined;
    for (const [stream, text] of texts) write(stream, text);
    if (leftOut > 0) write(stderr, `\n… ${leftOut} characters of output during the question were left out.\n`);
  }
  const screen: QuestionScreen = {
    show: (text) => void stderr.write(text),
    get columns() {
      return stderr.columns || DEFAULT_COLUMNS;
    },
    get rows() {
      return stderr.rows || DEFAULT_ROWS;
    },
    colour,
    readAnswer: keyboard.readAnswer,
    readKey: keyboard.readKey,
  };
  /** Set when a protocol has standard output; aborted when its reader is gone. */
  let readerGone: AbortController | undefined;
  for (const stream of [stdout, stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (readerGone !== undefined) {
        if (stream === stdout) readerGone.abort();
        return;
      }
      if (error.code === "EPIPE") return onOutputLost();
      const detail = fileErrorText(error, stream === stdout ? "standard output" : "standard error");
      if (detail === undefined) throw error;
      onOutputLost(new ReasonError("FileFailed", detail, { cause: error }));
    });
  }
  /** Node takes a folder for an input without content, and whoever looks for secrets in it would find none. */
  function input(): AsyncIterable<Buffer> {
    if (fstatSync(stdin.fd).isDirectory()) {
      throw new ReasonError("UsageInvalid", "standard input is a folder: name a file with < FILE, or use a pipe");
    }
    return stdin as AsyncIterable<Buffer>; // no encoding is set
  }
  return {
    out: (text) => write(stdout, text),
    err: (text) => write(stderr, text),
    interactive,
    get inputIsPiped() {
      const input = fstatSync(stdin.fd);
      return input.isFIFO() || input.isFile();
    },
    colour,
    canDraw: interactive && stdout.isTTY === true && env.TERM !== "dumb",
    divert(listener) {
      diverted = listener;
      return () => {
        diverted = undefined;
      };
    },
    get columns() {
      return stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
    },
    async readLine(prompt, signal, aid) {
      await questions;
      line = new AbortController();
      return keyboard.readLine(prompt, AbortSignal.any([signal, line.signal]), aid);
    },
    status(text, ending = "") {
      if (!interactive || env.TERM === "dumb" || (text === "" && status.text === "")) return;
      status = { text, ending };
      if (held === undefined && diverted === undefined && !endsMidLine) redraw({ withStatus: true });
    },
    readSecret: keyboard.readSecret,
    ask(question) {
      line.abort();
      const asked = questions.then(async () => {
        held = { texts: [], chars: 0, leftOut: 0 };
        stderr.write(erased() + (endsMidLine ? "\n" : ""));
        endsMidLine = false;
        try {
          return await question(screen);
        } finally {
          writeHeld();
        }
      });
      questions = asked.catch(() => undefined);
      return asked;
    },
    async readAll(maxBytes) {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of input()) {
        size += chunk.length;
        if (size > maxBytes) throw new ReasonError("UsageInvalid", `standard input is larger than ${maxBytes} bytes`);
        chunks.push(chunk);
      }
      return textOf(Buffer.concat(chunks));
    },
    async *readLines(maxBytes, signal) {
      const stop = (): void => void stdin.destroy();
      if (signal.aborted) return;
      signal.addEventListener("abort", stop, { once: true });
      const splitter = createLineSplitter(maxBytes);
      const texts = (lines: readonly Line[]): string[] =>
        lines.map((line) => {
          if (!("tooLong" in line)) return textOf(line.bytes);
          throw new ReasonError("UsageInvalid", `a line of standard input is larger than ${maxBytes} bytes`);
        });
      try {
        for await (const chunk of input()) yield* texts(splitter.push(chunk));
        yield* texts(splitter.end());
      } catch (error) {
        // Destroying the input is how an abort ends the loop.
        if (!signal.aborted) throw error;
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
    async *readBytes(signal) {
      const stop = (): void => void stdin.destroy();
      if (signal.aborted) return;
      signal.addEventListener("abort", stop, { once: true });
      try {
        yield* input();
      } catch (error) {
        // Destroying the input is how an abort ends the loop.
        if (!signal.aborted) throw error;
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
    claimOutput() {
      readerGone = new AbortController();
      const { signal } = readerGone;
      const write = stdout.write.bind(stdout);
      stdout.write = stderr.write.bind(stderr);
      return {
        close: () => {
          // Standard output cannot be destroyed, and a write that waits keeps the process alive. By then the exit code is set.
          if (stdout.writableLength > 0) setImmediate(() => process.exit());
        },
        write(text) {
          if (signal.aborted) return Promise.reject(new Error("nobody reads standard output any more"));
          return new Promise((resolve, reject) => {
            const finish = (): void => {
              stdout.off("drain", finish);
              signal.removeEventListener("abort", finish);
              if (signal.aborted) reject(new Error("nobody reads standard output any more"));
              else resolve();
            };
            signal.addEventListener("abort", finish, { once: true });
            stdout.once("drain", finish);
            if (write(text)) finish();
          });
        },
      };
    },
    async *readChunks() {
      const decoder = new TextDecoder();
      for await (const chunk of input()) yield decoder.decode(chunk, { stream: true });
      yield decoder.decode();
    },
    outDrained(text) {
      if (text === "" || stdout.write(text)) return Promise.resolve();
      return new Promise((resolve) => void stdout.once("drain", resolve));
    },
    async lend(work) {
      isLent = true;
      try {
        return await work();
      } finally {
        isLent = false;
      }
    },
    onInterrupt(listener) {
      if (listeners.size === 0) process.on("SIGINT", interrupt);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) process.off("SIGINT", interrupt);
      };
    },
  };
}

/** Throws UsageInvalid for bytes that are not text: a model would read rubbish. */
function textOf(bytes: Uint8Array): string {
  if (isUtf8(bytes) && !bytes.includes(0)) return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const detail =
    "standard input is binary, not UTF-8 text: name the file in the prompt so that the agent can open it with its tools, or convert it first (iconv -t utf-8)";
  throw new ReasonError("UsageInvalid", detail);
}

/** Erases the line that is typed, on all rows that it takes, and goes to its beginning. */
function eraseTyped(lines: Interface): string {
  const { rows } = lines.getCursorPos();
  return `${rows > 0 ? `\u001b[${rows}A` : ""}\r\u001b[J`;
}

/** For a person, with the reason code that scripts and searches go by. Neither redacted nor made visible. */
export function describeError(error: unknown): string {
  const message = messageOf(error);
  return error instanceof ReasonError ? `✗ ${error.reason}: ${message}` : `✗ ${message}`;
}
