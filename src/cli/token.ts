/** `harness token`: capability tokens made, listed, checked and revoked by the person whose machine it is. */

import { closeSync, fsyncSync, lstatSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createUlidFactory, defined, errnoOf, messageOf } from "#base";
import {
  type Claims,
  createIssuance,
  DEFAULT_COMMANDS,
  defaultTokenFile,
  describeClaims,
  mintClaims,
  phaseOf,
  readTokenFile,
  signToken,
  TOKEN_FILE_MODE,
  type TokenRecord,
  timeOf,
  tokenFileText,
  tokenParts,
} from "#program";
import { createIdMint, ReasonError, SessionId, TokenId } from "#protocol";
import { commands } from "#protocol/schemas";
import { createSystemRandom, makePrivateDirectory } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

const TOKEN_VARIABLE = "HARNESS_TOKEN";
const CODE_PROMPTS = 3;
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

export interface MintFlags {
  readonly session?: readonly string[];
  readonly allSessions?: boolean;
  readonly commands?: readonly string[];
  readonly identityClass: "human" | "agent";
  readonly ttl: string;
  readonly canMint?: boolean;
  /** True: the place that is looked at by default. */
  readonly file?: string | true;
  readonly json?: boolean;
}

export async function tokenMintCommand(ports: CliPorts, flags: MintFlags): Promise<ExitCode> {
  const { terminal, env, clock } = ports;
  const { key, records, authenticator } = tokenParts(ports);
  const given = env[TOKEN_VARIABLE];
  const parent = given === undefined ? undefined : authenticator.authenticate(given, TOKEN_VARIABLE);
  const random = createSystemRandom();
  const asked = mintClaims(
    {
      sessions: sessionsOf(flags),
      commands: flags.commands ?? DEFAULT_COMMANDS,
      identityClass: flags.identityClass,
      ttlSeconds: secondsOf(flags.ttl),
      canMint: flags.canMint === true,
    },
    {
      jti: createIdMint(createUlidFactory({ clock, random })).token(),
      nowMs: clock.now(),
      knownCommands: Object.keys(commands),
      ...defined({ parent }),
    },
  );
  const file = flags.file === undefined ? undefined : freeTokenFile(ports, flags.file);
  // Whoever holds a token that may mint was confirmed when it was made.
  const claims = parent === undefined ? await confirmed(ports, asked) : asked;
  const token = signToken(claims, key());
  records.add(claims, clock.now());
  try {
    if (file !== undefined) writeTokenFile(file, token);
  } catch (error) {
    // It was given to nobody.
    records.revoke(claims.jti, clock.now());
    throw error;
  }
  if (flags.json) terminal.out(`${JSON.stringify({ ...(file === undefined ? { token } : { file }), claims })}\n`);
  else {
    terminal.err(`${describeClaims(claims)}\n`);
    terminal.out(`${file ?? token}\n`);
  }
  return 0;
}

export async function tokenListCommand(ports: CliPorts, flags: { readonly json?: boolean }): Promise<ExitCode> {
  const { terminal, clock } = ports;
  const found = tokenParts(ports).records.list();
  const state = ({ claims, revokedAt }: TokenRecord): string =>
    revokedAt === undefined ? phaseOf(claims, clock.now()) : "revoked";
  if (flags.json) {
    const rows = found.map((record) => ({
      ...record.claims,
      state: state(record),
      minted_at: record.mintedAt,
      ...defined({ revoked_at: record.revokedAt }),
    }));
    terminal.out(`${JSON.stringify(rows)}\n`);
    return 0;
  }
  if (found.length === 0) {
    terminal.err("No token was created on this machine.\n");
    return 0;
  }
  const rows = found.map((record) => {
    const { jti, identity_class, exp, sessions, commands: verbs } = record.claims;
    return [jti, identity_class, state(record), timeOf(exp), sessions?.join(" ") ?? "all", verbs.join(" ")];
  });
  terminal.out(formatTable(["TOKEN", "CLASS", "STATE", "ENDS (UTC)", "SESSIONS", "COMMANDS"], rows, terminal.columns));
  return 0;
}

