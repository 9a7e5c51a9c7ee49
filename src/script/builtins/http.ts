/** `http`: requests to hosts that the network policy allows. The port judges every hop; this only shapes what goes in and out. */
import type { WebRequest, WebResponse } from "#base";
import { dictOf, isAbsent, optionalNumber, revealed, textOf } from "../arguments.ts";
import { jsonText } from "../json-data.ts";
import { signalOf } from "../script-call.ts";
import { spanMs } from "../time-span.ts";
import { type Arguments, module, row, scripts } from "./definition.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_BODY_BYTES = 5 * 1024 * 1024;
const MAX_SENT_BYTES = 5 * 1024 * 1024;
const MAX_HEADERS = 100;

const seconds = "`timeout_seconds` is 30 by default and 600 at most; a number above 600 means milliseconds.";

export const http = module("http", "Requests, within the network policy", scripts, [
  row(
    "get(url, headers?=None, timeout_seconds?=None)",
    "dict",
    `\`{status, headers, body}\`; names of headers in lower case. A header may be a secret. ${seconds}`,
    { effect: true, toolClass: "sensitive" },
  ).runs(async (args, call, host) => answer(await call.parts.web.get(request(args), signalOf(host)))),
  row(
    "post(url, body?=None, headers?=None, timeout_seconds?=None)",
    "dict",
    "As `get`. A body that is not a string is sent as JSON.",
    { effect: true, toolClass: "mutating" },
  ).runs(async (args, call, host) => {
    const { text, type } = bodyOf(args.body);
    const body = Buffer.from(text, "utf8");
    if (body.length > MAX_SENT_BYTES) throw new Error(`at most ${MAX_SENT_BYTES} bytes are sent`);
    const asked = request(args);
    const headers = type === undefined ? asked.headers : { "content-type": type, ...asked.headers };
    const post = { ...asked, body, ...(headers && { headers }) };
    return answer(await call.parts.web.post(post, signalOf(host)));
  }),
]);

function request(args: Arguments): WebRequest {
  const entries = Object.entries(dictOf(args, "headers"));
  if (entries.length > MAX_HEADERS) throw new Error(`at most ${MAX_HEADERS} headers are sent`);
  return {
    url: textOf(args, "url"),
    headers: Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), headerValue(name, value)])),
    maxBytes: MAX_BODY_BYTES,
    timeoutMs: spanMs(optionalNumber(args, "timeout_seconds"), DEFAULT_TIMEOUT_MS),
    credentials: true,
    otherHosts: true,
  };
}

function headerValue(name: string, value: unknown): string {
  const text = typeof value === "number" ? String(value) : revealed(value, `headers[${JSON.stringify(name)}]`);
  // Node would refuse it with a message that shows the value.
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) throw new Error(`header ${name} has a character that headers cannot hold`);
  return text;
}

function bodyOf(body: unknown): { text: string; type?: string } {
  if (isAbsent(body)) return { text: "" };
  if (typeof body === "string") return { text: body };
  return { text: jsonText(body), type: "application/json" };
}

function answer(response: WebResponse): unknown {
  if (response.truncated) throw new Error(`the body of ${response.url} is larger than ${MAX_BODY_BYTES} bytes`);
  return {
    status: response.status,
    headers: response.headers,
    body: Buffer.from(response.body).toString("utf8"),
  };
}
