/** The models of the providers whose key is set, with their prices. The chosen one is used from the next step on. */

import { namedRow } from "../list-row.ts";
import { definePicker } from "../picker.ts";
import type { SessionFacts } from "../session-status.ts";

type Row = SessionFacts["models"][number] & { readonly isCurrent: boolean };

const NAME_COLUMNS = 48;

export const modelLayer = definePicker<Row>({
  name: "model",
  title: "Models",
  opener: { keys: ["alt+m"], help: "Use another model" },
  words: ["model"],
  empty: "No models: no key is set. Add one with: harness creds add",
  load: () => ({ type: "load", name: "facts" }),
  items(loaded, { state }) {
    if (!("value" in loaded) || loaded.name !== "facts") return undefined;
    return loaded.value.models.map((row) => ({ ...row, isCurrent: row.model === state.transcript.model }));
  },
  text: ({ model }) => model,
  rows: ({ model, context_tokens: context, usd_per_million: price, isCurrent }, style) => {
    const size = context === undefined ? "" : `${Math.round(context / 1000)}k · `;
    const cost = price === undefined ? "price unknown" : `$${price.input} in, $${price.output} out per million`;
    return namedRow(`${isCurrent ? "● " : "  "}${model}`, `${size}${cost}`, NAME_COLUMNS, style);
  },
  onPick: ({ model }) => [{ type: "submit", command: { kind: "SetModel", model } }],
});
