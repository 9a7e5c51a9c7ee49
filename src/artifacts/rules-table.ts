/** `permissions` and `network`: rules that are written here and decided elsewhere. */
import { defined } from "#base";
import type { NetworkConfig, PermissionExample, PolicyPattern } from "./project.ts";
import {
  defineTable,
  error,
  type FieldType,
  field,
  flag,
  forms,
  list,
  nested,
  type Placed,
  placed,
  type Reader,
  readTable,
  required,
  words,
} from "./schema.ts";
import type { LabelRule, PermissionRule } from "./settings.ts";
import type { Tree } from "./yaml-tree.ts";

const MAX_RULES = 1000;
const MAX_EXAMPLES = 100;
const MAX_DOMAINS = 1000;
/** `*`, or a name or address, which may begin with `*.`; no scheme, port or path. */
const DOMAIN = /^(?:\*|(?:\*\.)?[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?|\[?[0-9a-f:.]*:[0-9a-f:.]*\]?)$/iu;

interface WrittenRule {
  readonly rule: string;
  readonly line: number;
  readonly match: readonly Placed<string>[];
  readonly notMatch: readonly Placed<string>[];
}

export const ruleTable = defineTable(
  "Rule with examples",
  "A permission rule with example calls. Harness checks the examples when it loads the project.",
).of({
  rule: required(words("a permission rule")).means("The rule: see [permissions.md](permissions.md)."),
  match: field(list(placed(words("a call")), { max: MAX_EXAMPLES })).means(
    "Calls that the rule applies to: `Bash(git push)`, or a tool name.",
  ),
  not_match: field(list(placed(words("a call")), { max: MAX_EXAMPLES })).means(
    "Calls that the rule does not apply to.",
  ),
});

const rule = forms<WrittenRule>("a permission rule", [ruleTable], (tree) => {
  if (tree.kind === "map") return readRule;
  return tree.kind === "scalar" && typeof tree.value === "string" && tree.value.trim() !== ""
    ? readPlainRule
    : undefined;
});

function readPlainRule(tree: Tree): WrittenRule {
  return { rule: tree.kind === "scalar" ? String(tree.value) : "", line: tree.place.line, match: [], notMatch: [] };
}

function readRule(tree: Tree, reader: Reader): WrittenRule | undefined {
  if (tree.kind !== "map") return undefined;
  const { values, at } = readTable(ruleTable, tree, reader);
  if (values.rule === undefined) return undefined;
  return { rule: values.rule, line: at("rule").line, match: values.match ?? [], notMatch: values.not_match ?? [] };
}

const rules = list(rule, { max: MAX_RULES });
const labelled = list(placed(words("a permission rule")), { max: MAX_RULES });

export const permissionsTable = defineTable(
  "Permissions",
  "Which calls run, which ask for approval and which are refused: see [permissions.md](permissions.md). Deny takes precedence over ask, and ask over allow.",
).of({
  allow: field(rules).means("Calls that run without asking."),
  ask: field(rules).means("Calls that need a person's approval."),
  deny: field(rules).means("Calls that Harness refuses."),
  private: field(labelled).means("Calls whose results get the [label](permissions.md#labels) `private`."),
  untrusted: field(labelled).means(
    "Calls whose results get the [label](permissions.md#labels) `untrusted`, because they come from outside.",
  ),
  strict: field(flag, "`false`").means(
    "If true, every call that no rule allows asks for approval. The [quiet preset](permissions.md#the-quiet-preset) is off.",
  ),
});

export interface WrittenPermissions {
  readonly rules: readonly PermissionRule[];
  readonly examples: readonly PermissionExample[];
  readonly labels: readonly LabelRule[];
  readonly strict?: boolean;
}

export const permissionsType: FieldType<WrittenPermissions> = nested(permissionsTable, ({ values }, reader) => {
  const effects = ["allow", "ask", "deny"] as const;
  const written = effects.flatMap((effect) => (values[effect] ?? []).map((one) => ({ effect, ...one })));
  return {
    rules: written.map(({ effect, rule: text, line }) => ({ effect, rule: text, source: `${reader.file}:${line}` })),
    examples: written.flatMap(({ effect, rule: text, match, notMatch }) => {
      const toExample = (matches: boolean) => (one: Placed<string>) => {
        return { effect, rule: text, example: one.value, matches, place: one.place };
      };
      return [...match.map(toExample(true)), ...notMatch.map(toExample(false))];
    }),
    labels: (["private", "untrusted"] as const).flatMap((label) =>
      (values[label] ?? []).map(({ value, place }) => ({ label, rule: value, source: `${place.file}:${place.line}` })),
    ),
    ...defined({ strict: values.strict }),
  };
});

const domain: FieldType<PolicyPattern> = {
  shown: "a host name",
  read(tree, reader) {
    const pattern = words(this.shown).read(tree, reader);
    if (pattern === undefined) return undefined;
    if (DOMAIN.test(pattern)) return { pattern, place: tree.place };
    const expected = "`example.com`, `*.example.com` or `*`, without scheme, port and path";
    return reader.report(
      error("bad-pattern", tree.place, `"${pattern.slice(0, 100)}" is not a host name.`, { expected }),
    );
  },
};

export const networkTable = defineTable(
  "Network",
  "Which hosts scripts and `web.fetch` may connect to. Without this table they may connect to any public host.",
).of({
  allowed_domains: field(list(domain, { max: MAX_DOMAINS }), "none").means(
    "`example.com` allows the host and its subdomains, `*.example.com` only the subdomains, `*` any host. An empty list allows no host.",
  ),
});

export const networkType: FieldType<NetworkConfig> = nested(networkTable, ({ values }) => ({
  allowedDomains: values.allowed_domains ?? [],
}));
