/**
 * The one implementation that everything passes which is stored, shown or sent: replaces secrets by `«redacted:KIND»`. The same
 * text always gives the same result, and redacting a result again changes nothing. It fails closed: where it cannot do its
 * work it throws `RedactionFailed`, and no text comes out.
 */
import { canonicalHash, type SecretFingerprint } from "#base";
import { charSet, codeAt, has } from "./char-set.ts";
import { failClosed } from "./fail-closed.ts";
import { createJsonWalk, type RedactedText } from "./json-walk.ts";
import { compileFingerprint, compileLiterals, type KnownRules, LITERAL_KIND, type LiteralSecret } from "./literals.ts";
import { UNREAD_KIND } from "./look-budget.ts";
import { countMarkers, findMarkers, outsideMarkers, replaceFindings } from "./marker.ts";
import type { RewrittenView } from "./rewritten-view.ts";
import type { RuleRow } from "./rule.ts";
import { RuleError } from "./rule-error.ts";
import { compileRules, ruleRows } from "./rule-table.ts";
import {
  createScanner,
  type Finding,
  indexFolded,
  indexRules,
  mergeFindings,
  type RuleIndex,
  type Scanner,
  type ScannerRules,
} from "./scanner.ts";
import { createTextStream, type StreamRedactor } from "./stream-redactor.ts";
import { unescapedView } from "./unescaped-view.ts";
import { USER_MATCH_MAX_CHARS, type UserPatterns } from "./user-patterns.ts";

export interface RedactorOptions {
  /** Values that are secrets whatever they look like. */
  readonly literals?: readonly LiteralSecret[];
  /** Made by `compileUserPatterns`. */
  readonly userPatterns?: UserPatterns;
  readonly policy?: RedactionPolicy;
}

export interface RedactionPolicy {
  /** Kinds of the built-in table that are not looked for. */
  readonly disabledKinds?: readonly string[];
}

/** How many of each kind; never a value. */
export type RedactionCounts = Readonly<Record<string, number>>;

export interface RedactionStatus {
  /** Changes with the rule table, the policy and the user patterns, not with the literals. */
  readonly policy_version: string;
  /** Since the redactor was made. */
  readonly redacted_count: number;
  readonly counts: RedactionCounts;
  readonly literals: { readonly active: number; readonly skipped: number };
}

export interface RedactionFinding {
  readonly kind: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

export interface Redactor {
  /** Throws `RedactionFailed`. */
  redact(text: string): { readonly text: string; readonly counts: RedactionCounts };
  /**
   * The same for a JSON value: every string and key, and whole values of fields with a telling name. Gives the same object back
   * when there was nothing to redact. Throws `RedactionFailed`.
   */
  redactJson<T>(value: T): { readonly value: T; readonly counts: RedactionCounts };
  /** What would be redacted and where; counts nothing. Throws `RedactionFailed`. */
  explain(text: string): readonly RedactionFinding[];
  /** For text that arrives in pieces. */
  createStreamRedactor(): StreamRedactor;
  /** From now on a secret is found that only its fingerprint is known of. Throws `RedactionFailed`. */
  learn(fingerprint: SecretFingerprint): void;
  /** Adds the markers of a text to `counts`, by kind. Throws nothing. */
  countMarkers(text: string, counts: Map<string, number>): void;
  status(): RedactionStatus;
}

/**
 * Where a secret touches other text, that can be told for what it is only when its neighbour is gone: the text is then looked at
 * again, until nothing is found. Two passes are enough for all but made-up text.
 */
const MAX_PASSES = 4;
/** A longer text is looked at once: made to touch all over, it would cost as many times as much. */
const REPEATED_MAX_CHARS = 65_536;
const MAX_STRING_DEPTH = 3;
/** Changes when the same rules would find something else. */
const ENGINE_VERSION = 6;
const VERSION_CHARS = 16;
/** A helper that is started again tells its keys again; the latest count. */
const MAX_LEARNED = 256;

/** Throws `RedactionFailed` when the table or a user pattern is wrong. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  return failClosed(() => {
    const { literals = [], policy = {} } = options;
    const userPatterns = options.userPatterns?.patterns ?? [];
    const { rows, index } = tableWithout(policy.disabledKinds ?? []);
    const known = compileLiterals(literals);
    const kinds = new Set([
      ...[...index.rules, ...known.exact].map(({ kind }) => kind),
      ...userPatterns.map(({ kind }) => kind),
      LITERAL_KIND,
      UNREAD_KIND,
    ]);
    const scanned: ScannerRules = { ...indexKnown([known]), table: index };
    let learned: KnownRules[] = [];
    const scan = withUserPatterns(createScanner(scanned, kinds), options.userPatterns, kinds);
    let policyVersion: string | undefined;
    const totals = new Map<string, number>();

    const find = (text: string): Finding[] => {
      const { findings } = scan(text, 0, true);
      if (text.length <= REPEATED_MAX_CHARS) addEscaped(scan, text, findings);
      return mergeFindings(findings);
    };
    const newWalk = () => createJsonWalk(rows, find, (text) => redactText(text, find), kinds);
    let walkJson = newWalk();
    const tally = (kinds: readonly string[]): RedactionCounts => {
      const counts = new Map<string, number>();
      for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      for (const [kind, count] of counts) totals.set(kind, (totals.get(kind) ?? 0) + count);
      return Object.fromEntries(counts);
    };
    return {
      redact: (text) =>
        failClosed(() => {
          const redacted = redactText(text, find);
          return { text: redacted.text, counts: tally(redacted.kinds) };
        }),
      redactJson: (given) =>
        failClosed(() => {
          const { value, kinds } = walkJson(given);
          return { value, counts: tally(kinds) };
        }),
      explain: (text) => failClosed(() => places(text, find(text))),
      createStreamRedactor() {
        const stream = createTextStream(scan, tally);
        return {
          push: (chunk) => failClosed(() => stream.push(chunk)),
          settle: () => failClosed(() => stream.settle()),
          flush: () => failClosed(() => stream.flush()),
          get heldChars() {
            return stream.heldChars;
          },
        };
      },
      learn: (fingerprint) =>
        failClosed(() => {
          learned = [...learned, compileFingerprint(fingerprint)].slice(-MAX_LEARNED);
          // All known secrets in one pass, whatever their number.
          Object.assign(scanned, indexKnown([known, ...learned]));
          walkJson = newWalk();
        }),
      countMarkers: (text, counts) => countMarkers(text, kinds, counts),
      status() {
        // The disabled kinds are told by the rows.
        policyVersion ??= canonicalHash({ engine: ENGINE_VERSION, rows, userPatterns }).slice(0, VERSION_CHARS);
        return {
          policy_version: policyVersion,
          redacted_count: [...totals.values()].reduce((sum, count) => sum + count, 0),
          counts: Object.fromEntries([...totals].sort()),
          literals: { active: known.active + learned.length, skipped: known.skipped },
        };
      },
    };
  });
}

function indexKnown(known: readonly KnownRules[]): Pick<ScannerRules, "known" | "short" | "folded"> {
  const exact = known.flatMap((rules) => rules.exact);
  const short = known.flatMap((rules) => rules.short);
  const folded = known.flatMap((rules) => rules.folded);
  return {
    known: exact.length === 0 ? undefined : indexRules(exact),
    short: short.length === 0 ? undefined : indexRules(short),
    folded: folded.length === 0 ? undefined : indexFolded(folded),
  };
}

/** What is in the strings of a text, and in the strings of those. */
function addEscaped(scan: Scanner, text: string, findings: Finding[]): void {
  const views: RewrittenView[] = [];
  for (let inner = text; views.length < MAX_STRING_DEPTH; ) {
    const view = unescapedView(inner);
    if (view === undefined) return;
    views.push(view);
    inner = view.text;
    const place = (at: number): number => views.reduceRight((here, { place }) => place(here), at);
    for (const { from, to, kind, rank } of scan(inner, 0, true).findings) {
      findings.push({ from: place(from), to: place(to), kind, rank, run: undefined });
    }
  }
}

function redactText(text: string, find: (text: string) => readonly Finding[]): RedactedText {
  const kinds: string[] = [];
  let before = text;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const findings = find(before);
    if (findings.length === 0) break;
    for (const { kind } of findings) kinds.push(kind);
    const after = replaceFindings(before, findings);
    const isDone =
      before.length > REPEATED_MAX_CHARS || !findings.some(({ from, to }) => touchesText(before, from, to));
    before = after;
    if (isDone) break;
  }
  return { text: before, kinds };
}

