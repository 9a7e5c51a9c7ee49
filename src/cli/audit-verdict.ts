/** What `harness audit` says of a log: its findings, how it stands to its last known head, and the exit code. */
import { resolve } from "node:path";
import { counted, paint, visibleLine } from "#base";
import type { StoreFlags } from "#program";
import { reasonText, type SessionId } from "#protocol";
import { type HeadComparison, headProblem, seen, type Verdict } from "#stores";
import { storeKinds } from "#stores/kinds";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

export interface VerdictFlags extends StoreFlags {
  readonly json?: boolean;
}

/** 0 when the log is intact, 1 when it is not, 3 when it is and does not have its last known head. */
export function verdictCode({ session, findings, head }: Verdict): ExitCode {
  if (findings.length > 0) return 1;
  return session === undefined || head === undefined || headProblem(session, head) === undefined ? 0 : 3;
}

/** Prints it, and returns its `verdictCode`. */
export function tellVerdict(ports: CliPorts, verdict: Verdict, flags: VerdictFlags): ExitCode {
  const { session, events, checkpoints, anchors, expired, unsealed, findings, findingsLeftOut, head } = verdict;
  const intact = findings.length === 0;
  const problem = head === undefined || session === undefined ? undefined : headProblem(session, head);
  const code = verdictCode(verdict);
  if (flags.json === true) {
    const reason = code === 0 ? {} : { reason: intact ? "HeadMismatch" : "EvidenceBroken" };
    const counts = { events, checkpoints, anchors, expired, unsealed };
    const all = { intact, ...reason, session, ...counts, head, findings, findings_left_out: findingsLeftOut };
    ports.terminal.out(`${JSON.stringify(all)}\n`);
    return code;
  }
  const { terminal } = ports;
  for (const { event, what, detail } of findings)
    terminal.out(`${visibleLine(`event ${event}: ${what}: ${detail}`)}\n`);
  if (findingsLeftOut > 0) terminal.out(`and ${findingsLeftOut} more\n`);
  const facts = [counted(events, "event"), counted(checkpoints, "checkpoint"), counted(anchors, "anchor")];
  if (expired > 0) facts.push(`content of ${counted(expired, "event")} has expired`);
  if (unsealed > 0) facts.push(`the last ${unsealed} not signed yet`);
  if (intact) terminal.out(`intact${butHow(head)}: ${session} (${facts.join(", ")})\n`);
  else {
    const log = session === undefined ? "The log" : `The log of ${session}`;
    const detail = `${log} was altered (${facts.join(", ")}): ${counted(findings.length, "finding")}.`;
    tellReason(ports, "EvidenceBroken", detail);
  }
  if (problem !== undefined) tellMismatch(ports, session, problem, flags);
  if (head?.state === "unknown") {
    terminal.err(
      `This machine has no last known head of ${session}, so it cannot tell whether this is the newest log. The machine or the state folder is new, or an earlier version wrote the session.\n`,
    );
  }
  return code;
}

/** For a session that the log does not have. `standing` is `gone` or `tampered`. */
export function tellGone(ports: CliPorts, session: SessionId, standing: HeadComparison, flags: VerdictFlags): ExitCode {
  if (flags.json === true) {
    ports.terminal.out(
      `${JSON.stringify({ intact: false, reason: "HeadMismatch", session, events: 0, head: standing })}\n`,
    );
  } else {
    ports.terminal.out(`gone: ${session}\n`);
    tellMismatch(ports, session, headProblem(session, standing) ?? "", flags);
  }
  return 3;
}

function butHow(head: HeadComparison | undefined): string {
  switch (head?.state) {
    case "older":
      return `, but older than the last known head (${seen(head)})`;
    case "replaced":
      return `, but without the last known head (${seen(head)})`;
    case "tampered":
      return ", but the last known head was tampered with";
    default:
      return "";
  }
}

function tellMismatch(ports: CliPorts, session: SessionId | undefined, problem: string, flags: VerdictFlags): void {
  const where = storeKinds[flags.store].isInWorkspace
    ? ` --store ${flags.store} --root ${resolve(ports.cwd, flags.root ?? ".")}`
    : "";
  tellReason(ports, "HeadMismatch", `${problem} If that was you, run: harness audit accept ${session}${where}`);
}

function tellReason({ terminal }: CliPorts, reason: "EvidenceBroken" | "HeadMismatch", detail: string): void {
  terminal.err(`${paint(terminal, "red", `✗ ${reason}: ${reasonText(reason, { detail })}`)}\n`);
}
