/** Where a daemon is and how a client gets in: the default socket and token file, or what flags and environment say. */
import { resolve } from "node:path";
import type { Client, DaemonTarget } from "#client";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { DaemonRevival } from "./daemon-revival.ts";
import { daemonPlaces } from "./daemon-state.ts";

/** A person waits for it: about ten seconds, then they are told. */
const RECONNECT = { attempts: 12, firstDelayMs: 50, maxDelayMs: 1500 };

export interface DaemonPlace {
  /** `unix:PATH`, `HOST:PORT` or a URL. */
  readonly address: string;
  readonly tokenFile: string;
}

export interface DaemonFlags {
  readonly connect?: string;
  readonly tokenFile?: string;
}

/** Throws UsageInvalid for another machine without a token for it: that of the daemon here is nobody else's to see. */
export function daemonPlace({ env, cwd }: Pick<CliPorts, "env" | "cwd">, flags: DaemonFlags = {}): DaemonPlace {
  const { socket, tokenFile } = daemonPlaces(env);
  const isOwnToken = flags.tokenFile === undefined && env.HARNESS_TOKEN === undefined;
  if (isOwnToken && flags.connect !== undefined && !isHere(flags.connect)) {
    const detail = `${flags.connect} is another machine: name the token for it with --token-file, or in HARNESS_TOKEN`;
    throw new ReasonError("UsageInvalid", { detail });
  }
  return {
    address: flags.connect ?? `unix:${socket}`,
    tokenFile: flags.tokenFile === undefined ? tokenFile : resolve(cwd, flags.tokenFile),
  };
}

/** Rejects with ServerUnreachable when nobody answers there. */
export async function reachDaemon(
  { env, clock }: Pick<CliPorts, "env" | "clock">,
  place: DaemonPlace,
  signal: AbortSignal,
  revival?: Pick<DaemonRevival, "beforeRetry">,
): Promise<Client> {
  const { HARNESS_TOKEN } = env;
  const token = HARNESS_TOKEN === undefined ? { tokenFile: place.tokenFile } : { token: HARNESS_TOKEN };
  const target: DaemonTarget = { ...serverOf(place.address), ...token };
  // A conversation in this process does without it.
  const { connect } = await import("#client");
  const reconnect = revival === undefined ? RECONNECT : { ...RECONNECT, beforeRetry: () => revival.beforeRetry() };
  return connect(target, { clock, signal, reconnect });
}

function isHere(address: string): boolean {
  const server = serverOf(address);
  if ("socket" in server) return true;
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(URL.parse(server.url)?.hostname ?? "");
}

function serverOf(address: string): { readonly socket: string } | { readonly url: string } {
  if (address.startsWith("unix:")) return { socket: address.slice("unix:".length) };
  return { url: /^https?:/.test(address) ? address : `http://${address}` };
}