interface RuleTable {
  readonly rows: readonly RuleRow[];
  readonly index: RuleIndex;
}

/** The table as it ships is compiled once in a process. */
let wholeTable: RuleTable | undefined;

function tableWithout(disabledKinds: readonly string[]): RuleTable {
  if (disabledKinds.length > 0) return compileTable(enabledRows(disabledKinds));
  wholeTable ??= compileTable(ruleRows());
  return wholeTable;
}

function compileTable(rows: readonly RuleRow[]): RuleTable {
  return { rows, index: indexRules(compileRules(rows)) };
}

function enabledRows(disabledKinds: readonly string[]): readonly RuleRow[] {
  const rows = ruleRows();
  const unknown = disabledKinds.filter((kind) => !rows.some((row) => row.kind === kind));
  if (unknown.length > 0) throw new RuleError(`there is no rule of the kind ${unknown.join(", ")}`);
  return rows.filter(({ kind }) => !disabledKinds.includes(kind));
}

function withUserPatterns(scan: Scanner, user: UserPatterns | undefined, kinds: ReadonlySet<string>): Scanner {
  if (user === undefined) return scan;
  return (text, from, final, known) => {
    const { findings, settled, again, safe } = scan(text, from, final, known);
    const ofUser = outsideMarkers(user.find(text, from), findMarkers(text, from, kinds));
    for (const finding of ofUser) findings.push(finding);
    // A match of a user's pattern may still grow or begin in the last characters.
    const grows = final ? settled : Math.max(from, text.length - USER_MATCH_MAX_CHARS);
    return { findings, settled: Math.min(settled, grows), again: Math.min(again, grows), safe };
  };
}

const OPENS_VALUE = charSet("\\s\"'`>(){}[\\],;|&\\\\");
const VALUE = charSet("A-Za-z0-9+/=_-");
const NAME_MAX_CHARS = 24;

/** Whether what is in front of a secret may be more than its name, or goes on right behind it. */
function touchesText(text: string, from: number, to: number): boolean {
  if (has(VALUE, codeAt(text, to))) return true;
  if (from === 0) return false;
  const before = codeAt(text, from - 1);
  if (has(OPENS_VALUE, before)) return false;
  if (before !== 61) return true;
  const least = Math.max(0, from - 1 - NAME_MAX_CHARS);
  let start = from - 1;
  while (start > least && has(VALUE, text.charCodeAt(start - 1))) start -= 1;
  return start === least && least > 0;
}

function places(text: string, findings: readonly Finding[]): RedactionFinding[] {
  let line = 1;
  let lineStart = 0;
  // Asked for once a line: a long one may hold many.
  let next = text.indexOf("\n");
  return findings.map(({ from, kind }) => {
    for (; next >= 0 && next < from; next = text.indexOf("\n", lineStart)) {
      line += 1;
      lineStart = next + 1;
    }
    return { kind, line, column: from - lineStart + 1 };
  });
}
