/** What kind of change a file went through since it was acked, so that a person knows where to look. Reads text and runs nothing. */
import { type JudgedFile, splitFrontmatter } from "#artifacts";

/**
 * From the mildest to the gravest: `metadata` says something about the file and steers nothing; `prose` reaches the prompt;
 * `code-adjacent` steers what the program does; `executable` is a script, or brings one; `endpoint` says where the conversation
 * and a key go.
 */
export const changeClasses = ["metadata", "prose", "code-adjacent", "executable", "endpoint"] as const;

export type ChangeClass = (typeof changeClasses)[number];

export interface Change {
  /** The gravest of all. */
  readonly class: ChangeClass;
  /** Keys of the frontmatter that changed, and the text below it. */
  readonly parts: readonly string[];
}

const METADATA = new Set(["description", "version", "tags"]);
const EXECUTABLE = new Set(["script", "when", "condition", "tools", "hooks", "agents", "match", "not_match", "setup"]);
const ENDPOINT = new Set(["model", "models", "provider", "base_url", "api_key_env"]);
const KEY = /^([A-Za-z_][\w-]*):(?:\s|$)/;
const ANCHOR = /(?:^|[\s[{,])[&*]\S/;
/** No key has a blank in it. */
const BODY = "the text";

export function classifyChange(kind: JudgedFile["kind"], before: string, after: string): Change {
  if (kind === "context" || kind === "instructions")
    return { class: before === after ? "metadata" : "prose", parts: [BODY] };
  const [old, now] = [partsOf(before), partsOf(after)];
  if (old === undefined || now === undefined) return { class: "executable", parts: ["the whole file"] };
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const parts = names.filter((name) => old.get(name) !== now.get(name));
  const grave = parts.map((name) => changeClasses.indexOf(classOf(name)));
  return { class: changeClasses[Math.max(0, ...grave)] ?? "executable", parts };
}

function classOf(part: string): ChangeClass {
  if (part === BODY) return "prose";
  if (ENDPOINT.has(part)) return "endpoint";
  if (EXECUTABLE.has(part)) return "executable";
  return METADATA.has(part) ? "metadata" : "code-adjacent";
}

/**
 * The lines of the frontmatter by key, and the body. By lines and not by a parser of YAML: a start must not pay for one, and what
 * is not written plainly is undefined, which counts as the gravest. An anchor in one key can change another, so it is not plain.
 */
function partsOf(text: string): ReadonlyMap<string, string> | undefined {
  const head = splitFrontmatter(text);
  const { yaml, body } = typeof head === "object" ? head : { yaml: text, body: "" };
  if (ANCHOR.test(yaml)) return undefined;
  const parts = new Map<string, string>();
  let key: string | undefined;
  for (const line of yaml.split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    if (/^\S/.test(line)) {
      key = KEY.exec(line)?.[1];
      if (key === undefined || parts.has(key)) return undefined;
    }
    if (key === undefined) return undefined;
    parts.set(key, `${parts.get(key) ?? ""}${line}\n`);
  }
  return parts.set(BODY, body);
}
