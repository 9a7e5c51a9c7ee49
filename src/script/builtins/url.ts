/** `url`: addresses as text. */
import { beginningOf } from "#base";
import { textOf } from "../arguments.ts";
import { everyone, module, row } from "./definition.ts";

export const url = module("url", "Addresses", everyone, [
  row("encode(s)", "string", "The string percent-encoded for a query or a path.").runs((args) =>
    percentEncoded(textOf(args, "s")),
  ),
  row(
    "parse(rawURL)",
    "dict",
    "`{scheme, host, port, path, query, fragment, user}`, all strings; an absent part is empty. Fails if the text is not a URL.",
  ).runs((args) => {
    const text = textOf(args, "rawURL");
    const parsed = URL.parse(text);
    if (parsed === null) throw new Error(`not a URL: ${beginningOf(text, 200)}`);
    return {
      scheme: parsed.protocol.slice(0, -1),
      host: parsed.hostname.replace(/^\[|\]$/g, ""),
      port: parsed.port,
      path: parsed.pathname,
      query: parsed.search.slice(1),
      fragment: parsed.hash.slice(1),
      user: parsed.username,
    };
  }),
]);

export function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
