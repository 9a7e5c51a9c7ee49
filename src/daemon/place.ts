/**
 * Where a daemon is and how a client gets in: the default socket and token file, or what flags and environment say. A wrong one of
 * these does not keep the owner out of their own daemon; its token goes to no other server.
 */
import { resolve } from "node:path";
import type { Client, DaemonTarget } from "#client";
import type { ProgramPorts } from "#program";
import { ReasonError } from "#protocol";
import { findClaim } from "./claim.ts";
import { readOwnToken } from "./probe.ts";
import type { DaemonRevival } from "./revival.ts";
import { daemonPlaces } from "./state.ts";

/** A person waits for it: about ten seconds, then they are told. */
const RECONNECT = { attempts: 12, firstDelayMs: 50, maxDelayMs: 1500 };

export interface DaemonPlace {
  /** `unix:PATH`, `HOST:PORT` or a URL. */
  readonly address: string;
  readonly tokenFile: string;
  /** Somebody named the file. */
  readonly isTokenFileNamed?: boolean;
}

export interface DaemonFlags {
  readonly connect?: string;
  readonly tokenFile?: string;
}

/** Throws UsageInvalid for another machine without a token for it: that of the daemon here is nobody else's to see. */
export function daemonPlace({ env, cwd }: Pick<ProgramPorts, "env" | "cwd">, flags: DaemonFlags = {}): DaemonPlace {
  const { socket, tokenFile } = daemonPlaces(env);
  const isOwnToken = flags.tokenFile === undefined && env.HARNESS_TOKEN === undefined;
  if (isOwnToken && flags.connect !== undefined && !isHere(flags.connect)) {
    const detail = `${flags.connect} is another machine: give the token for it with --token-file or HARNESS_TOKEN`;
    throw new ReasonError("UsageInvalid", detail);
  }
  const address = flags.connect ?? `unix:${socket}`;
  if (flags.tokenFile === undefined) return { address, tokenFile };
  return { address, tokenFile: resolve(cwd, flags.tokenFile), isTokenFileNamed: true };
}

const OWN_FILE = "the token file of the daemon";

type TokenSources = Extract<DaemonTarget, { readonly tokens: unknown }>["tokens"];

/**
 * What to try, in this order: `HARNESS_TOKEN`, the file that was named, and the file of the daemon that runs here. The last one only
 * where it is that daemon which listens at the address; elsewhere the first that is given is the only one.
 */
export function tokenSources({ env }: Pick<ProgramPorts, "env">, place: DaemonPlace): TokenSources {
  const { HARNESS_TOKEN } = env;
  const { address, tokenFile, isTokenFileNamed = false } = place;
  const given: TokenSources = [
    ...(HARNESS_TOKEN === undefined ? [] : [{ name: "HARNESS_TOKEN", token: HARNESS_TOKEN }]),
    ...(isTokenFileNamed ? [{ name: tokenFile, tokenFile }] : []),
  ];
  const isOwn = isOwnDaemon(env, address);
  if (given.length === 0) return [{ name: OWN_FILE, tokenFile: isOwn ? ownTokenFile(env) : tokenFile }];
  if (!isOwn) return given.slice(0, 1);
  return [...given, { name: OWN_FILE, token: () => ownToken(env, address) }];
}

/** Where the daemon says that it has it; one that was killed may have left another in the usual place. */
function ownTokenFile(env: ProgramPorts["env"]): string {
  const { claims, tokenFile } = daemonPlaces(env);
  return findClaim(claims)?.facts?.tokenFile || tokenFile;
}

/** For whoever gave another one: only from a file that is theirs and that nobody else can read. */
function ownToken(env: ProgramPorts["env"], address: string): string {
  const file = ownTokenFile(env);
  const token = readOwnToken(file);
  if (token !== undefined) return token;
  throw new ReasonError("ServerUnreachable", { address, detail: `there is no token in ${file}` });
}

/** The process that calls itself the daemon of this user is alive, and listens there. */
function isOwnDaemon(env: ProgramPorts["env"], address: string): boolean {
  const { socket, claims } = daemonPlaces(env);
  if (address === `unix:${socket}`) return true;
  if (!isHere(address)) return false;
  const listens = findClaim(claims)?.facts?.addresses ?? [];
  return listens.some((own) => isHere(own) && sameServer(own) === sameServer(address));
}

/** One text for the ways to write an address of this machine. */
function sameServer(address: string): string {
  const server = serverOf(address);
  if ("socket" in server) return server.socket;
  return (URL.parse(server.url)?.host ?? "").replace(/^localhost(?=:|$)/, "127.0.0.1");
}

/** Rejects with ServerUnreachable when nobody answers there. */
export async function reachDaemon(
  ports: Pick<ProgramPorts, "env" | "clock" | "terminal">,
  place: DaemonPlace,
  signal: AbortSignal,
  revival?: Pick<DaemonRevival, "beforeRetry">,
): Promise<Client> {
  const { clock, terminal } = ports;
  const tokens = tokenSources(ports, place);
  const target: DaemonTarget = {
    ...serverOf(place.address),
    tokens,
    onRefused: (name, { reason }) =>
      terminal.err(
        `The token in ${name} cannot be used here (${reason}): trying ${nextAfter(tokens, name)} instead.\n`,
      ),
  };
  // A conversation in this process does without it.
  const { connect } = await import("#client");
  const reconnect = revival === undefined ? RECONNECT : { ...RECONNECT, beforeRetry: () => revival.beforeRetry() };
  return connect(target, { clock, signal, reconnect });
}

function nextAfter(tokens: TokenSources, name: string): string {
  return tokens[tokens.findIndex((one) => one.name === name) + 1]?.name ?? "the next one";
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
