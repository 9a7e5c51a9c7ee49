/** A slash command written in Markdown: a prompt that is sent when somebody types its name. Reads no file and runs nothing. */

import { parseForeignHead } from "./foreign-head.ts";
import { splitFrontmatter } from "./frontmatter.ts";
import type { CommandContent } from "./optional-file.ts";
import type { Problem } from "./project.ts";
import { data, defineTable, error, field, type Reader, readTable, text } from "./schema.ts";

const MAX_HEAD_CHARS = 32 * 1024;
/** What a slash command may be called, with `:` for each folder that the file is in. */
const NAME = /^(?=.{1,128}$)[A-Za-z0-9][A-Za-z0-9._-]*(?::[A-Za-z0-9][A-Za-z0-9._-]*)*$/;

export const commandTable = defineTable(
  "Slash command",
  "The frontmatter of a slash command in Markdown. The body is the prompt.",
).of({
  description: field(text(), "the first line of the body").means("One line for `/help`."),
  "argument-hint": field(data, "none").means("The arguments that the command expects, for `/help`."),
  "allowed-tools": field(data, "all").means("Read, and not applied: a notice says so."),
  model: field(text(), "that of the session").means("Read, and not applied: a notice says so."),
});

export interface MarkdownCommand extends CommandContent {
  /** For whoever starts the program. */
  readonly warnings: readonly string[];
}

/** A command of the user. Only warnings for one that cannot be used. */
export function parseCommandFile(
  file: string,
  name: string,
  content: string,
): MarkdownCommand | { readonly warnings: readonly string[] } {
  const problems: Problem[] = [];
  const report = (problem: Problem): undefined => void problems.push(problem);
  const command = readCommand(name, content, { file, hash: "", tier: "project", report });
  const warnings = problems.map(({ place, message, nearest }) => {
    return `${file}:${place.line}: ${message}${nearest === undefined ? "" : ` Did you mean "${nearest}"?`}`;
  });
  return { ...command, warnings };
}

/** A command of a project, named after its path below `commands`. */
export function readProjectCommand(content: string, reader: Reader): CommandContent | undefined {
  const name = reader.file
    .replace(/^.*?\/commands\//, "")
    .replace(/\.md$/, "")
    .replaceAll("/", ":");
  if (!NAME.test(name)) {
    const message = "The path of this command cannot be typed as its name.";
    const expected = "letters, digits, dots, hyphens and underscores, at most 128";
    return reader.report(error("command-name", { file: reader.file, line: 1, column: 1 }, message, { expected }));
  }
  // Other agents have keys of their own. Only what looks like a mistake is reported.
  const report = (problem: Problem): undefined => {
    if (problem.code !== "unknown-key" || problem.nearest !== undefined) reader.report(problem);
  };
  return readCommand(name, content, { ...reader, report });
}

/** A file without frontmatter is all prompt. Undefined, with an error reported, for one that cannot be used. */
function readCommand(name: string, content: string, reader: Reader): CommandContent | undefined {
  const { file } = reader;
  const at = { file, line: 1, column: 1 };
  const whole = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const split = splitFrontmatter(whole);
  const fail = (code: string, message: string): undefined => void reader.report(error(code, at, message));
  if (split === "unclosed") return fail("frontmatter-unclosed", "The frontmatter has no end: close it with ---.");
  const yaml = split === "missing" ? "" : split.yaml;
  if (yaml.length > MAX_HEAD_CHARS) {
    return fail("too-large", `The frontmatter has more than ${MAX_HEAD_CHARS} characters.`);
  }
  const problems: Problem[] = [];
  const noted = { ...reader, report: (problem: Problem) => void problems.push(problem) };
  const tree = split === "missing" ? undefined : parseForeignHead(file, yaml, problems);
  const values = tree === undefined ? {} : readTable(commandTable, tree, noted).values;
  for (const problem of problems) reader.report(problem);
  if (problems.some(({ severity }) => severity === "error")) return undefined;
  const body = split === "missing" ? whole.trim() : split.body;
  if (body === "") return fail("empty-prompt", "The prompt of this command is empty.");
  const written = values["argument-hint"];
  // YAML reads `[file]` as a list.
  const hint = Array.isArray(written) ? ` [${written.join(", ")}]` : ` ${written ?? ""}`.trimEnd();
  const described = values.description ?? body.split("\n", 1)[0] ?? "";
  const ignored = (["allowed-tools", "model"] as const).filter((key) => values[key] !== undefined);
  return {
    name,
    description: `${described}${hint}`,
    body,
    notices: [
      ...ignored.map((key) => `${file}: ${key} is not applied; the session's own ${key} holds.`),
      ...(/!`[^`]+`/.test(body) ? [`${file}: commands in !\`…\` are not run; the model reads them as text.`] : []),
    ],
  };
}
