/** The review of files that wait for an ack: one after the other, page by page. Only what was shown to its end can be accepted. */
import { type AwaitingFile, fileKinds, isOptionalKind } from "#artifacts";
import { counted, paint, visibleLine } from "#base";
import type { ProjectTrust, WaitingFile } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import { pagesOf, patchText } from "./file-hunks.ts";
import { foreignRows, lineRows, showPaged } from "./foreign-rows.ts";
import { DIGEST_CHARS, grouped, textsOf } from "./permission-question.ts";
import { saveReview } from "./saved-review.ts";
import type { QuestionScreen } from "./terminal.ts";

const MAX_PARTS_CHARS = 200;

export interface Reviewed {
  readonly accepted: readonly string[];
  readonly denied: readonly string[];
  /** Whoever reviews left before the end. */
  readonly quit: boolean;
}

/** Each answer is kept at once: whoever leaves keeps what they did. Ends when the signal aborts. */
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
    const position = `${index + 1} of ${awaiting.length}`;
    const answer = await ports.terminal.ask((screen) => reviewFile(ports, screen, waiting, position, signal));
    if (answer === "quit") return { accepted, denied, quit: true };
    if (answer === "accept") {
      trust.ack([waiting], "individual");
      accepted.push(file.file);
    } else {
      trust.deny([waiting]);
      denied.push(file.file);
    }
  }
  return { accepted, denied, quit: false };
}

/** `quit` when whoever reviews leaves, or the signal aborts. */
export async function reviewFile(
  ports: Pick<CliPorts, "env" | "clock">,
  screen: QuestionScreen,
  waiting: WaitingFile,
  position: string,
  signal: AbortSignal,
): Promise<"accept" | "deny" | "quit"> {
  const isReadable = waiting.change === "removed" || waiting.hash !== undefined;
  screen.show(`${headOf(screen, waiting, position).join("\n")}\n`);
  if (!isReadable) screen.show("  It cannot be read, so it cannot be accepted.\n");
  const { pages, isWhole } = await pagesOf(screen, waiting);
  const unseen = new Set(pages.keys());
  let at = 0;
  const show = (page: number): void => {
    if (page < 0 || page >= pages.length) return;
    at = page;
    unseen.delete(page);
    screen.show(pages[page] ?? "");
  };
  show(0);
  for (;;) {
    const answer = await screen.readKey(keysFor({ isReadable, pages: pages.length, unseen: unseen.size }), signal);
    if (answer.kind !== "key") return "quit";
    switch (answer.key.toLowerCase()) {
      case "a": {
        const [next] = unseen;
        if (next !== undefined) show(next);
        else if (isReadable) return "accept";
        break;
      }
      case "d":
        return "deny";
      case "q":
        return "quit";
      case "n":
        show(at + 1);
        break;
      case "p":
        show(at - 1);
        break;
      case "v": {
        const whole = (waiting.text ?? waiting.acked?.text ?? "").replace(/\n$/, "");
        if ((await showPaged(screen, textsOf(foreignRows(screen, whole)), signal)) && isWhole) unseen.clear();
        break;
      }
      case "s":
        screen.show(`  Saved: ${visibleLine(saveReview(ports, waiting.file, await patchText(waiting)))}\n`);
        break;
      default:
    }
  }
}

function headOf(screen: QuestionScreen, waiting: WaitingFile, position: string): readonly string[] {
  const { file, kind, text, hash, acked } = waiting;
  const [first = "", ...rest] = textsOf(lineRows(screen, "", `${file} needs your ack`));
  const shown = text ?? acked?.text ?? "";
  const size = `${counted(shown.split("\n").length - (shown.endsWith("\n") ? 1 : 0), "line")}, ${grouped(Buffer.byteLength(shown))} bytes`;
  const digest = hash ?? acked?.sha256;
  return [
    "",
    `${paint(screen, "bold", first)}${rest.length === 0 ? ` (${position})` : ""}`,
    ...rest,
    `  ${fileKinds[kind].name}: ${fileKinds[kind].power}`,
    ...(isOptionalKind(kind) ? ["  optional: if you deny it, Harness leaves it out until it changes"] : []),
    ...textsOf(lineRows(screen, "  ", changeText(waiting))),
    `  ${size}${digest === undefined ? "" : ` · sha256 ${digest.slice(0, DIGEST_CHARS)}`}`,
  ];
}

function keysFor({ isReadable, pages, unseen }: { isReadable: boolean; pages: number; unseen: number }): string {
  const accept = unseen === 0 ? "[a]ccept  " : `[a] next page, ${unseen} of ${pages} not shown yet  `;
  const moves = pages > 1 ? "  [n]ext  [p]revious" : "";
  return `  ${isReadable ? accept : ""}[d]eny${moves}  [v]iew whole  [s]ave  [q]uit > `;
}

function changeText({ change, changed, acked, deniedAt }: WaitingFile): string {
  if (change === "new") return "[new file] not acked on this machine yet";
  if (change === "removed") return "[removed] you acked it, but it no longer exists; a removed guard protects nothing";
  if (deniedAt !== undefined) return `[denied on ${deniedAt.slice(0, 10)}] you said no to an earlier look at this file`;
  const since = acked === undefined ? "" : ` since ${acked.at.slice(0, 10)}`;
  if (changed === undefined) return `[changed${since}] the acked text was not saved, so this is the whole file`;
  const parts = changed.parts.length === 0 ? "" : ` (${changed.parts.join(", ").slice(0, MAX_PARTS_CHARS)})`;
  return `[changed${since}] ${changed.class}${parts}`;
}
