/** `SKILL.md`: the frontmatter of the open format (agentskills.io), and the text below it. */

import { parseForeignHead } from "./foreign-head.ts";
import { splitFrontmatter } from "./frontmatter.ts";
import type { SkillContent } from "./optional-file.ts";
import type { Problem } from "./project.ts";
import {
  byName,
  data,
  defineTable,
  error,
  type FieldType,
  field,
  forms,
  list,
  nested,
  type Reader,
  readTable,
  required,
  text,
  textThat,
  words,
} from "./schema.ts";

const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1024;
const MAX_COMPATIBILITY_CHARS = 500;
const MAX_TRIGGERS = 100;
const MAX_HEAD_CHARS = 32 * 1024;
const MAX_TOOLS = 100;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const shortText = (max: number): FieldType<string> =>
  textThat(`text of 1 to ${max} characters`, (value) => value.trim() !== "" && value.length <= max);

/** `Read Grep`, `Read, Grep` or a list. */
const toolNames: FieldType<readonly string[]> = forms("tool names", [], (tree) => {
  if (tree.kind === "list") return (own, reader) => list(words("tool name"), { max: MAX_TOOLS }).read(own, reader);
  return (own, reader) => {
    const written = text().read(own, reader);
    return written?.split(/[\s,]+(?![^(]*\))/).filter((name) => name !== "");
  };
});

const triggerList = list(words("pattern"), { max: MAX_TRIGGERS });

const triggersTable = defineTable(
  "Triggers",
  "When a skill is likely to be useful. A skill whose triggers match moves to the front of the list in the prompt, for the rest of the session.",
).of({
  files: field(triggerList, "none").means(
    "Globs over the files that calls work on: `*.sql` in any folder, `db/*.sql` from the workspace.",
  ),
  keywords: field(triggerList, "none").means("Words or phrases in the input of a person, as whole words."),
});

export const skillTable = defineTable(
  "Skill",
  "The frontmatter of `SKILL.md`, in the [open format](https://agentskills.io/specification). Harness ignores keys that it does not know.",
).of({
  name: required(
    textThat("1 to 64 lower-case letters, digits and single hyphens", (value) => {
      return value.length <= MAX_NAME_CHARS && NAME.test(value);
    }),
  ).means("The name of the skill, which is also the name of its folder."),
  description: required(shortText(MAX_DESCRIPTION_CHARS)).means(
    "What the skill does and when to use it. The model sees it in every prompt.",
  ),
  license: field(text()).means("The license of the skill."),
  compatibility: field(shortText(MAX_COMPATIBILITY_CHARS)).means("What the skill needs."),
  metadata: field(byName(data, "key")).means("Anything else."),
  "allowed-tools": field(toolNames).means(
    "The tools that the agent has from reading the skill to the end of the turn, such as `Read` or `Bash(git *)`. It allows nothing: every call is judged as usual.",
  ),
  triggers: field(nested(triggersTable, ({ values: { files = [], keywords = [] } }) => ({ files, keywords }))).means(
    "When the skill is likely to be useful.",
  ),
});

export function readSkill(source: string, reader: Reader): SkillContent | undefined {
  const at = { file: reader.file, line: 1, column: 1 };
  const head = splitFrontmatter(source);
  if (typeof head === "string") {
    const what = head === "missing" ? "does not begin with frontmatter" : "has frontmatter that is not closed";
    return reader.report(error(`frontmatter-${head}`, at, `The skill ${what}.`, { expected: "---" }));
  }
  if (head.yaml.length > MAX_HEAD_CHARS) {
    return reader.report(error("too-large", at, `The frontmatter has more than ${MAX_HEAD_CHARS} characters.`));
  }
  const problems: Problem[] = [];
  const tree = parseForeignHead(reader.file, head.yaml, problems);
  for (const problem of problems) reader.report(problem);
  if (tree === undefined) return undefined;
  // Other agents have keys of their own; only what looks like a mistake is told.
  const report = (problem: Problem): undefined => {
    if (problem.code !== "unknown-key" || problem.nearest !== undefined) reader.report(problem);
  };
  const { values, at: placeOf } = readTable(skillTable, { ...tree, place: at }, { ...reader, report });
  const { name, description, triggers = { files: [], keywords: [] } } = values;
  if (name === undefined || description === undefined) return undefined;
  const folder = reader.file.split("/").at(-2);
  if (folder !== undefined && folder !== name) {
    const message = `The skill is called "${name}", but its folder "${folder}".`;
    return reader.report(error("skill-folder", placeOf("name"), message, { expected: "the same name" }));
  }
  const allowed = values["allowed-tools"];
  return {
    name,
    description: description.replace(/\s+/g, " ").trim(),
    body: head.body,
    ...(allowed !== undefined && { allowedTools: allowed }),
    triggers,
  };
}
