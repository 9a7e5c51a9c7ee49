/** One look at a text with all rules: what was found, and from where on it is too early to say. */

import { HEAD_CHARS } from "#base";
import { type FoldedView, foldedHead, foldedViews } from "./folded-view.ts";
import { createKeywordScan, type KeywordScan } from "./keyword-scan.ts";
import { createLookBudget, FIND_COST, NO_BUDGET, UNREAD_KIND, withheldFrom } from "./look-budget.ts";
import { findMarkers, firstBehind, type MarkerRange, outsideMarkers } from "./marker.ts";
import { ownCopy } from "./own-copy.ts";
import { scanPayments } from "./payment-scan.ts";
import { ARMED, FOUND, isInWord, NOTHING, type OpenRun, type Probe } from "./probe.ts";
import type { RewrittenView } from "./rewritten-view.ts";
import { RuleError } from "./rule-error.ts";
import { type CompiledRule, RANK_FIELD, RANK_UNREAD } from "./rule-table.ts";
import { terminalView } from "./terminal-view.ts";

export interface Finding {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
  readonly rank: number;
  /** How it goes on when the text ends in it. */
  readonly run: OpenRun | undefined;
}

export interface Scan {
  /** As the rules found them: in no order, and they may overlap. Outside of markers. */
  readonly findings: Finding[];
  /** Everything before it is decided. The length of the text when `final`. */
  readonly settled: number;
  /** From here on the next look begins. At most `settled`: a folded form that has only just begun holds nothing back. */
  readonly again: number;
  /** Everything before it holds no part of a secret that has begun to show. At least `settled`. */
  readonly safe: number;
}

/**
 * `from`: what is before it was looked at; the rules may look back at it. `known`: the last of what was found there, if that
 * reaches behind `from`.
 */
export type Scanner = (text: string, from: number, final: boolean, known?: Finding) => Scan;

/** Rules with all their keywords as one table; made once for as many scanners as there are. */
export interface RuleIndex {
  readonly rules: readonly CompiledRule[];
  readonly keywords: readonly string[];
  readonly scan: KeywordScan["scan"];
  /** By the number of a keyword. */
  readonly owners: readonly (readonly CompiledRule[])[];
}

export function indexRules(rules: readonly CompiledRule[]): RuleIndex {
  const owners: CompiledRule[][] = [];
  const numbers = new Map<string, number>();
  const keywords: string[] = [];
  for (const rule of rules) {
    for (const keyword of rule.keywords) {
      const key = keyword.replace(/[A-Z]/g, (char) => char.toLowerCase());
      let number = numbers.get(key);
      if (number === undefined) {
        number = keywords.length;
        numbers.set(key, number);
        keywords.push(key);
        owners.push([]);
      }
      if (!owners[number]!.includes(rule)) owners[number]!.push(rule);
    }
  }
  return { rules, keywords, scan: createKeywordScan(keywords).scan, owners };
}

/** Rules for folded views. */
export interface FoldedIndex extends RuleIndex {
  /** Finds keywords in a text that is not folded; of what it tells, only where they end is right. */
  readonly scanApart: KeywordScan["scan"];
}

export function indexFolded(rules: readonly CompiledRule[]): FoldedIndex {
  const index = indexRules(rules);
  return { ...index, scanApart: createKeywordScan(index.keywords, true).scan };
}

/** Counts the texts of all scanners: rules remember what they have learned about the last. */
let generation = 0;

/** What a scanner looks for. What is learned later is put in place here. */
export interface ScannerRules {
  /** Known secrets, where there are any. */
  known: RuleIndex | undefined;
  /** Those of them that folded views may not show. */
  short: RuleIndex | undefined;
  /** The same for what dumps and folds make of them. */
  folded: FoldedIndex | undefined;
  readonly table: RuleIndex;
}

