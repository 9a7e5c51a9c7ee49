/** Where a server listens, as people write it: `HOST:PORT` or `unix:PATH`. */
import { isAbsolute } from "node:path";
import { ReasonError } from "#protocol";

export type ListenAddress =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** The longest path that every system takes for a socket. */
const SOCKET_PATH_BYTES = 103;

/** Throws UsageInvalid. Whether other machines could reach it is `isLoopback`'s to say. */
export function parseListenAddress(text: string): ListenAddress {
  const refuse = (detail: string): ReasonError => new ReasonError("UsageInvalid", detail);
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length);
    if (!isAbsolute(path)) throw refuse(`${text}: use the absolute path of the socket`);
    if (Buffer.byteLength(path) > SOCKET_PATH_BYTES) throw refuse(`${text}: longer than ${SOCKET_PATH_BYTES} bytes`);
    return { kind: "unix", path };
  }
  const parts = /^(?:\[([0-9a-f:]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text);
  const host = (parts?.[1] ?? parts?.[2])?.toLowerCase();
  const port = Number(parts?.[3]);
  if (host === undefined || port > 65_535) throw refuse(`${text}: write HOST:PORT or unix:PATH`);
  return { kind: "tcp", host: host === "localhost" ? "127.0.0.1" : host, port };
}

/** An address of this machine alone. A name is none, whatever it stands for now. */
export function isLoopback(host: string): boolean {
  return host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

export function addressText(address: ListenAddress): string {
  if (address.kind === "unix") return `unix:${address.path}`;
  return `${address.host.includes(":") ? `[${address.host}]` : address.host}:${address.port}`;
}
