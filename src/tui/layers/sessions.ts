/** The sessions of this folder, or of all: branches stand below what they were branched from. The chosen one takes over the conversation. */
import type { SessionInfo } from "#client";
import { SessionId } from "#protocol";
import { namedRow } from "../list-row.ts";
import { definePicker } from "../picker.ts";

interface Entry {
  readonly info: SessionInfo;
  readonly depth: number;
  readonly scope: string;
}

const NAME_COLUMNS = 44;
const MAX_DEPTH = 8;

export const sessionsLayer = definePicker<Entry>({
  name: "sessions",
  title: "Sessions · Tab: all folders or this one · Ctrl-F: search",
  opener: { keys: ["alt+s"], help: "Switch to another session" },
  words: ["sessions", "sessions:list", "sessions:resume", "resume"],
  keys: [
    { action: "sessions-scope", keys: ["tab"], help: "Sessions of all folders, or of this one" },
    { action: "sessions-search", keys: ["ctrl+f"], help: "Search in what was said in sessions" },
  ],
  empty: "No sessions.",
  load: () => ({ type: "load", name: "sessions", argument: "here" }),
  items: (loaded) =>
    "value" in loaded && loaded.name === "sessions" ? treeOf(loaded.value, loaded.argument) : undefined,
  text: ({ info }) => `${info.title} ${info.id} ${info.model} ${info.working_dir}`,
  rows({ info, depth }, style) {
    const branch = depth === 0 ? "" : `${"  ".repeat(depth - 1)}└ `;
    const state = info.activity ?? (info.state === "ended" ? "ended" : "paused");
    const name = `${branch}${info.title === "" ? info.id : info.title}`;
    const about = `${state} · ${info.model} · ${info.updated_at.slice(0, 16).replace("T", " ")} · ${info.working_dir}`;
    return namedRow(name, about, NAME_COLUMNS, style);
  },
  onPick: ({ info: { id } }, { state }) =>
    SessionId.is(id) && id !== state.transcript.session ? [{ type: "switch", session: id }] : [],
  onAction: (action, item) => {
    if (action === "sessions-search") return { isClosed: true, effects: [{ type: "open", layer: "search" }] };
    const argument = item?.scope === "all" ? "here" : "all";
    return { state: "same", effects: [{ type: "load", name: "sessions", argument }] };
  },
});

/** Newest first; those that were branched off stand below, further in. */
function treeOf(sessions: readonly SessionInfo[], scope: string): readonly Entry[] {
  const ids = new Set(sessions.map(({ id }) => id));
  const below = Map.groupBy(sessions, ({ parent }) => (parent !== undefined && ids.has(parent) ? parent : ""));
  const from = (parent: string, depth: number): readonly Entry[] =>
    (below.get(parent) ?? []).flatMap((info) => [
      { info, depth: Math.min(depth, MAX_DEPTH), scope },
      ...from(info.id, depth + 1),
    ]);
  return from("", 0);
}
