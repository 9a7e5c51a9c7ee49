/** Aliases as rows: what one stands for is run by the registry that the alias is in, with all its checks. */
import { parseSlash, ReasonError, textArguments } from "#protocol";
import type { SlashRegistry, SlashSource } from "./slash-registry.ts";

/** `targets`: by name, a slash command with a namespace and its first arguments, as they are now. `registry`: asked when one is run. */
export function aliasSource(targets: () => ReadonlyMap<string, string>, registry: () => SlashRegistry): SlashSource {
  return {
    owner: "aliases",
    namespaces: [""],
    entries: () =>
      [...targets()].map(([name, target]) => ({
        namespace: "",
        name,
        description: `alias of ${target}`,
        args_schema: textArguments("arguments"),
        async run({ arguments: given = "" }, caller) {
          const read = parseSlash(`${target} ${given}`.trim(), registry().rows());
          if ("problem" in read) {
            throw new ReasonError("InvalidCommand", `the alias /${name} stands for ${target}: ${read.problem}`);
          }
          return registry().run(read.command, read.args, caller);
        },
      })),
  };
}
