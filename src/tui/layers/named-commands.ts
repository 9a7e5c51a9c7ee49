/** Pickers of the names in a namespace of slash commands: skills and agents. The chosen one is carried out, or written to be completed. */
import { type SlashCommand, typedWord } from "#protocol";
import { needsNothing } from "../input.ts";
import type { Layer } from "../layer.ts";
import { namedRow } from "../list-row.ts";
import { definePicker } from "../picker.ts";

const NAME_COLUMNS = 34;

export const skillsLayer = namesIn("skills", "Skills", "This session has no skills.", "Use a skill");
export const agentsLayer = namesIn("agents", "Agents", "This session has no agents.", "Give a task to an agent");

function namesIn(namespace: string, title: string, empty: string, help: string): Layer {
  return definePicker<SlashCommand>({
    name: namespace,
    title,
    opener: { keys: [], help },
    words: [namespace],
    empty,
    load: () => ({ type: "load", name: "commands" }),
    items: (loaded) =>
      "value" in loaded && loaded.name === "commands"
        ? loaded.value.filter((row) => row.namespace === namespace)
        : undefined,
    text: ({ name, description }) => `${name} ${description}`,
    rows: ({ name, description }, style) => namedRow(name, description, NAME_COLUMNS, style),
    onPick(command) {
      const line = `/${typedWord(command)}`;
      return needsNothing(command) ? [{ type: "slash", text: line }] : [{ type: "write", text: `${line} ` }];
    },
  });
}
