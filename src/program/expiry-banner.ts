/**
 * Which sessions lose content within a week: looked up once a day, by whichever program comes first, and kept in a file for the others.
 * Whoever did the work of retention meanwhile does not matter: a daemon does it, and a person reads this.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RetentionSettings } from "#artifacts";
import { counted, isRecord } from "#base";
import { harnessPaths } from "#stores/keys";
import { makePrivateDirectory, readOwnedFile, writePrivateFile } from "#world";
import { dailyMark } from "./daily-mark.ts";
import type { ProgramPorts } from "./ports.ts";

const MARK = "expiry-banner";
const SHOWN_SESSIONS = 3;
const MAX_KEPT = 100;
const MAX_BYTES = 64 * 1024;

type Settings = () => Promise<RetentionSettings>;

/** Names them once a day, on a terminal only. `settings` is asked only when it is time. Never fails the command that it belongs to. */
export async function tellExpiring(ports: ProgramPorts, settings: Settings): Promise<void> {
  const { terminal } = ports;
  if (!terminal.interactive) return;
  try {
    const ids = await lookedUp(ports, settings);
    if (ids !== undefined && ids.length > 0) terminal.err(`${expiringText(ids)}\n`);
  } catch (error) {
    terminal.err(`Harness could not check which sessions lose content soon: ${await ports.outward.describe(error)}\n`);
  }
}

/** One line for a person. */
export function expiringText(ids: readonly string[]): string {
  const [loses, them] = ids.length === 1 ? ["loses", "it"] : ["lose", "them"];
  return `${counted(ids.length, "session")} ${loses} content this week: ${named(ids)}. To keep ${them}, run harness sessions pin or harness sessions export.`;
}

/** For somebody in a conversation. */
export function expiryBannerText(ids: readonly string[]): string {
  const [expires, them] = ids.length === 1 ? ["expires", "it"] : ["expire", "them"];
  const count = counted(ids.length, "session");
  return `${count} ${expires} this week: ${named(ids)} — /sessions:pin or /sessions:export to keep ${them}.`;
}

/** Those that nobody has hidden; none once all of these are. */
export async function expiringSessionIds(ports: ProgramPorts, settings: Settings): Promise<readonly string[]> {
  await lookedUp(ports, settings);
  const { ids, hidden } = kept(ports);
  return ids.every((id) => hidden.includes(id)) ? [] : ids;
}

/** Until another session joins them. */
export function hideExpiring(ports: ProgramPorts): void {
  const { ids } = kept(ports);
  keep(ports, { ids, hidden: ids });
}

/** Undefined when that was done within the last day, or there is no log. */
async function lookedUp(ports: ProgramPorts, settings: Settings): Promise<readonly string[] | undefined> {
  const { env, clock } = ports;
  const mark = dailyMark(ports, MARK);
  const { sessionsDb } = harnessPaths(env);
  if (!(await mark.isDue()) || !existsSync(sessionsDb)) return undefined;
  const [{ expiringSessions, machineKey }, { retentionPolicy }] = await Promise.all([
    import("#stores"),
    import("./retention-policy.ts"),
  ]);
  const policy = await retentionPolicy(ports, await settings());
  const soon = expiringSessions({ path: sessionsDb, clock, key: machineKey(env), policy });
  const ids: readonly string[] = soon.map(({ id }) => id);
  keep(ports, { ids: ids.slice(0, MAX_KEPT), hidden: kept(ports).hidden.filter((id) => ids.includes(id)) });
  await mark.set();
  return ids;
}

interface Kept {
  readonly ids: readonly string[];
  readonly hidden: readonly string[];
}

function fileOf({ env }: Pick<ProgramPorts, "env">): string {
  return join(harnessPaths(env).stateDir, "expiring-sessions.json");
}

function keep(ports: ProgramPorts, what: Kept): void {
  const file = fileOf(ports);
  makePrivateDirectory(dirname(file));
  writePrivateFile(file, JSON.stringify(what), { durable: false });
}

/** Nothing of a file that is missing, that is not ours or that somebody has broken: it is written again within a day. */
function kept(ports: ProgramPorts): Kept {
  try {
    const read: unknown = JSON.parse(readOwnedFile(fileOf(ports), MAX_BYTES)?.toString("utf8") ?? "{}");
    return isRecord(read) ? { ids: texts(read.ids), hidden: texts(read.hidden) } : { ids: [], hidden: [] };
  } catch {
    return { ids: [], hidden: [] };
  }
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string").slice(0, MAX_KEPT) : [];
}

function named(ids: readonly string[]): string {
  return `${ids.slice(0, SHOWN_SESSIONS).join(", ")}${ids.length > SHOWN_SESSIONS ? ", …" : ""}`;
}
