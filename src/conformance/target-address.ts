/** Parses target addresses: `http://HOST:PORT`, `unix:///PATH` or `stdio://COMMAND`, and `https://HOST:PORT` for `--lan`. */
import { ReasonError } from "#protocol";
import type { HttpPlace, TlsPlace } from "./drivers/http-client.ts";

export type TargetAddress =
  | { readonly kind: "http"; readonly place: HttpPlace }
  /** A command for the shell. */
  | { readonly kind: "stdio"; readonly command: string };

/** Throws UsageInvalid. */
export function parseTargetAddress(text: string): TargetAddress {
  const refuse = (detail: string): ReasonError => new ReasonError("UsageInvalid", `--against ${text}: ${detail}`);
  const [, scheme, rest] = /^(http|unix|stdio):\/\/(.*)$/s.exec(text) ?? [];
  if (rest === undefined) throw refuse("write http://HOST:PORT, unix:///PATH or stdio://COMMAND");
  if (scheme === "stdio") {
    if (rest.trim() === "") throw refuse("name a command after stdio://");
    return { kind: "stdio", command: rest };
  }
  if (scheme === "unix") {
    if (!rest.startsWith("/")) throw refuse("write the absolute path of the socket after unix://");
    return { kind: "http", place: { kind: "unix", path: rest } };
  }
  const at = hostAndPort(rest);
  if (at === undefined) throw refuse("write http://HOST:PORT");
  return { kind: "http", place: { kind: "tcp", ...at } };
}

/** `https://HOST:PORT`. Throws UsageInvalid. */
export function parseLanAddress(text: string): TlsPlace {
  const at = text.startsWith("https://") ? hostAndPort(text.slice("https://".length)) : undefined;
  if (at === undefined) throw new ReasonError("UsageInvalid", `--lan ${text}: write https://HOST:PORT`);
  return { kind: "tls", ...at };
}

function hostAndPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const parts = /^(?:\[([0-9a-f:]+)\]|([^:[\]/]+)):(\d{1,5})\/?$/i.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}
