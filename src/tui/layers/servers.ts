/** The MCP servers of the session with their states. The chosen one says more; one key restarts it. */
import { namedRow } from "../list-row.ts";
import { definePicker } from "../picker.ts";
import type { SessionFacts } from "../session-status.ts";

type Row = SessionFacts["servers"][number];

const NAME_COLUMNS = 30;

export const serversLayer = definePicker<Row>({
  name: "servers",
  title: "MCP servers · Ctrl-X restarts",
  opener: { keys: [], help: "Show the MCP servers" },
  words: ["mcp"],
  keys: [{ action: "servers-restart", keys: ["ctrl+x"], help: "Restart the server" }],
  empty: "This session has no MCP servers.",
  load: () => ({ type: "load", name: "facts" }),
  items: (loaded) => ("value" in loaded && loaded.name === "facts" ? loaded.value.servers : undefined),
  text: ({ name, state }) => `${name} ${state}`,
  rows: ({ name, state, tools, last_error: error }, style) =>
    namedRow(name, `${state} · ${tools} tools${error === undefined ? "" : ` · ${error}`}`, NAME_COLUMNS, style),
  onPick: ({ name }) => [{ type: "slash", text: `/mcp:${name} status` }],
  onAction: (_action, item) =>
    item === undefined
      ? undefined
      : { isClosed: true, effects: [{ type: "slash", text: `/mcp:${item.name} restart` }] },
});
