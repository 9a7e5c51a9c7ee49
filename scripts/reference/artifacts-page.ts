/** The page about the files of a project. */
import { adminKeys, artifactTables, hookEventAliases, hookEvents, hookPayloads } from "#artifacts";
import { GENERATED, list, page, table } from "./markdown.ts";
import { tableSection, titleLink } from "./table-sections.ts";

export function artifactsPage(): string {
  return page([
    "# Files of a project",
    GENERATED,
    "A project is a folder with `harness.md` (or `harness.yaml`, `harness.yml`) and `.harness/`. The tables below describe each kind of file. The same table applies to a file, to an entry in `harness.md` and to an entry in a bundle. `artifact_roots` lists more folders with the same layout as `.harness/`.",
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
    "A Markdown file begins with a line `---`, then YAML 1.2, then a second line `---`; the rest is the body. Files are UTF-8 and have at most 1 MiB. Harness refuses symbolic links that lead out of the project.",
    "Harness reports all problems of all files together, with file, line and column. An unknown key gives a warning and has no effect. If a key appears twice, Harness warns and uses the last value. A wrong value is an error, and Harness does not load a project with an error. A changed file takes effect at the next step, once you have acked it. If the new version has an error, the last good version stays in force.",
    "A name consists of letters, digits, `_`, `.` and `-`, at most 64 characters. No two artifacts of one kind may have the same name, in whichever files they are.",
    ...artifactTables.flatMap(tableSection),
    "## Events",
    "The events that hooks can run on. Scripts can emit their own events, `custom.NAME`, with a name of lower-case letters, digits, `_` and `.`.",
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
    "`/etc/harness/policy.md`, or the file that `HARNESS_ADMIN_POLICY` names, has the format of `harness.md` and applies to every " +
      `project on the machine. It may contain ${list(adminKeys)}. Any other key gives a warning and has no effect.`,
    "A project can only tighten the admin policy, never loosen it. The lower of two limits and the stricter of two sandbox modes apply. The agent can use a tool or a host only if both the admin policy and the project allow it. The deny and ask rules of the admin policy always apply. Its hooks run first, and no other hook may have their names. `meta` is on only if both turn it on. If the file exists but cannot be read or has an error, Harness loads nothing.",
  ]);
}
