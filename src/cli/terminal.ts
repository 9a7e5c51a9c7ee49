/** The terminal as the commands see it: two outputs, one prompt line, interrupts. The real one and nothing about agents. */
import { fstatSync } from "node:fs";
import type { Interface } from "node:readline";
import { fileErrorText, messageOf } from "#base";
import { ReasonError } from "#protocol";

const LINE_FEED = 0x0a;

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** A person is there: both ends are terminals, so that questions can be asked. */
  readonly interactive: boolean;
  /** Standard input is a shell pipe or a file, so that it has an end. */
  readonly inputIsPiped: boolean;
  readonly colour: boolean;
  readonly columns: number;
  /** One line. `end` is the end of input, `interrupted` Ctrl-C or the signal. */
  readLine(prompt: string, signal: AbortSignal): Promise<ReadLine>;
  /** One key, without Enter, pressed after the prompt was shown: what was typed ahead is dropped. On a terminal only. */
  readKey(prompt: string, signal: AbortSignal): Promise<ReadKey>;
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
}

/** `system`: nobody is there who pressed a key, and nobody needs to be told of keys. */
export type InterruptedBy = "person" | "system";

export interface ProtocolOutput {
  /** Resolves when the reader can take more; rejects when it has gone away. */
  write(text: string): Promise<void>;
  /** The last thing before the program ends: what the reader has not taken by now is given up, or it could never end. */
  close(): void;
}

export type ReadLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupted" };

export type ReadKey =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupted" };

/** Nobody who types pauses for so long between two keys of a word. */
const STILL_MS = 250;
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const ERASE_LINE = "\r\u001b[K";
const BACKSPACE = "\u007f";
const ENDS_A_SECRET = `\r\n${CTRL_C}${CTRL_D}`;

/**
 * `onOutputLost` ends the program in good order, at once or soon: a reader went away (`| head`), of which nothing is said, or what is
 * written does not arrive, which is a failure. It can be called again and again.
 */
