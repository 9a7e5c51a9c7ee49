/** The page about the files of a project. */
import { adminKeys, artifactTables, hookEventAliases, hookEvents, hookPayloads } from "#artifacts";
import { GENERATED, list, page, table } from "./markdown.ts";
import { tableSection, titleLink } from "./table-sections.ts";

export function artifactsPage(): string {
  return page([
    "# Files of a project",
    GENERATED,
    "A project is a folder with `harness.md` (or `harness.yaml`, `harness.yml`) and `.harness/`. Each file is read and checked " +
      "by the table for its kind; the same table holds for a file, for an entry in `harness.md` and for an entry in a bundle. " +
      "`artifact_roots` names further folders that are laid out like `.harness/`.",
    table(
      ["where", "what"],
      [
        ["`harness.md`", `${titleLink("Project file")}; the body is the identity of the agent`],
        ["`.harness/tools/NAME.md`", `${titleLink("Tool")}; the body is its description`],
        ["`.harness/hooks/NAME.md`", `${titleLink("Hook")}; the body is for reviewers`],
        ["`.harness/agents/NAME.md`", `${titleLink("Agent")}; the body is its system prompt`],
        ["`.harness/plugins/NAME.md`", `${titleLink("Bundle")} of type \`plugin\``],
        ["`.harness/builtins/NAME.md`", `${titleLink("Bundle")} of type \`builtin\``],
        ["`.harness/overrides/NAME.md`", `${titleLink("Bundle")} of type \`override\``],
      ],
    ),
    "A Markdown file begins with a line `---`, then YAML 1.2, then a second line `---`; the rest is the body. Files are UTF-8 " +
      "and have at most 1 MiB. Links that lead out of the project are refused.",
    "Every problem of every file is reported at once, with file, line and column. An unknown key is a warning and has no effect; " +
      "of a key that is written twice the last one holds, with a warning. A wrong value is an error, and a project with an error " +
      "is not loaded. Files that change take effect at the next step; after a broken edit the last good version stays in force.",
    "A name has letters, digits, `_`, `.` and `-`, at most 64, and is unique among its kind over all files.",
    ...artifactTables.flatMap(tableSection),
    "## Events",
    "When hooks are asked. `custom.NAME`, with a name of lower-case letters, digits, `_` and `.`, is an event that scripts emit.",
    table(
      ["event", "when", "payload", "also written"],
      Object.entries(hookEvents).map(([name, when]) => [
        `\`${name}\``,
        when,
        hookPayloads[name] ?? "–",
        list(Object.keys(hookEventAliases).filter((alias) => hookEventAliases[alias] === name)) || "–",
      ]),
    ),
    "## Admin policy",
    "`/etc/harness/policy.md`, or the file that `HARNESS_ADMIN_POLICY` names, has the form of `harness.md` and stands above every " +
      `project on the machine. It may hold ${list(adminKeys)}; anything else warns and has no effect.`,
    "Nothing below can loosen it: of two limits the lower one holds, of two sandbox modes the stricter one; tools and hosts have " +
      "to be allowed by both; its deny and ask rules always count; its hooks are asked first, and no other hook may have their " +
      "names. `meta` is on only when both say so. While the file is there and cannot be read or has an error, nothing is loaded.",
  ]);
}