/** `kinds`: those that markers can have. */
export function createScanner(rules: ScannerRules, kinds: ReadonlySet<string>): Scanner {
  const card = rules.table.rules.find(({ pass }) => pass === "card");
  const iban = rules.table.rules.find(({ pass }) => pass === "iban");

  return (given, from, final, known) => {
    generation += 1;
    const text = ownCopy(given);
    const end = text.length;
    const probe: Probe = { text, end, final, generation, from: 0, to: 0, run: undefined };
    const findings: Finding[] = [];
    let settled = end;
    let again = end;
    let safe = end;
    /** The end of the findings so far, and where the last of them that reached it begins. */
    let coveredFrom = 0;
    let coveredTo = 0;
    let coveredRank = 0;
    const add = ({ kind, rank }: CompiledRule, start: number, to: number, run?: OpenRun): void => {
      findings.push({ from: start, to, kind, rank, run });
      if (to <= coveredTo) return;
      budget.cover(start, to);
      coveredFrom = start;
      coveredTo = to;
      coveredRank = rank;
    };
    const markers = findMarkers(text, from, kinds);
    let partial = 0;
    let budget = NO_BUDGET;
    /** Up to here the text is read. A stream comes in pieces, each of which is short enough to be read. */
    let readTo = end;
    /** What is tried right now, so that its failure can be named. */
    let tried: CompiledRule | undefined;
    const look = ({ scan, owners }: RuleIndex): void => {
      // Each has its own: what was spent on known secrets all over the text is not missing at its beginning.
      if (final) budget = createLookBudget(from, markers);
      coveredFrom = known?.from ?? 0;
      coveredTo = known?.to ?? 0;
      coveredRank = known?.rank ?? 0;
      const begun = scan(text, from, (keyword, at, after) => {
        if (at >= readTo || (markers.length > 0 && isInMarker(markers, at))) return;
        if (budget.isOver(at)) {
          readTo = at;
          return;
        }
        const tries = owners[keyword]!;
        const isInside = after <= coveredTo;
        const inWord = isInWord(text, at);
        for (let index = 0; index < tries.length; index++) {
          const rule = tries[index]!;
          if (inWord && rule.atWordStart) continue;
          // What a rule that knows no more would find inside of what was found already goes with it.
          if (isInside && rule.rank >= coveredRank) {
            if (at > coveredFrom || (at === coveredFrom && rule.rank === RANK_FIELD)) continue;
          }
          tried = rule;
          budget.cost += rule.cost;
          probe.from = at;
          const verdict = rule.match(probe, at, after);
          if (verdict === NOTHING) continue;
          if (verdict === FOUND) {
            // What two rules find at one place is replaced once.
            if (probe.from !== coveredFrom || coveredTo === 0) budget.cost += FIND_COST;
            add(rule, probe.from, probe.to, probe.run);
            continue;
          }
          settled = Math.min(settled, probe.from);
          if (verdict === ARMED) safe = Math.min(safe, probe.from);
        }
      });
      partial = Math.max(partial, begun);
    };
    const lookIn = ({ scan, owners }: RuleIndex, view: FoldedView): void => {
      const inView: Probe = { ...probe, text: view.text, end: view.text.length };
      const begun = scan(view.text, view.from ?? 0, (keyword, at, after) => {
        for (const rule of owners[keyword]!) {
          tried = rule;
          inView.from = at;
          const verdict = rule.match(inView, at, after);
          if (verdict === NOTHING) continue;
          const start = view.place(inView.from);
          if (verdict === FOUND) {
            add(rule, start, view.place(inView.to - 1) + 1);
            continue;
          }
          settled = Math.min(settled, start);
          safe = Math.min(safe, start);
        }
      });
      if (begun === 0) return;
      const start = view.place(inView.end - begun);
      again = Math.min(again, start);
      if (begun >= FOLDED_HELD_CHARS) settled = Math.min(settled, start);
    };
    const lookFolded = (folded: FoldedIndex): void => {
      const columnsOnly = final && !mayHoldFolded(folded, text, from);
      for (const view of foldedViews(text, from, final, columnsOnly)) lookIn(folded, view);
    };
    /** What a terminal would not show stands in the middle of a known secret. */
    const lookShown = (shown: RewrittenView): void => {
      const shownFrom = shown.viewed(from);
      if (rules.short !== undefined) lookIn(rules.short, { text: shown.text, place: shown.place, from: shownFrom });
      if (rules.folded === undefined) return;
      for (const view of foldedViews(shown.text, shownFrom, final, false)) {
        lookIn(rules.folded, { text: view.text, place: (at) => shown.place(view.place(at)) });
      }
    };
    try {
      if (rules.known !== undefined) look(rules.known);
      if (rules.folded !== undefined) lookFolded(rules.folded);
      const shown = rules.known === undefined ? undefined : terminalView(text);
      if (shown !== undefined) lookShown(shown);
      look(rules.table);
    } catch (error) {
      throw new RuleError(`the rule ${tried?.kind} failed`, { cause: error });
    }
    if (card !== undefined || iban !== undefined) {
      const pending = scanPayments(text, from, final, {
        card: (start, to) => card !== undefined && add(card, start, to),
        iban: (start, to) => iban !== undefined && add(iban, start, to),
      });
      if (pending >= 0) {
        settled = Math.min(settled, pending);
        if (end - pending >= ARMED_DIGITS) safe = Math.min(safe, pending);
      }
    }
    if (readTo < end) {
      const start = withheldFrom(text, from, readTo);
      findings.push({ from: start, to: end, kind: UNREAD_KIND, rank: RANK_UNREAD, run: undefined });
    }
    const outside = outsideMarkers(findings, markers);
    if (final) return { findings: outside, settled: end, again: end, safe: end };
    settled = Math.min(settled, end - partial);
    return { findings: outside, settled, again: Math.min(again, settled), safe };
  };
}

