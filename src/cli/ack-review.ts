/** The review of files that wait for an ack: one after the other, hunk by hunk, one key for each answer. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AwaitingFile } from "#artifacts";
import { makePrivateDirectory } from "#base";
import { harnessPaths } from "#sessions";
import type { ProjectTrust, WaitingFile } from "#trust";
import type { CliPorts } from "./cli-ports.ts";
import { type Hunk, hunksOf, patchText, renderHunk } from "./file-hunks.ts";
import { kindNames, powers } from "./file-kinds.ts";
import { paint } from "./renderer.ts";
import { revealed, shownName } from "./terminal.ts";

const MAX_PARTS_CHARS = 200;

export interface Reviewed {
  readonly accepted: readonly string[];
  readonly denied: readonly string[];
  /** Whoever reviews left before the end. */
  readonly quit: boolean;
}

/** Each accepted file is kept at once: whoever leaves keeps what they did. Ends when the signal aborts. */
export async function reviewFiles(
  ports: CliPorts,
  trust: ProjectTrust,
  awaiting: readonly AwaitingFile[],
  signal: AbortSignal,
): Promise<Reviewed> {
  const accepted: string[] = [];
  const denied: string[] = [];
  for (const [index, file] of awaiting.entries()) {
    const waiting = trust.look(file);
    const answer = await reviewFile(ports, waiting, `${index + 1} of ${awaiting.length}`, signal);
    if (answer === "quit") return { accepted, denied, quit: true };
    if (answer === "accept") {
      trust.ack([waiting], "individual");
      accepted.push(file.file);
    } else denied.push(file.file);
  }
  return { accepted, denied, quit: false };
}

async function reviewFile(
  ports: CliPorts,
  waiting: WaitingFile,
  position: string,
  signal: AbortSignal,
): Promise<"accept" | "deny" | "quit"> {
  const { terminal } = ports;
  const { file, kind, change } = waiting;
  const isReadable = change === "removed" || waiting.hash !== undefined;
  terminal.err(`\n${paint(terminal, "bold", `${shownName(file)} needs your ack`)} (${position})\n`);
  terminal.err(`  ${kindNames[kind]}: ${powers[kind]}\n  ${changeText(waiting)}\n`);
  if (!isReadable) terminal.err("  It cannot be read, so it cannot be accepted.\n");
  const hunks = await hunksOf(waiting);
  let at = 0;
  const show = (hunk: Hunk | undefined): void => {
    if (hunk !== undefined) terminal.err(renderHunk(terminal, hunk, `${at + 1} of ${hunks.length}`));
  };
  show(hunks[at]);
  for (;;) {
    const moves = hunks.length > 1 ? "  [n]ext  [p]revious" : "";
    const keys = `  ${isReadable ? "[a]ccept  " : ""}[d]eny${moves}  [v]iew whole  [s]ave  [q]uit > `;
    const answer = await terminal.readKey(keys, signal);
    if (answer.kind !== "key") return "quit";
    switch (answer.key.toLowerCase()) {
      case "a":
        if (isReadable) return "accept";
        break;
      case "d":
        return "deny";
      case "q":
        return "quit";
      case "n":
      case "p": {
        const next = at + (answer.key.toLowerCase() === "n" ? 1 : -1);
        if (next >= 0 && next < hunks.length) at = next;
        show(hunks[at]);
        break;
      }
      case "v":
        terminal.err(`${revealed(waiting.text ?? waiting.acked?.text ?? "").trimEnd()}\n`);
        break;
      case "s":
        terminal.err(`  Saved: ${await save(ports, waiting)}\n`);
        break;
      default:
    }
  }
}

function changeText({ change, changed, acked }: WaitingFile): string {
  if (change === "new") return "[new file] nobody has acked it here";
  if (change === "removed") return "[removed] it was acked and is gone; a guard that is gone guards nothing";
  const since = acked === undefined ? "" : ` since ${acked.at.slice(0, 10)}`;
  if (changed === undefined) return `[changed${since}] the acked text was not kept: this is the whole file`;
  const parts = changed.parts.length === 0 ? "" : ` (${shownName(changed.parts.join(", ").slice(0, MAX_PARTS_CHARS))})`;
  return `[changed${since}] ${changed.class}${parts}`;
}

/** For a look at it with other tools; where nobody else reads it. */
async function save({ env, clock }: CliPorts, waiting: WaitingFile): Promise<string> {
  const folder = join(harnessPaths(env).stateDir, "reviews");
  makePrivateDirectory(folder);
  const name = waiting.file.replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(-100);
  const path = join(folder, `${clock.now()}-${name}.diff`);
  writeFileSync(path, await patchText(waiting), { mode: 0o600 });
  return path;
}
