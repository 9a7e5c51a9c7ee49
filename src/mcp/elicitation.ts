/** Questions of a server to a person: a form to fill in, or an address to open. Answered through the question of a tool call. */
import { type ServerAsk, type ServerReply, visibleLine, visibleLines } from "#base";
import type { ToolContext } from "#engine";
import type { FormField } from "#protocol";
import { expected, readAnswer, readForm } from "./elicitation-form.ts";

const MAX_MESSAGE_CHARS = 4_000;
const MAX_URL_CHARS = 2_048;
/** An answer that does not fit is asked for again. */
const MAX_TRIES = 3;
const DECLINE = "decline";
const OPENED = "I have opened it";
const SECRET_NAME = /pass(?:word|phrase|wd|code)?\b|secret|token|api.?key|credential|private.?key|\bpin\b|\bcvv\b/i;
const CANCELLED: ServerReply = { result: { action: "cancel" } };

type Asker = Pick<ToolContext, "ask">;

/** Never rejects. Nobody there, and no answer in time, cancel the question. */
export async function elicit(
  server: string,
  { params }: ServerAsk,
  asker: Asker,
  signal: AbortSignal,
): Promise<ServerReply> {
  const { mode = "form", message } = params;
  if (typeof message !== "string") return { refused: "a question has a message" };
  const said = visibleLines(message.slice(0, MAX_MESSAGE_CHARS));
  if (mode === "url") return elicitUrl(server, said, params.url, asker, signal);
  if (mode !== "form") return { refused: "a question is a form or an address" };
  let fields: readonly FormField[];
  try {
    fields = readForm(params.requestedSchema);
  } catch (error) {
    return { refused: `the form cannot be shown: ${error instanceof Error ? error.message : String(error)}` };
  }
  const question = formQuestion(server, said, fields);
  let problem = "";
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const answer = await asker.ask(`${problem}${question}`, [], { server, form: [...fields], signal });
    if (answer === undefined) return CANCELLED;
    if (isDecline(answer)) return { result: { action: DECLINE } };
    const read = readAnswer(fields, answer);
    if ("content" in read) return { result: { action: "accept", content: read.content } };
    problem = `That does not fit. ${read.problem}\n\n`;
  }
  return CANCELLED;
}

async function elicitUrl(
  server: string,
  said: string,
  url: unknown,
  asker: Asker,
  signal: AbortSignal,
): Promise<ServerReply> {
  const parsed = typeof url === "string" && url.length <= MAX_URL_CHARS ? URL.parse(url) : null;
  if (parsed === null || !["https:", "http:"].includes(parsed.protocol)) {
    return { refused: "the address to open is not an http or https address" };
  }
  const isOpenly = parsed.protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(parsed.hostname);
  const lines = [
    `The MCP server '${server}' asks you to open an address in your browser:`,
    `  ${visibleLine(parsed.href)}`,
    `Its host is ${visibleLine(parsed.host)}.${isOpenly ? " The connection is not encrypted." : ""} Harness does not open it.`,
    `The server says: ${said}`,
  ];
  const details = { server, url: parsed.href, signal };
  const answer = await asker.ask(lines.join("\n"), [OPENED, DECLINE], details);
  if (answer === undefined) return CANCELLED;
  return { result: { action: answer.trim() === OPENED ? "accept" : DECLINE } };
}

function formQuestion(server: string, said: string, fields: readonly FormField[]): string {
  const secrets = fields.filter(({ name, title, description }) => SECRET_NAME.test(`${name} ${title} ${description}`));
  const warning =
    secrets.length === 0
      ? "The server gets what you enter. Do not enter passwords or keys."
      : `WARNING: ${secrets.map(({ name }) => name).join(", ")} looks like a secret. MCP servers must not ask for secrets in a form. Decline, unless you are sure.`;
  const lines = fields.map((field) => {
    const about = [field.title, field.description].filter((text) => text !== undefined && text !== "").join(". ");
    const needed = field.required ? "" : ", optional";
    return `  ${field.name} (${expected(field)}${needed})${about === "" ? "" : `: ${about}`}`;
  });
  return [`The MCP server '${server}' asks: ${said}`, ...lines, warning].join("\n");
}

function isDecline(answer: string): boolean {
  return ["", DECLINE].includes(answer.trim().toLowerCase());
}
