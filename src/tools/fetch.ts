/** `web.fetch`: one public web page as text the model can read. Whether it may be fetched is decided by the port. */
import { beginningOf, objectSchema, type WebResponse, withoutCutEnd } from "#base";
import { ToolError } from "#engine";
import { flagArgument, textArgument } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";
import { binaryKind, formatBytes } from "./file-kind.ts";

const MAX_BODY_BYTES = 2 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_TEXT_CHARS = 100_000;
const MAX_ERROR_CHARS = 2_000;
const CHARSET_SNIFF_BYTES = 1_024;
const TEXT_TYPE = /^text\/|[/+](json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-ndjson|graphql|sql|x-sh)$/;

export const fetchTool: BuiltinTool = {
  name: "web.fetch",
  label: "WebFetch",
  class: "sensitive",
  kind: "fetch",
  description: "GET a public URL; HTML becomes Markdown unless raw.",
  parameters: objectSchema({ url: { type: "string" }, raw: { type: "boolean" } }, ["url"]),
  subject: (args) => textArgument(args, "url"),
  async run(args, { ports, signal }) {
    const request = { url: textArgument(args, "url"), maxBytes: MAX_BODY_BYTES, timeoutMs: TIMEOUT_MS };
    const response = await ports.web.get(request, signal);
    const failed = response.status < 200 || response.status > 299;
    const text = await readableText(response, flagArgument(args, "raw"), failed);
    const maxChars = failed ? MAX_ERROR_CHARS : MAX_TEXT_CHARS;
    const shown = response.truncated && text.length <= maxChars ? withoutCutEnd(text) : beginningOf(text, maxChars);
    const cut = shown.length < text.length || response.truncated ? "\n[… the rest was left out]" : "";
    return {
      content: [{ type: "text", text: `[${response.status} ${response.url}]\n\n${shown}${cut}` }],
      isError: failed,
    };
  },
};

async function readableText(response: WebResponse, raw: boolean, failed: boolean): Promise<string> {
  if (response.body.length === 0) return "(empty body)";
  const type = mediaType(response);
  const isText = type === "" ? !response.body.subarray(0, CHARSET_SNIFF_BYTES).includes(0) : TEXT_TYPE.test(type);
  if (!isText) {
    const size = `${response.truncated ? "more than " : ""}${formatBytes(response.body.length)}`;
    const refusal = `${response.url} is not text: ${type || binaryKind(response.body)}, ${size}.`;
    if (failed) return refusal;
    throw new ToolError(refusal);
  }
  const text = decode(response, type);
  if (raw || (type !== "text/html" && type !== "application/xhtml+xml")) return text;
  const { htmlToMarkdown } = await import("@mdream/js");
  return htmlToMarkdown(text, { origin: new URL(response.url).origin });
}

function mediaType(response: WebResponse): string {
  return (response.contentType.split(";")[0] ?? "").trim().toLowerCase();
}

/** By the charset of the header, then of the page's own head; UTF-8 when neither names one that is known. */
function decode(response: WebResponse, type: string): string {
  const head = Buffer.from(response.body.subarray(0, CHARSET_SNIFF_BYTES)).toString("latin1");
  const declared =
    /charset\s*=\s*"?([\w-]+)/i.exec(response.contentType)?.[1] ??
    (type.includes("html") ? /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] : undefined);
  try {
    return new TextDecoder(declared ?? "utf-8").decode(response.body);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder().decode(response.body);
    throw error;
  }
}
