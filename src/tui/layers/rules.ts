/** The permission rules in effect, those that answers added first. One key revokes one of those. */

import type { ReplyOf } from "#protocol";
import { namedRow } from "../list-row.ts";
import { definePicker } from "../picker.ts";

type Row = ReplyOf<"ListRules">["result"][number];

const RULE_COLUMNS = 50;

export const rulesLayer = definePicker<Row>({
  name: "rules",
  title: "Session policy · Ctrl-X revokes a rule of an answer",
  opener: { keys: ["alt+p"], help: "Show the permission rules, and revoke those of this session" },
  words: ["rules", "permissions"],
  keys: [{ action: "rules-revoke", keys: ["ctrl+x", "delete"], help: "Revoke the rule, if an answer added it" }],
  empty: "No rules: what needs approval is asked about.",
  load: () => ({ type: "load", name: "rules" }),
  // Those of answers come last.
  items: (loaded) => ("value" in loaded && loaded.name === "rules" ? loaded.value.toReversed() : undefined),
  text: ({ rule, source }) => `${rule} ${source}`,
  rows: ({ effect, rule, source }, style) => namedRow(`${effect.padEnd(5)} ${rule}`, source, RULE_COLUMNS, style),
  onPick: () => [],
  onAction: (_action, item) =>
    item === undefined
      ? undefined
      : {
          isClosed: true,
          effects: [
            { type: "submit", command: { kind: "RevokeRule", rule: item.rule }, done: `Revoked: ${item.rule}` },
          ],
        },
});
