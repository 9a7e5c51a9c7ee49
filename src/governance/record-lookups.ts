/**
 * Looks that the decision about a call did not need, made for the record: a rule that denies a path says nothing of where it led, and
 * another policy may have to know. Changes no decision; cheap, since it asks where names lead and reads nothing that a call of its
 * kind would not have had looked at.
 */
import { EffectError } from "#base";
import type { DiskView } from "./disk-view.ts";
import { touchedFiles } from "./file-rules.ts";
import { cwdOf, type JudgedCall, MAX_NAME_CHARS } from "./judge.ts";
import { isCommand, namedPaths } from "./known-tools.ts";
import { inFolder, loudOnDisk } from "./on-disk.ts";
import { quietDecision } from "./quiet-preset.ts";
import { analyseShell } from "./shell/analysis.ts";
import { everyCommand } from "./shell/command.ts";

/** Names of one call that are looked up for the record. */
const MAX_NAMES = 50;

/** Before a command is judged: where the names in it lead. Rules about files that are not there yet will ask. */
export async function lookAtOperands(call: JudgedCall, disk: DiskView): Promise<void> {
  const { command } = call.args;
  if (!isCommand(call.tool.name) || typeof command !== "string") return;
  const cwd = cwdOf(call);
  const names = [...everyCommand(analyseShell(command).commands)].flatMap((simple) =>
    simple.folders.flatMap((folder) => touchedFiles(simple).map(({ path }) => inFolder(inFolder(cwd, folder), path))),
  );
  await recorded(() => lookAt(names, disk));
}

/** After a call was refused: what would have been asked about it had it not been. */
export async function lookAtRefused(call: JudgedCall, disk: DiskView): Promise<void> {
  const { tool, args } = call;
  await recorded(() => lookAt(namedPaths(tool.name, args), disk));
  if (!isCommand(tool.name) || !quietDecision({ tool: tool.name, args }, disk.root).quiet) return;
  await recorded(() => loudOnDisk(analyseShell(String(args.command)).commands, disk, cwdOf(call)));
}

/** What cannot be looked at is not on the record; the decision stands. */
async function recorded(look: () => Promise<unknown>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
  }
}

async function lookAt(names: readonly string[], disk: DiskView): Promise<void> {
  const short = [...new Set(names)].filter((name) => name.length <= MAX_NAME_CHARS);
  for (const name of short.slice(0, MAX_NAMES)) await disk.locate(name);
}
