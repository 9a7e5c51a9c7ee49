/**
 * What a command shows or writes that no session has told: messages of errors, a log that is read back, texts of files. It is
 * redacted with the table and the secrets of today. Loaded with the first text that needs it, because most commands have none.
 */
import type { Settings } from "#artifacts";
import { defined, jsonIn, messageOf, visibleLines } from "#base";
import type { OutwardRedactor, OutwardText } from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import { reasonOf } from "./error-line.ts";
import { describeError, type QuestionScreen, type Terminal } from "./terminal.ts";

export interface Outward extends OutwardText {
  /**
   * The same ports with a terminal that lets no secret out. `json`: what is written to it are lines of JSON. `messages`: nothing but
   * messages is written, which are shown also when the configuration cannot be read.
   */
  through(ports: CliPorts, json: boolean | undefined, shows?: "messages"): Promise<CliPorts>;
}

/** With `credentials`, keys that the helper holds are secrets as well; with `told`, all that there are before the first text. */
export function createOutward(
  ports: Pick<CliPorts, "env" | "cwd" | "clock"> & {
    readonly credentials?: Pick<CliPorts["credentials"], "onSecret"> & Partial<Pick<CliPorts["credentials"], "told">>;
  },
): Outward {
  let settings: Pick<Settings, "redaction" | "models" | "mcpServers" | "agentServers"> | undefined;
  let loaded: Promise<OutwardRedactor> | undefined;

  async function make(given: typeof settings): Promise<OutwardRedactor> {
    const [{ createOutwardRedactor }, used] = await Promise.all([import("#program"), given ?? ownSettings()]);
    const { env, clock, credentials } = ports;
    return createOutwardRedactor({ settings: used, env, clock, ...defined({ credentials }) });
  }

  async function ownSettings(): Promise<Pick<Settings, "redaction" | "models" | "mcpServers" | "agentServers">> {
    const { loadConfig } = await import("#program/user-config-file");
    return (await loadConfig(ports, undefined)).settings;
  }

  /** For messages alone. A configuration that cannot be read adds no patterns; that it cannot is the very message to be shown. */
  async function forMessages(): Promise<OutwardRedactor> {
    try {
      return await outward.load();
    } catch (error) {
      if (!(error instanceof ReasonError) || error.reason !== "ConfigInvalid") throw error;
      return make((await import("#artifacts")).defaultSettings);
    }
  }

  const outward: Outward = {
    use(next) {
      settings = next;
      loaded = undefined;
    },
    load() {
      loaded ??= make(settings);
      return loaded;
    },
    async describe(error) {
      // What redaction says of itself holds no text, and is all there is when it cannot be had.
      if (isRedactionFailure(error)) return visibleLines(describeError(error));
      const text = visibleLines(await outward.orNothing(describeError(error)));
      return text === "" ? `✗ ${reasonOf(error)}` : text;
    },
    messageOf: (error) =>
      isRedactionFailure(error) ? Promise.resolve(messageOf(error)) : outward.orNothing(messageOf(error)),
    async orNothing(text) {
      try {
        return (await forMessages()).text(text);
      } catch {
        return "";
      }
    },
    async through(given, json, shows) {
      const redactor = await (shows === "messages" ? forMessages() : outward.load());
      const clean = json === true ? (text: string) => jsonLines(redactor, text) : redactor.text;
      return { ...given, terminal: redactedTerminal(given.terminal, clean, redactor.text) };
    },
  };
  return outward;
}

function isRedactionFailure(error: unknown): boolean {
  return error instanceof ReasonError && error.reason === "RedactionFailed";
}

/** Everything that is written and asked; what is read stays as it is. */
function redactedTerminal(terminal: Terminal, out: (text: string) => string, text: (text: string) => string): Terminal {
  return {
    ...terminal,
    // Getters, which look anew each time.
    get inputIsPiped() {
      return terminal.inputIsPiped;
    },
    get columns() {
      return terminal.columns;
    },
    out: (written) => terminal.out(out(written)),
    err: (written) => terminal.err(text(written)),
    outDrained: (written) => terminal.outDrained(out(written)),
    readLine: (prompt, signal, aid) => terminal.readLine(text(prompt), signal, aid),
    ask: (question) => terminal.ask((screen) => question(redactedScreen(screen, text))),
  };
}

function redactedScreen(screen: QuestionScreen, text: (text: string) => string): QuestionScreen {
  return {
    colour: screen.colour,
    get columns() {
      return screen.columns;
    },
    get rows() {
      return screen.rows;
    },
    show: (written) => screen.show(text(written)),
    readAnswer: (keys, signal) => screen.readAnswer(text(keys), signal),
    readKey: (prompt, signal) => screen.readKey(text(prompt), signal),
  };
}

/** Values are redacted as values, so that JSON stays JSON; a line without a secret is written as it came. */
function jsonLines(redactor: OutwardRedactor, text: string): string {
  return text
    .split("\n")
    .map((line) => {
      if (line === "") return line;
      const value = jsonIn(line);
      if (value === undefined) return redactor.text(line);
      const clean = redactor.value(value);
      return clean === value ? line : JSON.stringify(clean);
    })
    .join("\n");
}

/** Of a crash: what happened and where, as much of it as fits on a screen. */
export async function describeCrash(outward: Outward, error: unknown): Promise<string> {
  const stack = error instanceof Error && error.stack !== undefined ? error.stack : messageOf(error);
  const shown = stack.split("\n").slice(0, MAX_STACK_LINES).join("\n");
  const text = await outward.orNothing(`✗ InternalError: Harness stopped because of an internal error.\n${shown}`);
  return text === "" ? "✗ InternalError" : visibleLines(text);
}

const MAX_STACK_LINES = 30;
