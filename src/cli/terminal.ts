/** The terminal as the commands see it: two outputs, one prompt line, interrupts. The real one and nothing about agents. */
import { fstatSync } from "node:fs";
import type { Interface } from "node:readline";
import { ReasonError } from "#protocol";

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
  /** All of standard input, refused above `maxBytes`. */
  readAll(maxBytes: number): Promise<string>;
  /** Standard input as text, piece by piece. */
  readChunks(): AsyncIterable<string>;
  /** As `out`, and resolves when the reader has taken it, so that a slow one holds back the source and fills no memory. */
  outDrained(text: string): Promise<void>;
  /** Called on Ctrl-C, also while a line is read. Returns how to stop listening. */
  onInterrupt(listener: () => void): () => void;
}

export type ReadLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupted" };

export function createTerminal(process: NodeJS.Process): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const interactive = stdin.isTTY === true && stderr.isTTY === true;
  const listeners = new Set<() => void>();
  const interrupt = (): void => {
    for (const listener of listeners) listener();
  };
  // A reader that went away (`| head`) ends the program quietly, as it does for every other one.
  for (const stream of [stdout, stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      throw error;
    });
  }
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
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
          resolve(result);
          lines.close();
        };
        const abort = (): void => finish({ kind: "interrupted" });
        lines.on("SIGINT", () => {
          finish({ kind: "interrupted" });
          interrupt();
        });
        lines.on("close", () => finish({ kind: "end" }));
        if (signal.aborted) return abort();
        signal.addEventListener("abort", abort, { once: true });
        lines.question(prompt, (text) => finish({ kind: "line", text }));
      });
    },
    async readAll(maxBytes) {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of stdin as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxBytes) {
          throw new ReasonError("UsageInvalid", { detail: `standard input is larger than ${maxBytes} bytes` });
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString("utf8");
    },
    async *readChunks() {
      const decoder = new TextDecoder();
      for await (const chunk of stdin as AsyncIterable<Buffer>) yield decoder.decode(chunk, { stream: true });
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

/** One line for a person, with the reason code that scripts and searches go by. */
export function describeError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return printable(error instanceof ReasonError ? `✗ ${error.reason}: ${message}` : `✗ ${message}`);
}
