/** `tools_policy`: which tools exist for an agent at all. Deny always beats allow, and every policy has to agree. */
import { globCovers, globFault, globMatches } from "./name-glob.ts";
import type { PolicyPattern, SourceLocation, Tier, ToolsPolicy } from "./project.ts";
import {
  choice,
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
  warning,
  words,
} from "./schema.ts";
import type { Tree } from "./yaml-tree.ts";

const MAX_PATTERNS = 500;
const MAX_EXAMPLES = 100;

export type ToolVisibility =
  | { readonly allowed: true }
  /** `source`: `file:line` of the entry, or of the policy when no entry fits. */
  | { readonly allowed: false; readonly why: string; readonly source: string; readonly byAdmin: boolean };

/** The decision over all tiers: the first policy that does not allow the name decides. */
export function toolVisible(
  policies: readonly { readonly tier: Tier; readonly policy: ToolsPolicy }[],
  name: string,
): ToolVisibility {
  for (const { tier, policy } of policies) {
    const byAdmin = tier === "admin";
    const about = { allowed: false, byAdmin } as const;
    const owner = byAdmin ? "the admin policy" : "tools_policy";
    const denied = policy.deny.find(({ pattern }) => globMatches(pattern, name));
    if (denied !== undefined) {
      return { ...about, why: `${owner} denies "${denied.pattern}"`, source: sourceOf(denied.place) };
    }
    if (policy.mode === "denylist" || policy.allow.some(({ pattern }) => globMatches(pattern, name))) continue;
    const place = policy.place ?? policy.allow[0]?.place;
    const source = place === undefined ? "tools_policy" : sourceOf(place);
    return { ...about, why: `${owner} is an allowlist and has no entry for it`, source };
  }
  return { allowed: true };
}

/** An entry with the promises beside it. */
interface Entry extends PolicyPattern {
  readonly match: readonly { readonly name: string; readonly place: SourceLocation }[];
  readonly notMatch: readonly { readonly name: string; readonly place: SourceLocation }[];
}

const exampleName: FieldType<{ readonly name: string; readonly place: SourceLocation }> = {
  shown: "a tool name",
  read(tree, reader) {
    const name = words("a tool name").read(tree, reader);
    return name === undefined ? undefined : { name, place: tree.place };
  },
};

export const patternTable = defineTable(
  "Pattern with examples",
  "An entry of `allow` or `deny` with example tool names. If an example does not hold, the policy does not load.",
).of({
  pattern: required(words("a pattern")).means("A pattern for tool names, with the wildcards `*`, `?` and `[a-z]`."),
  match: field(list(exampleName, { max: MAX_EXAMPLES })).means("Names that the entry matches and takes effect on."),
  not_match: field(list(exampleName, { max: MAX_EXAMPLES })).means("Names that the entry does not match."),
});

const entry = forms<Entry>("a pattern", [patternTable], (tree) => {
  if (tree.kind === "scalar" && typeof tree.value === "string") return readPattern;
  return tree.kind === "map" ? readEntry : undefined;
});

function readPattern(tree: Tree, reader: Reader): Entry | undefined {
  const pattern = tree.kind === "scalar" ? String(tree.value) : "";
  const fault = globFault(pattern);
  if (fault === undefined) return { pattern, place: tree.place, match: [], notMatch: [] };
  return reader.report(error("bad-pattern", tree.place, `"${pattern}" is not a valid pattern: ${fault}.`));
}

function readEntry(tree: Tree, reader: Reader): Entry | undefined {
  if (tree.kind !== "map") return undefined;
  const { values } = readTable(patternTable, tree, reader);
  const written = tree.entries.find(({ key }) => key === "pattern");
  if (written === undefined || values.pattern === undefined) return undefined;
  const pattern = readPattern(written.value, reader);
  return pattern && { ...pattern, match: values.match ?? [], notMatch: values.not_match ?? [] };
}

export const toolsPolicyTable = defineTable(
  "Tools policy",
  "Which tools the agent has. The model does not see a denied tool, and Harness refuses a call to it. Deny always takes precedence over allow, even if the deny entry is a wildcard.",
).of({
  mode: field(choice("allowlist", "denylist"), "`allowlist` when `allow` has entries, else `denylist`").means(
    "`allowlist`: only the tools in `allow`. `denylist`: all tools that are not in `deny`.",
  ),
  allow: field(list(entry, { max: MAX_PATTERNS })).means("Tools that the agent may call."),
  deny: field(list(entry, { max: MAX_PATTERNS })).means(
    "Tools that the agent may not call, even if `allow` lists them.",
  ),
});

export const toolsPolicyType = nested(toolsPolicyTable, ({ values, place }, reader): ToolsPolicy => {
  const allow = values.allow ?? [];
  const deny = values.deny ?? [];
  const mode = values.mode ?? (allow.length > 0 ? "allowlist" : "denylist");
  for (const one of allow) checkAllow(one, mode, deny, reader);
  for (const one of [...allow, ...deny]) checkExamples(one, reader);
  const plain = ({ pattern, place: at }: Entry): PolicyPattern => ({ pattern, place: at });
  return { mode, allow: allow.map(plain), deny: deny.map(plain), place };
});

function checkAllow(one: Entry, mode: ToolsPolicy["mode"], deny: readonly Entry[], reader: Reader): void {
  const over = deny.find(({ pattern }) => globCovers(pattern, one.pattern));
  if (over !== undefined) {
    const message = `"${one.pattern}" is never allowed: the deny entry "${over.pattern}" on line ${over.place.line} takes precedence.`;
    reader.report(warning("shadowed-allow", one.place, message));
  } else if (mode === "denylist") {
    const message = `"${one.pattern}" has no effect: a denylist allows everything that it does not deny.`;
    reader.report(warning("idle-allow", one.place, message));
  }
  for (const { name, place } of one.match) {
    const beaten = deny.find(({ pattern }) => globMatches(pattern, name));
    if (beaten === undefined) continue;
    const message = `"${one.pattern}" should allow "${name}", but the deny entry "${beaten.pattern}" takes precedence.`;
    reader.report(error("example-fails", place, message));
  }
}

function checkExamples({ pattern, match, notMatch }: Entry, reader: Reader): void {
  for (const { name, place } of match) {
    if (globMatches(pattern, name)) continue;
    reader.report(
      error("example-fails", place, `"${pattern}" does not match "${name}", but its example says that it does.`),
    );
  }
  for (const { name, place } of notMatch) {
    if (!globMatches(pattern, name)) continue;
    reader.report(
      error("example-fails", place, `"${pattern}" matches "${name}", but its example says that it does not.`),
    );
  }
}

function sourceOf({ file, line }: SourceLocation): string {
  return `${file}:${line}`;
}