export async function tokenRevokeCommand(
  ports: CliPorts,
  jti: string,
  flags: { readonly json?: boolean },
): Promise<ExitCode> {
  const { terminal, clock } = ports;
  if (!TokenId.is(jti))
    throw usage(`'${jti.slice(0, 100)}' is not the id of a token (tok_…); harness token list has them`);
  const { records } = tokenParts(ports);
  const isKnown = records.list().some(({ claims }) => claims.jti === jti);
  const isNew = records.revoke(jti, clock.now());
  if (flags.json) terminal.out(`${JSON.stringify({ jti, revoked: true, known: isKnown, new: isNew })}\n`);
  else {
    const known = isKnown ? "" : ", which was not created on this machine";
    terminal.err(`${isNew ? "Revoked" : "Was revoked before:"} ${jti}${known}.\n`);
  }
  return 0;
}

export interface CheckFlags {
  readonly file?: string;
  readonly json?: boolean;
}

/** Says what the token may do; one that cannot be used is an error with its reason. */
export async function tokenCheckCommand(ports: CliPorts, flags: CheckFlags): Promise<ExitCode> {
  const { terminal, env, cwd } = ports;
  const path = flags.file === undefined ? defaultTokenFile(ports) : resolve(cwd, flags.file);
  const token = (flags.file === undefined ? env[TOKEN_VARIABLE] : undefined) ?? readTokenFile(path);
  if (token === undefined)
    throw usage(
      `there is no token: ${TOKEN_VARIABLE} is not set, and ${path} does not exist. Create one with harness token mint`,
    );
  const claims = tokenParts(ports).authenticator.authenticate(token, "check");
  if (flags.json) terminal.out(`${JSON.stringify(claims)}\n`);
  else terminal.out(`${describeClaims(claims)}\n`);
  return 0;
}

/** Shows the code on the terminal and has it typed back: a program that only runs as this user cannot. */
async function confirmed({ terminal, clock, outward }: CliPorts, claims: Claims): Promise<Claims> {
  const issuance = createIssuance({
    clock,
    random: createSystemRandom(),
    channels: [
      {
        kind: "terminal",
        isThere: () => terminal.interactive,
        show: async (code, asked) => {
          terminal.err(`${describeClaims(asked)}\nTo create this token, type ${code} within a minute.\n`);
          return true;
        },
      },
    ],
  });
  await issuance.begin(claims);
  for (let left = CODE_PROMPTS; ; left--) {
    const line = await terminal.readLine("code: ", new AbortController().signal);
    if (line.kind !== "line") throw new ReasonError("ConfirmationFailed", "no code was typed");
    try {
      return issuance.confirm(claims.jti, line.text.trim());
    } catch (error) {
      if (left === 1) throw error;
      terminal.err(`${await outward.describe(error)}\n`);
    }
  }
}

function sessionsOf({ session, allSessions }: MintFlags): readonly SessionId[] | "all" {
  if ((session === undefined) === (allSessions !== true)) {
    throw usage("name the sessions with --session, or use --all-sessions");
  }
  return (session ?? []).length === 0 ? "all" : (session ?? []).map(sessionId);
}

function sessionId(text: string): SessionId {
  if (!SessionId.is(text)) throw usage(`'${text.slice(0, 100)}' is not the id of a session (sess_…)`);
  return text;
}

function secondsOf(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw usage(`--ttl must be like 90s, 15m, 24h or 7d, not '${text.slice(0, 50)}'`);
  // The pattern has no other units.
  return Number(count) * SECONDS[unit as keyof typeof SECONDS];
}

/** Asked before anybody is asked for a code: never over a file that is there. */
function freeTokenFile(ports: CliPorts, named: string | true): string {
  const path = named === true ? defaultTokenFile(ports) : resolve(ports.cwd, named);
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw taken(path);
  if (named === true) makePrivateDirectory(dirname(path));
  return path;
}

function writeTokenFile(path: string, token: string): void {
  try {
    const file = openSync(path, "wx", TOKEN_FILE_MODE);
    try {
      writeSync(file, tokenFileText(token));
      fsyncSync(file);
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw taken(path);
    throw usage(`cannot write ${path}: ${messageOf(error)}`);
  }
}

function taken(path: string): ReasonError {
  return new ReasonError("AlreadyExists", `${path} already exists. Name another file, or move it away.`);
}

function usage(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", detail);
}
