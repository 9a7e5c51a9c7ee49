/** The whole rule table, compiled, and the check that every row does what it says. */
import { matchDataSource, matchLoginCall } from "./argument-matcher.ts";
import { createFieldMatchers } from "./field-matcher.ts";
import {
  createCookieMatcher,
  createPasswordFlagMatcher,
  createSetCookieMatcher,
  createUserFlagMatcher,
  matchUrlPassword,
} from "./header-matcher.ts";
import { matchKeyBlock, matchKeyTail } from "./key-block-matcher.ts";
import { LOOK_COSTS } from "./look-budget.ts";
import type { Matcher } from "./probe.ts";
import type { FieldRow, RuleRow, SpecialRow } from "./rule.ts";
import { RuleError } from "./rule-error.ts";
import { cloudRules } from "./rules/cloud.ts";
import { fieldRules } from "./rules/fields.ts";
import { modelRules } from "./rules/models.ts";
import { operationsRules } from "./rules/operations.ts";
import { paymentRules } from "./rules/payments.ts";
import { serviceRules } from "./rules/services.ts";
import { sourceControlRules } from "./rules/source-control.ts";
import { webRules } from "./rules/web.ts";
import {
  createContextMatcher,
  createStretches,
  createTokenMatcher,
  type KeywordMatcher,
  type Stretches,
} from "./token-matcher.ts";

/** By family, as the reference page lists them. */
export const ruleFamilies: Readonly<Record<string, readonly RuleRow[]>> = {
  cloud: cloudRules,
  "source control": sourceControlRules,
  models: modelRules,
  payments: paymentRules,
  services: serviceRules,
  operations: operationsRules,
  web: webRules,
  fields: fieldRules,
};

/** A rule where it is tried: at its keywords, or by a pass of its own when it has none. */
export interface CompiledRule extends KeywordMatcher {
  readonly kind: string;
  /** Of two that overlap, the lower rank names the marker: what knows the token beats what knows its field. */
  readonly rank: number;
  /** Of a look, for the budget of a text; nothing for what is compared with a known value. */
  readonly cost: number;
  readonly pass?: "card" | "iban" | undefined;
  /** Of a folded form whose keyword is short: whether these may be its first characters. */
  readonly mayBegin?: (head: string) => boolean;
}

/** Names all that it touches: nobody has looked for anything else there. */
export const RANK_UNREAD = -1;
export const RANK_LITERAL = 0;
export const RANK_USER_PATTERN = 1;
const RANK_BY_PLACE = 4;
export const RANK_FIELD = 5;
const RANKS = { token: 2, context: 3, special: RANK_BY_PLACE, url: RANK_BY_PLACE, field: RANK_FIELD } as const;

/** Every row, in the order of the families. */
export function ruleRows(): readonly RuleRow[] {
  return Object.values(ruleFamilies).flat();
}

/** Throws when a row cannot be compiled. */
export function compileRules(rows: readonly RuleRow[]): readonly CompiledRule[] {
  const fields = rows.filter((row): row is FieldRow => row.type === "field");
  const fieldMatchers = new Map(createFieldMatchers(fields).map((matcher, index) => [fields[index], matcher]));
  const stretches = createStretches();
  return rows.map((row) => {
    const { keywords, match, atWordStart = false, pass } = compile(row, fieldMatchers, stretches);
    return { kind: row.kind, rank: rankOf(row), cost: LOOK_COSTS[row.type], keywords, match, atWordStart, pass };
  });
}

function rankOf(row: RuleRow): number {
  return row.type === "token" && row.byPlace ? RANK_BY_PLACE : RANKS[row.type];
}

function compile(
  row: RuleRow,
  fields: ReadonlyMap<FieldRow | undefined, KeywordMatcher>,
  stretches: Stretches,
): KeywordMatcher & Pick<CompiledRule, "pass"> {
  try {
    switch (row.type) {
      case "token":
        return createTokenMatcher(row);
      case "context":
        return createContextMatcher(row, stretches);
      case "field":
        return fields.get(row)!;
      case "url":
        return { keywords: row.schemes.map((scheme) => `${scheme}://`), match: matchUrlPassword };
      case "special":
        return row.matcher === "card" || row.matcher === "iban"
          ? { keywords: [], match: () => 0, pass: row.matcher }
          : { keywords: row.keywords, match: specialMatchers[row.matcher]() };
    }
  } catch (error) {
    throw new RuleError(`${row.kind}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Made anew for each table: some of them keep what they have seen of a line. */
const specialMatchers: Readonly<Record<Exclude<SpecialRow["matcher"], "card" | "iban">, () => Matcher>> = {
  "private-key": () => matchKeyBlock,
  "private-key-tail": () => matchKeyTail,
  cookie: createCookieMatcher,
  "set-cookie": createSetCookieMatcher,
  "user-flag": createUserFlagMatcher,
  "password-flag": createPasswordFlagMatcher,
  "login-call": () => matchLoginCall,
  "data-source": () => matchDataSource,
};
