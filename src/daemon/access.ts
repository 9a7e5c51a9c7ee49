/**
 * Who may use a daemon: how tokens are checked, asked for and revoked, the token of the run, and what an address needs that other
 * machines can reach.
 */

import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type Claims,
  type ConfirmationChannel,
  createFailureLimit,
  createIssuance,
  createTokenDesk,
  readTokenFile,
  type TokenDesk,
  type TokenPhase,
  type TokenRun,
} from "#auth";
import { createUlidFactory, defined, messageOf } from "#base";
import { defaultTokenFile, describeClaims, type ProgramPorts, type TokenParts, tokenParts } from "#program";
import { createIdMint, ReasonError, type TokenId } from "#protocol";
import { commands } from "#protocol/schemas";
import { harnessPaths } from "#stores";
import {
  type Authenticate,
  addressText,
  authenticateWith,
  isLoopback,
  type ListenAddress,
  type TlsTexts,
} from "#transports/http";
import { createSystemRandom } from "#world";
import { createDesktopChannel } from "./desktop-channel.ts";
import { beginRunToken, ownRun, RUN_TTL_SECONDS, type RunToken, revokeEndedRuns } from "./run-token.ts";
import { daemonPlaces } from "./state.ts";

const PEM_MAX_BYTES = 1024 * 1024;

