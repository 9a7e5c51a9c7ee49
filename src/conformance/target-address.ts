/** What is to be tried, as people write it: `http://HOST:PORT`, `unix:///PATH` or `stdio://COMMAND`. */
import { ReasonError } from "#protocol";
import type { HttpPlace } from "./drivers/http-client.ts";

export type TargetAddress =
  | { readonly kind: "http"; readonly place: HttpPlace }
  /** A command for the shell. */
  | { readonly kind: "stdio"; readonly command: string };

/** Throws UsageInvalid. */
export function parseTargetAddress(text: string): TargetAddress {
  const refuse = (detail: string): ReasonError =>
    new ReasonError("UsageInvalid", { detail: `--against ${text}: ${detail}` });
  const [, scheme, rest] = /^(http|unix|stdio):\/\/(.*)$/s.exec(text) ?? [];
  if (rest === undefined) throw refuse("write http://HOST:PORT, unix:///PATH or stdio://COMMAND");
  if (scheme === "stdio") {
    if (rest.trim() === "") throw refuse("there is no command");
    return { kind: "stdio", command: rest };
  }
  if (scheme === "unix") {
    if (!rest.startsWith("/")) throw refuse("name the socket by its absolute path, after unix://");
    return { kind: "http", place: { kind: "unix", path: rest } };
  }
  const parts = /^(?:\[([0-9a-f:]+)\]|([^:[\]/]+)):(\d{1,5})\/?$/i.exec(rest);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  if (host === undefined || port > 65_535) throw refuse("write http://HOST:PORT");
  return { kind: "http", place: { kind: "tcp", host, port } };
}
