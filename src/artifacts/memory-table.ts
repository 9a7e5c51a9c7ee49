/** A memory file: its frontmatter, and the text below it. The same for those of a repository and those that Harness keeps. */
import {
  defined,
  type Memory,
  type MemoryContent,
  type MemoryLabel,
  type MemoryTier,
  memoryTiers,
  memoryTypes,
  type OwnScope,
} from "#base";
import { splitFrontmatter } from "./frontmatter.ts";
import type { Problem } from "./project.ts";
import {
  choice,
  defineTable,
  error,
  type FieldType,
  field,
  list,
  type Reader,
  readTable,
  required,
  textThat,
} from "./schema.ts";
import { parseYaml } from "./yaml-tree.ts";

export const MAX_MEMORY_DESCRIPTION_CHARS = 300;
export const MAX_MEMORY_BODY_CHARS = 8_000;
const MAX_SOURCE_CHARS = 200;
const MAX_TAGS = 20;
const MAX_KEYWORDS = 30;
const MAX_KEYWORD_CHARS = 80;
const MAX_HEAD_CHARS = 8 * 1024;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const TAG = /^[\p{L}\p{N}][\p{L}\p{N}._/-]{0,39}$/u;

const line = (max: number): FieldType<string> =>
  textThat(`text of 1 to ${max} characters`, (value) => value.trim() !== "" && value.length <= max);

const day = textThat("a day such as 2026-05-01", (value) => /^\d{4}-\d\d-\d\d/.test(value));

export const memoryTable = defineTable(
  "Memory",
  "The frontmatter of a memory, `TIER/NAME.md` below `.harness/memory` or in the folder that Harness keeps. The body is what the model reads.",
).of({
  description: required(line(MAX_MEMORY_DESCRIPTION_CHARS)).means(
    "What the memory is about, on one line. Harness compares it with the input of each turn.",
  ),
  type: field(choice(...memoryTypes), "`project`").means(
    "`user`: about the person. `feedback`: how they want work to be done. `project`: a fact about the project. `reference`: where to find something.",
  ),
  tags: field(
    list(
      textThat("tag", (value) => TAG.test(value)),
      { max: MAX_TAGS },
    ),
    "none",
  ).means("Words that lead to this memory when an input contains them."),
  keywords: field(list(line(MAX_KEYWORD_CHARS), { max: MAX_KEYWORDS }), "none").means(
    "Other words and short phrases for the same thing: synonyms, symptoms, error messages. Harness compares them with the input; the model does not read them.",
  ),
  source: field(line(MAX_SOURCE_CHARS), "the file").means("Who wrote the memory."),
  labels: field(list(choice("private", "untrusted"), { max: 2 }), "none").means(
    "The [labels](permissions.md#labels) that a session holds once it has read the memory.",
  ),
  updated: field(day, "none").means("The day of the last change. Harness writes it."),
});

/** One of a repository: `.harness/memory/TIER/NAME.md`. */
export function readRepositoryMemory(source: string, reader: Reader): Memory | undefined {
  const [tier = "", file = ""] = reader.file.split("/").slice(-2);
  const name = file.replace(/\.md$/, "");
  const at = { file: reader.file, line: 1, column: 1 };
  if (!isMemoryTier(tier) || !isMemoryName(name)) {
    const message = "The name of this memory cannot be used.";
    return reader.report(
      error("memory-name", at, message, { expected: "lower-case letters, digits and hyphens, at most 64" }),
    );
  }
  const content = readMemory(source, reader);
  return content && { name, scope: "repository", tier, ...content };
}

export function isMemoryName(name: string): boolean {
  return NAME.test(name);
}

function isMemoryTier(tier: string): tier is MemoryTier {
  return memoryTiers.some((known) => known === tier);
}

function readMemory(source: string, reader: Reader): MemoryContent | undefined {
  const at = { file: reader.file, line: 1, column: 1 };
  const head = splitFrontmatter(source);
  if (typeof head === "string") {
    const what = head === "missing" ? "does not begin with frontmatter" : "has frontmatter that is not closed";
    return reader.report(error(`frontmatter-${head}`, at, `The memory ${what}.`, { expected: "---" }));
  }
  const { yaml, body } = head;
  if (yaml.length > MAX_HEAD_CHARS || body.length > MAX_MEMORY_BODY_CHARS) {
    const message = `The memory is too large: at most ${MAX_HEAD_CHARS} characters of frontmatter and ${MAX_MEMORY_BODY_CHARS} of text.`;
    return reader.report(error("too-large", at, message));
  }
  const problems: Problem[] = [];
  const tree = parseYaml(reader.file, yaml, problems);
  for (const problem of problems) reader.report(problem);
  if (tree === undefined) return undefined;
  const { values } = readTable(memoryTable, { ...tree, place: at }, reader);
  if (values.description === undefined) return undefined;
  const { type = "project", tags = [], keywords, source: written = reader.file, labels = [], updated } = values;
  const description = oneLine(values.description);
  const content = { description, type, tags, source: oneLine(written), labels: [...new Set(labels)], body };
  return { ...content, ...defined({ keywords: keywords?.map(oneLine), updated: updated?.slice(0, 10) }) };
}

/** One that Harness keeps, and what is wrong with it. */
export function readKeptMemory(
  { scope, tier, name, file }: { scope: OwnScope; tier: MemoryTier; name: string; file: string },
  source: string,
): { readonly memory?: Memory; readonly problem?: string } {
  const problems: Problem[] = [];
  const report = (problem: Problem): undefined => void problems.push(problem);
  const content = readMemory(normal(source), { file, hash: "", tier: "project", report });
  const wrong = problems.find(({ severity }) => severity === "error");
  if (wrong !== undefined || content === undefined) {
    return { problem: `${file}:${wrong?.place.line ?? 1}: ${wrong?.message ?? "It cannot be read."}` };
  }
  return { memory: { name, scope, tier, ...content } };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** As the loader of a project hands texts to its readers. */
function normal(source: string): string {
  return source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
}

/** As `readKeptMemory` reads it. */
export function memoryFileText(content: MemoryContent): string {
  const { description, type, tags, keywords = [], source, labels, updated, body } = content;
  const fields: readonly (readonly [string, unknown])[] = [
    ["description", description],
    ["type", type],
    ["tags", tags],
    ...(keywords.length === 0 ? [] : ([["keywords", keywords]] as const)),
    ["source", source],
    ...(labels.length === 0 ? [] : ([["labels", labels satisfies readonly MemoryLabel[]]] as const)),
    ...(updated === undefined ? [] : ([["updated", updated]] as const)),
  ];
  // JSON is YAML, and no value can be taken for anything else.
  const head = fields.map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `---\n${head.join("\n")}\n---\n\n${body.trim()}\n`;
}
