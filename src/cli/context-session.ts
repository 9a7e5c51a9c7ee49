/** `harness context --session`: where the conversation of a recorded session was compacted, what was removed, and why. */
import { counted, visibleLine, visibleLines } from "#base";
import { findSession, readEvents, type StoreFlags, withStore } from "#program";
import type { EventOf } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

const PINNED_CHARS = 80;

type Compaction = EventOf<"CompactionTriggered">;

export interface SessionContextFlags extends StoreFlags {
  readonly session: string;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

export async function sessionContext(ports: CliPorts, flags: SessionContextFlags): Promise<ExitCode> {
  const { terminal } = ports;
  return withStore<ExitCode>(ports, flags, async (store) => {
    const { id } = await findSession(store, flags.session);
    const compactions: Compaction[] = [];
    for await (const event of readEvents(store, id)) if (event.kind === "CompactionTriggered") compactions.push(event);
    if (flags.json) {
      const rows = compactions.map(({ id: event, ts, payload }) => ({ event, ts, ...payload }));
      terminal.out(`${JSON.stringify({ session: id, compactions: rows })}\n`);
    } else if (compactions.length === 0) {
      terminal.out(`${id} was not compacted: the model sees the whole conversation.\n`);
    } else if (flags.verbose) {
      for (const compaction of compactions) terminal.out(details(compaction));
    } else {
      const titles = ["EVENT", "HOW", "UP TO", "BEFORE", "AFTER", "RESULTS", "WHY"];
      terminal.out(formatTable(titles, compactions.map(row), terminal.columns));
    }
    return 0;
  });
}

function row({ id, payload }: Compaction): string[] {
  const { strategy = "", boundary, tokens_before, tokens_after, pruned = [], why = "" } = payload;
  const upTo = strategy === "prune" ? "–" : String(boundary);
  return [id, strategy, upTo, tokens_before ?? "–", tokens_after ?? "–", pruned.length, why].map((cell) =>
    visibleLine(String(cell)),
  );
}

function details({ id, ts, payload }: Compaction): string {
  const { strategy = "", boundary, trigger = "", why = "", model, focus, summary } = payload;
  const {
    tokens_before: before = 0,
    tokens_after: after = 0,
    kept = [],
    pinned = [],
    files = [],
    pruned = [],
  } = payload;
  const head = [
    `Event ${id} (${ts}): ${strategy}, because of ${trigger}: ${why}`,
    `   About ${before} tokens before, ${after} after`,
    ...(strategy === "prune" ? [] : [`   Replaced: everything up to event ${boundary}`]),
    ...(model === undefined ? [] : [`   Written by: ${model}`]),
    ...(focus === undefined ? [] : [`   Focus: ${focus}`]),
    ...(kept.length === 0 ? [] : [`   Kept word for word: ${counted(kept.length, "input")}`]),
    ...pinned.map(({ text }) => `   Pinned: ${text.slice(0, PINNED_CHARS)}`),
    ...files.map(
      ({ path, changed, sha256 = "no hash" }) => `   File ${changed ? "changed" : "read"}: ${path} (${sha256})`,
    ),
    ...pruned.map(({ name, result, tokens }) => `   Removed: result ${result} of ${name}, about ${tokens} tokens`),
  ];
  const text =
    summary === ""
      ? ""
      : `${visibleLines(summary)
          .split("\n")
          .map((line) => `   │ ${line}`)
          .join("\n")}\n`;
  return `${head.map(visibleLine).join("\n")}\n${text}`;
}
