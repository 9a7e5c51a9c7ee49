/** Slash commands in Markdown as rows: `/project:NAME` for those of the project, and the shape that commands of the user share. */
import { type CommandContent, expandCommand, optionalFiles } from "#artifacts";
import type { SlashEntry, SlashSource } from "#engine";
import { textArguments } from "#protocol";
import type { ProjectRuntime } from "./project.ts";

/** Only those that somebody allowed, in their allowed version. */
export function projectCommands(runtime: ProjectRuntime | undefined): SlashSource {
  return {
    owner: "commands of the project",
    namespaces: ["project"],
    entries() {
      const files = runtime === undefined ? [] : optionalFiles(runtime.live.current(), "command");
      // Of two with one name the later one counts.
      const byName = new Map(files.map(({ content }) => [content.name, content]));
      const commands = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      return commands.map((command) => markdownEntry("project", command));
    },
  };
}

/** Sends the prompt as the input of whoever typed it. Nothing in it is run. */
export function markdownEntry(namespace: string, { name, description, body, notices }: CommandContent): SlashEntry {
  return {
    namespace,
    name,
    description,
    args_schema: textArguments("arguments"),
    run: ({ arguments: given = "" }) => ({
      input: expandCommand(body, given),
      ...(notices.length === 0 ? {} : { text: notices.join("\n") }),
    }),
  };
}
