/**
 * The change sets of one workspace, sealed, one file each: `sets/<session>/<call>`. A call that was begun has a file
 * `<call>.open` until it is recorded, so that a crash in between is seen and told, never guessed at.
 */
import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "#base";
import { CallId, SessionId } from "#protocol";
import { makePrivateDirectory, readPrivateFile, writePrivateFile } from "#world";
import type { ChangeSet, OpenCall } from "./change-set.ts";
import type { Seal } from "./seal.ts";

const OPEN_SUFFIX = ".open";

export interface SetLog {
  /** Durable before it returns. */
  begin(call: OpenCall): void;
  /** The call changed nothing, or did not run. */
  dismiss(call: Pick<ChangeSet, "session" | "call">): void;
  /** Adds or replaces; durable before it returns. Ends what `begin` opened. */
  save(set: ChangeSet): void;
  remove(set: Pick<ChangeSet, "session" | "call">): void;
  /** Oldest first. A file that does not open is left out and counted in `damaged`. */
  read(session?: SessionId): {
    readonly sets: readonly ChangeSet[];
    readonly open: readonly OpenCall[];
    readonly damaged: number;
  };
}

export function createSetLog(directory: string, seal: Seal): SetLog {
  const folder = (session: SessionId): string => join(directory, session);
  const label = (session: string, file: string): string => `set ${session}/${file}`;

  function write(session: SessionId, file: string, value: ChangeSet | OpenCall): void {
    makePrivateDirectory(folder(session));
    const sealed = seal.seal(Buffer.from(JSON.stringify(value)), label(session, file));
    writePrivateFile(join(folder(session), file), sealed, { durable: true });
  }

  function readFile(session: string, file: string): unknown {
    const sealed = readPrivateFile(join(directory, session, file));
    const opened = sealed === undefined ? undefined : seal.open(sealed, label(session, file));
    return opened === undefined ? undefined : JSON.parse(opened.toString("utf8"));
  }

  return {
    begin: (call) => write(call.session, `${call.call}${OPEN_SUFFIX}`, call),
    dismiss: ({ session, call }) => rmSync(join(folder(session), `${call}${OPEN_SUFFIX}`), { force: true }),
    save(set) {
      write(set.session, set.call, set);
      rmSync(join(folder(set.session), `${set.call}${OPEN_SUFFIX}`), { force: true });
    },
    remove({ session, call }) {
      rmSync(join(folder(session), call), { force: true });
      if (namesIn(folder(session)).length === 0) rmdirSync(folder(session));
    },
    read(only) {
      const sets: ChangeSet[] = [];
      const open: OpenCall[] = [];
      let damaged = 0;
      for (const session of only === undefined ? namesIn(directory).filter(SessionId.is) : [only]) {
        for (const file of namesIn(folder(session))) {
          const isOpen = file.endsWith(OPEN_SUFFIX);
          if (!isOpen && !CallId.is(file)) continue; // a temporary file that a crash left
          const value = readFile(session, file);
          // What opens under our key and label was written by `write` above.
          if (value === undefined) damaged += 1;
          else if (isOpen) open.push(value as OpenCall);
          else sets.push(value as ChangeSet);
        }
      }
      sets.sort((a, b) => a.time - b.time || a.order - b.order);
      const recorded = new Set(sets.map(({ call }) => call));
      return { sets, open: open.filter(({ call }) => !recorded.has(call)), damaged };
    },
  };
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
