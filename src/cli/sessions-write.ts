/** `harness sessions branch`, `pin`, `unpin` and `delete`: what changes the log. */
import { counted, createUlidFactory, defined } from "#base";
import { findSession, readEvents, type StoreFlags, undoForgetter, withStore } from "#program";
import { LogId, ReasonError, type SessionId } from "#protocol";
import { type ArchiveStore, loadPortability, refuseDelegate, scratchBase } from "#stores";
import { createScratchFolders, createSystemRandom } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import { isConfirmed } from "./confirmation.ts";
import type { ExitCode } from "./exit-code.ts";

export interface BranchFlags extends StoreFlags {
  readonly at?: number;
  readonly turn?: number;
  readonly new?: boolean;
  readonly json?: boolean;
}

export async function branchCommand(ports: CliPorts, name: string, flags: BranchFlags): Promise<ExitCode> {
  const { terminal, clock } = ports;
  return withStore<ExitCode>(ports, flags, async (store) => {
    const found = await findSession(store, name);
    await refuseDelegate(store, found);
    const { id } = found;
    const at = flags.turn === undefined ? flags.at : await endOfTurn(store, id, flags.turn);
    const { branchSession } = await loadPortability();
    const branch = await branchSession(store, id, {
      now: new Date(clock.now()).toISOString(),
      ...defined({ at }),
      ...(flags.new === true ? { log: mintLog(ports) } : {}),
    });
    if (flags.json) {
      terminal.out(`${JSON.stringify({ ...branch, source: id })}\n`);
      return 0;
    }
    terminal.out(`${branch.session}\n`);
    const made = `Branched ${id} after event ${branch.at}.`;
    const known = "This branch already exists and was left unchanged; --new creates another one.";
    terminal.err(`${branch.created ? made : known}\n`);
    return 0;
  });
}

/** A new log id, for ids that nobody else will have. */
export function mintLog({ clock }: CliPorts): LogId {
  return LogId.from(createUlidFactory({ clock, random: createSystemRandom() })());
}

async function endOfTurn(store: ArchiveStore, id: SessionId, turn: number): Promise<number> {
  let ended = 0;
  for await (const event of readEvents(store, id)) {
    if (event.kind === "TurnEnded") ended += 1;
    if (ended === turn) return event.id;
  }
  throw new ReasonError("UsageInvalid", `${ended} turns of ${id} have ended; turn ${turn} has not.`);
}

export async function pinSession(
  ports: CliPorts,
  name: string,
  flags: StoreFlags & { readonly pinned: boolean },
): Promise<ExitCode> {
  return withStore<ExitCode>(ports, flags, async (store) => {
    const { id } = await findSession(store, name);
    await store.update(id, { pinned: flags.pinned });
    ports.terminal.err(`${id} ${flags.pinned ? "is pinned: it does not expire" : "is no longer pinned"}.\n`);
    return 0;
  });
}

export async function deleteSession(
  ports: CliPorts,
  name: string,
  flags: StoreFlags & { readonly yes?: boolean },
): Promise<ExitCode> {
  const { terminal } = ports;
  return withStore<ExitCode>(ports, flags, async (store) => {
    const { id, lastEventId, workingDir } = await findSession(store, name);
    if (flags.yes !== true) {
      const question = `Delete ${id} and its ${counted(lastEventId, "event")} permanently? [y/N] `;
      if (!(await isConfirmed(terminal, question, `deleting ${id} cannot be undone`))) {
        terminal.err("Nothing was deleted.\n");
        return 1;
      }
    }
    const forget = undoForgetter(ports);
    await store.delete(id);
    const scratch = scratchBase(ports.env);
    if (scratch !== undefined) createScratchFolders(scratch).close(workingDir);
    const folders = forget(id);
    terminal.err(`${id} is deleted${folders === 0 ? "" : ", with its undo data"}.\n`);
    return 0;
  });
}
