/** `harness audit accept`: a person takes a log as it is for the newest one, after a backup was put back or a log was moved away. */

import { findSession, headsOf, type StoreFlags, withStore } from "#program";
import { SessionId } from "#protocol";
import { type ArchiveStore, harnessPaths, headProblem, type KnownHeads, loadAudit, readSigningKey } from "#stores";
import { noteEnd } from "./audit.ts";
import { tellVerdict } from "./audit-verdict.ts";
import type { CliPorts } from "./cli-ports.ts";
import { isConfirmed } from "./confirmation.ts";
import type { ExitCode } from "./exit-code.ts";

export interface AcceptFlags extends StoreFlags {
  readonly yes?: boolean;
}

/** 1, and nothing is accepted, when the log is not intact or the person says no. */
export async function auditAcceptCommand(ports: CliPorts, target: string, flags: AcceptFlags): Promise<ExitCode> {
  const heads = await headsOf(ports, flags);
  return withStore<ExitCode>(ports, flags, async (store) => {
    if (SessionId.is(target) && heads.list().includes(target) && (await store.get(target)) === undefined) {
      if (!(await isSure(ports, flags, `Accept that the log has lost ${target}`))) return 1;
      await heads.forget(target);
      ports.terminal.out(`The last known head of ${target} is forgotten.\n`);
      return 0;
    }
    return acceptLog(ports, store, heads, target, flags);
  });
}

async function acceptLog(
  ports: CliPorts,
  store: ArchiveStore,
  heads: KnownHeads,
  target: string,
  flags: AcceptFlags,
): Promise<ExitCode> {
  const { terminal, env } = ports;
  const { verifyEvidence } = await loadAudit();
  const { id: session } = await findSession(store, target);
  const head = heads.read(session);
  const key = readSigningKey(harnessPaths(env).configDir);
  const end = { event: 0, hash: "" };
  const options = { session, trustedKeys: key === undefined ? [] : [key.publicKey], head };
  const verdict = await verifyEvidence(noteEnd(store.readEvidence(session), end), options);
  if (verdict.findings.length > 0) return tellVerdict(ports, verdict, flags);
  const problem = verdict.head && headProblem(session, verdict.head);
  if (problem === undefined) {
    terminal.out(`There is nothing to accept: this machine does not know of a newer log of ${session}.\n`);
    return 0;
  }
  terminal.err(`${problem}\n`);
  if (!(await isSure(ports, flags, `Accept event ${end.event} as the newest of ${session}`))) return 1;
  await heads.forget(session);
  if (end.event > 0 && !heads.keep(session, { lastEventId: end.event, hash: end.hash })) return 1;
  terminal.out(`Event ${end.event} is now the last known head of ${session}.\n`);
  return 0;
}

async function isSure({ terminal }: CliPorts, { yes }: AcceptFlags, what: string): Promise<boolean> {
  if (yes === true) return true;
  const isSaid = await isConfirmed(terminal, `${what}? [y/N] `, "accepting this hides the finding");
  if (!isSaid) terminal.err("Nothing was accepted.\n");
  return isSaid;
}