/** Whether a folded form may begin in the text. Most texts hold none, and need no view to say so. */
function mayHoldFolded({ scanApart, owners }: FoldedIndex, text: string, from: number): boolean {
  let mayHold = false;
  let hits = 0;
  scanApart(text, from, (keyword, _, after) => {
    hits += 1;
    if (hits > MAX_HEADS) mayHold = true;
    if (mayHold) return;
    const rules = owners[keyword]!;
    const head = foldedHead(text, after, rules[0]!.keywords[0]!.length, HEAD_CHARS);
    mayHold = rules.some(({ mayBegin }) => mayBegin?.(head) ?? true);
  });
  return mayHold;
}

/** With more keywords in a text, a view costs less than a look at each of them. */
const MAX_HEADS = 2_048;

/**
 * So many characters of a folded form are held back. With fewer, most words end in the beginning of some form: whether they are
 * held would depend on the known keys, and a replay, which knows none of them, would cut the text elsewhere.
 */
const FOLDED_HELD_CHARS = 4;

/** From here on, digits that may become a card number or an IBAN are not let go. */
const ARMED_DIGITS = 8;

/** The name of a kind is no name of a field. */
function isInMarker(markers: readonly MarkerRange[], at: number): boolean {
  const next = markers[firstBehind(markers, at)];
  return next !== undefined && next.from <= at;
}

/** In order and without overlaps: what overlaps becomes one, named by the lowest rank. */
export function mergeFindings(findings: Finding[]): Finding[] {
  findings.sort((a, b) => a.from - b.from || b.to - a.to || a.rank - b.rank);
  const merged: Finding[] = [];
  for (const finding of findings) {
    const last = merged.at(-1);
    if (last === undefined || finding.from >= last.to) {
      merged.push(finding);
      continue;
    }
    const named = finding.rank < last.rank ? finding : last;
    const longer = finding.to > last.to ? finding : last;
    merged[merged.length - 1] = { from: last.from, to: longer.to, kind: named.kind, rank: named.rank, run: longer.run };
  }
  return merged;
}