export interface AccessFlags {
  readonly tokenFile?: string;
  readonly authTokenFile?: string;
  readonly authChannel?: "notify";
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

export interface DaemonAccess {
  readonly authenticate: Authenticate;
  /** Where a token stands in its time, as `authenticate` judges it. */
  readonly phaseOf: (claims: Claims) => TokenPhase;
  readonly desk: (clients: ConfirmationChannel) => TokenDesk;
  readonly tls?: TlsTexts;
  /** Where clients of this machine find a token: that of the run, or the one that was brought. */
  readonly tokenFile: string;
  /** Tokens and keys that are for clients and this program alone; some may not be there yet. */
  readonly secretFiles: readonly string[];
  /**
   * Makes the token of the run, if there is to be one, and revokes those of runs that ended without doing so: their ids. Call it when
   * the server listens.
   */
  begin(): readonly TokenId[];
  /** The token of the run is over, and its file goes. */
  end(): void;
}

type AccessPorts = Pick<ProgramPorts, "env" | "cwd" | "clock" | "terminal">;

/** Throws UsageInvalid, ConfigInvalid or a reason of tokens: nothing may listen then. */
export function openDaemonAccess(
  ports: AccessPorts,
  flags: AccessFlags,
  listen: readonly ListenAddress[],
): DaemonAccess {
  const { env, cwd, clock, terminal } = ports;
  const parts = tokenParts(ports);
  const { key, records, times, authenticator } = parts;
  const random = createSystemRandom();
  const ids = createIdMint(createUlidFactory({ clock, random }));
  const brought = broughtToken(ports, flags, parts);
  const tls = tlsFor(ports, flags, listen, brought?.claims);
  /** Whoever brings a token wants no other one, unless they say where. */
  const runFile =
    flags.tokenFile !== undefined ? resolve(cwd, flags.tokenFile) : brought === undefined ? runFileOf(env) : undefined;
  let runToken: RunToken | undefined;

  const deskWith = (channels: readonly ConfirmationChannel[]): TokenDesk =>
    createTokenDesk({
      key,
      records,
      clock,
      newId: () => ids.token(),
      knownCommands: Object.keys(commands),
      issuance: createIssuance({ clock, random, channels }),
      failures: createFailureLimit({ clock }),
    });

  return {
    authenticate: authenticateWith(authenticator),
    phaseOf: (claims) => times.phase(claims),
    desk: (clients) =>
      deskWith([
        clients,
        terminalChannel(terminal),
        ...(flags.authChannel === undefined ? [] : [createDesktopChannel({ env, cwd })]),
      ]),
    ...defined({ tls }),
    tokenFile: runFile ?? brought?.path ?? runFileOf(env),
    secretFiles: [runFile, brought?.path, flags.tlsKey === undefined ? undefined : resolve(cwd, flags.tlsKey)].filter(
      (path) => path !== undefined,
    ),
    begin() {
      const run = ownRun(usualSocket(env, listen));
      if (runFile !== undefined) runToken = beginRun(runFile, run);
      return revokeEndedRuns(records, run, clock.now());
    },
    end: () => runToken?.end(),
  };

  function beginRun(path: string, run: TokenRun): RunToken {
    const desk = deskWith([]);
    return beginRunToken({
      path,
      records,
      times,
      clock,
      log: (line) => terminal.err(`${line}\n`),
      mint() {
        const asked = {
          sessions: "all",
          commands: Object.keys(commands),
          identityClass: "human",
          ttlSeconds: RUN_TTL_SECONDS,
        } as const;
        const minted = desk.mintForOwner(asked, run);
        // Somebody with a wrong token on the same socket must not keep the owner out.
        authenticator.know(minted.token);
        return minted;
      },
    });
  }
}

/** That of the daemon of this user, when it is among the addresses. */
function usualSocket(env: ProgramPorts["env"], listen: readonly ListenAddress[]): string | undefined {
  const { socket } = daemonPlaces(env);
  return listen.some((address) => address.kind === "unix" && address.path === socket) ? socket : undefined;
}

/** A token that was made beforehand. One that is named has to be good; one in its usual place has at least to be safe. */
function broughtToken(
  ports: AccessPorts,
  flags: AccessFlags,
  { authenticator }: TokenParts,
): { readonly path: string; readonly claims: Claims } | undefined {
  const { cwd, terminal } = ports;
  if (flags.authTokenFile !== undefined) {
    const path = resolve(cwd, flags.authTokenFile);
    const token = readTokenFile(path);
    if (token === undefined) throw usage(`there is no file ${path}; create one with harness token mint --file`);
    return { path, claims: authenticator.authenticate(token, path) };
  }
  const path = defaultTokenFile(ports);
  const token = readTokenFile(path);
  if (token === undefined) return undefined;
  try {
    terminal.err(`${path} · ${describeClaims(authenticator.authenticate(token, path))}\n`);
  } catch (error) {
    // It opens nothing: every request is checked.
    terminal.err(`${path} · ${messageOf(error)}\n`);
  }
  return undefined;
}

function tlsFor(
  { cwd }: AccessPorts,
  { tlsCert, tlsKey }: AccessFlags,
  listen: readonly ListenAddress[],
  claims: Claims | undefined,
): TlsTexts | undefined {
  const reachable = listen.find((address) => address.kind === "tcp" && !isLoopback(address.host));
  if (reachable === undefined) {
    if (tlsCert === undefined && tlsKey === undefined) return undefined;
    throw usage("--tls-cert and --tls-key are for addresses that other machines can reach");
  }
  const where = `${addressText(reachable)} is reachable from other machines`;
  if (tlsCert === undefined || tlsKey === undefined || claims === undefined) {
    throw usage(`${where}. It needs --tls-cert, --tls-key and --auth-token-file with a token for named sessions`);
  }
  if (claims.sessions === undefined || claims.sessions.length === 0) {
    throw usage(`${where}, and the token ${claims.jti} is not for named sessions (harness token mint --session)`);
  }
  return { cert: readPem(resolve(cwd, tlsCert), false), key: readPem(resolve(cwd, tlsKey), true) };
}

function readPem(path: string, isSecret: boolean): string {
  try {
    const { size, mode } = statSync(path);
    if (size > PEM_MAX_BYTES) throw new Error(`it has more than ${PEM_MAX_BYTES} bytes`);
    if (isSecret && process.platform !== "win32" && (mode & 0o007) !== 0) {
      throw new Error("every user of this machine can read it; run chmod o= on it");
    }
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new ReasonError("ConfigInvalid", `cannot use ${path}: ${messageOf(cause)}`, { cause });
  }
}

function terminalChannel(terminal: ProgramPorts["terminal"]): ConfirmationChannel {
  return {
    kind: "terminal",
    isThere: () => terminal.interactive,
    async show(code, claims) {
      terminal.err(
        `A program is requesting a token. ${describeClaims(claims)}\nTo allow it, give it the code ${code} within a minute.\n`,
      );
      return true;
    },
  };
}

function runFileOf(env: ProgramPorts["env"]): string {
  return join(harnessPaths(env).stateDir, "control.token");
}

function usage(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", detail);
}