export function createTerminal(process: NodeJS.Process, onOutputLost: (failure?: ReasonError) => void): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const interactive = stdin.isTTY === true && stderr.isTTY === true;
  const listeners = new Set<(by: InterruptedBy) => void>();
  /** `signal` is the one that it stands for. */
  const interrupt = (signal: NodeJS.Signals = "SIGINT"): void => {
    for (const listener of listeners) listener(signal === "SIGINT" ? "person" : "system");
  };
  /** The line that is being read, and what is written meanwhile has not ended its own. */
  let reading: { readonly lines: Interface; isMidLine: boolean } | undefined;
  /** Above the line that is being read, which is shown again behind it. */
  function write(stream: NodeJS.WriteStream, text: string): void {
    if (reading === undefined || !interactive || stream.isTTY !== true || text === "") {
      stream.write(text);
      return;
    }
    const isComplete = text.endsWith("\n");
    stream.write(reading.isMidLine ? text : `${ERASE_LINE}${text}`);
    reading.isMidLine = !isComplete;
    if (isComplete) reading.lines.prompt(true);
  }
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
      onOutputLost(new ReasonError("FileFailed", { detail }, { cause: error }));
    });
  }
  /** Node takes a folder for an input without content, and whoever looks for secrets in it would find none. */
  function input(): AsyncIterable<Buffer> {
    if (fstatSync(stdin.fd).isDirectory()) {
      const detail = "standard input is a folder: name a file with < FILE, or use a pipe";
      throw new ReasonError("UsageInvalid", { detail });
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
    colour: stderr.isTTY === true && env.NO_COLOR === undefined && env.TERM !== "dumb",
    get columns() {
      return stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
    },
    async readLine(prompt, signal) {
      const { createInterface } = await import("node:readline");
      const lines: Interface = createInterface({ input: stdin, output: stderr, terminal: interactive });
      return new Promise((resolve) => {
        // The first call settles the promise; closing calls it again.
        const finish = (result: ReadLine): void => {
          signal.removeEventListener("abort", abort);
          if (reading?.lines === lines) reading = undefined;
          resolve(result);
          lines.close();
        };
        const abort = (): void => {
          // Whoever took the line away goes on at its beginning.
          if (interactive && reading?.lines === lines && !reading.isMidLine) stderr.write(ERASE_LINE);
          finish({ kind: "interrupted" });
        };
        lines.on("SIGINT", () => {
          finish({ kind: "interrupted" });
          interrupt();
        });
        lines.on("close", () => finish({ kind: "end" }));
        if (signal.aborted) return abort();
        signal.addEventListener("abort", abort, { once: true });
        reading = { lines, isMidLine: false };
        lines.question(prompt, (text) => finish({ kind: "line", text }));
      });
    },
    readKey(prompt, signal) {
      return new Promise((resolve) => {
        // Whoever is typing something else must not answer by accident: the prompt waits until the keys are still.
        let isShown = false;
        const still = setTimeout(() => {
          isShown = true;
          stderr.write(prompt);
        }, STILL_MS);
        const finish = (result: ReadKey, shown = ""): void => {
          clearTimeout(still);
          signal.removeEventListener("abort", abort);
          stdin.off("data", onData).off("end", onEnd);
          stdin.setRawMode(false);
          stdin.pause();
          stderr.write(`${shown}\n`);
          resolve(result);
        };
        const abort = (): void => finish({ kind: "interrupted" });
        const onEnd = (): void => finish({ kind: "end" });
        const onData = (chunk: Buffer): void => {
          const [key = ""] = chunk.toString("utf8");
          if (!isShown && key !== CTRL_C) still.refresh();
          else if (key === CTRL_D) onEnd();
          else if (key !== CTRL_C) finish({ kind: "key", key }, printable(key).trim());
          else {
            abort();
            interrupt();
          }
        };
        stdin.setRawMode(true);
        stdin.on("data", onData).on("end", onEnd);
        stdin.resume();
        signal.addEventListener("abort", abort, { once: true });
        if (signal.aborted) abort();
      });
    },
    readSecret(prompt, signal) {
      return new Promise((resolve) => {
        let typed = "";
        const finish = (result: ReadLine): void => {
          signal.removeEventListener("abort", abort);
          stdin.off("data", onData).off("end", onEnd);
          stdin.setRawMode(false);
          stdin.pause();
          stderr.write("\n");
          resolve(result);
        };
        const abort = (): void => finish({ kind: "interrupted" });
        const onEnd = (): void => finish({ kind: "end" });
        const onData = (chunk: Buffer): void => {
          for (const key of chunk.toString("utf8")) {
            if (key === BACKSPACE || key === "\b") typed = typed.slice(0, -1);
            else if (!ENDS_A_SECRET.includes(key)) typed += key;
            else {
              if (key === CTRL_D) onEnd();
              else if (key !== CTRL_C) finish({ kind: "line", text: typed });
              else {
                abort();
                interrupt();
              }
              break;
            }
          }
        };
        // Whoever sees the prompt may type at once, and must not see what they type.
        stdin.setRawMode(true);
        stdin.on("data", onData).on("end", onEnd);
        stdin.resume();
        stderr.write(prompt);
        signal.addEventListener("abort", abort, { once: true });
        if (signal.aborted) abort();
      });
    },
    async readAll(maxBytes) {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of input()) {
        size += chunk.length;
        if (size > maxBytes) {
          throw new ReasonError("UsageInvalid", { detail: `standard input is larger than ${maxBytes} bytes` });
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString("utf8");
    },
    async *readLines(maxBytes, signal) {
      const stop = (): void => void stdin.destroy();
      if (signal.aborted) return;
      signal.addEventListener("abort", stop, { once: true });
      let rest = Buffer.alloc(0);
      try {
        for await (const chunk of input()) {
          rest = Buffer.concat([rest, chunk]);
          for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
            yield rest.subarray(0, end).toString("utf8");
            rest = rest.subarray(end + 1);
          }
          if (rest.length > maxBytes) {
            throw new ReasonError("UsageInvalid", {
              detail: `a line of standard input is larger than ${maxBytes} bytes`,
            });
          }
        }
        if (rest.length > 0) yield rest.toString("utf8");
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

/** Text from a model or a tool, without the control sequences that could drive the terminal. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing exactly these is the point
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** Every text of a JSON value, the names of its fields included. Throws RangeError for one that is nested without sense. */
export function printableValue<T>(value: T): T {
  return printableJson(value) as T; // texts stay texts, and everything else stays as it is
}

function printableJson(value: unknown): unknown {
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value)) return value.map(printableJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [printable(name), printableJson(part)]));
}

/** JSON of the same value, with what a terminal would act upon written as escapes; JSON itself does so only below U+0020. */
export function printableLine(json: string): string {
  return json.replace(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** For a review: what a terminal would hide or act upon is written out, so that nobody agrees to what they do not see. */
export function revealed(text: string): string {
  return text.replace(/[^\P{C}\n\t]|[\u2028\u2029\u115f\u1160\u3164\uffa0]/gu, (hidden) => {
    return `‹U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/** A name that somebody else chose, on one line. */
export function shownName(name: string): string {
  return revealed(name).replaceAll(/[\n\t]/g, " ");
}

/** One line for a person, with the reason code that scripts and searches go by. */
export function describeError(error: unknown): string {
  const message = messageOf(error);
  return printable(error instanceof ReasonError ? `✗ ${error.reason}: ${message}` : `✗ ${message}`);
}
