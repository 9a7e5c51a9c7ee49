/** `«redacted:KIND»`: what stands where a secret was. Only a kind that exists makes one: anything else is text like any other. */
import {
  MARKER_CLOSES as CLOSES,
  MARKER_MAX_KIND_CHARS as MAX_KIND_CHARS,
  MARKER_OPENS as OPENS,
  redactionMarker,
} from "#base";
import type { Finding } from "./scanner.ts";

export interface MarkerRange {
  readonly from: number;
  readonly to: number;
}

/** The markers at or behind `from`, in order. */
export function findMarkers(text: string, from: number, kinds: ReadonlySet<string>): MarkerRange[] {
  const markers: MarkerRange[] = [];
  for (let at = text.indexOf(OPENS, from); at >= 0; at = text.indexOf(OPENS, at + 1)) {
    const start = at + OPENS.length;
    const close = text.slice(start, start + MAX_KIND_CHARS + 1).indexOf(CLOSES);
    if (close > 0 && kinds.has(text.slice(start, start + close))) markers.push({ from: at, to: start + close + 1 });
  }
  return markers;
}

/** Adds the markers of a text to `counts`. */
export function countMarkers(text: string, kinds: ReadonlySet<string>, counts: Map<string, number>): void {
  for (const { from, to } of findMarkers(text, 0, kinds)) {
    const kind = text.slice(from + OPENS.length, to - CLOSES.length);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
}

/** `findings` in order and without overlaps. */
export function replaceFindings(text: string, findings: readonly Finding[]): string {
  if (findings.length === 0) return text;
  let result = "";
  let at = 0;
  for (const { from, to, kind } of findings) {
    result += text.slice(at, from) + redactionMarker(kind);
    at = to;
  }
  return result + text.slice(at);
}

/** The findings without the parts that lie in markers, so that a marker is never redacted again. */
export function outsideMarkers(findings: Finding[], markers: readonly MarkerRange[]): Finding[] {
  if (findings.length === 0 || markers.length === 0) return findings;
  return findings.flatMap((finding) => subtract(finding, markers));
}

function subtract(finding: Finding, markers: readonly MarkerRange[]): Finding[] {
  const parts: Finding[] = [];
  let from = finding.from;
  for (let index = firstBehind(markers, from); index < markers.length; index++) {
    const { from: opens, to: closes } = markers[index]!;
    if (opens >= finding.to) break;
    if (opens > from) parts.push({ ...finding, from, to: opens, run: undefined });
    from = closes;
  }
  if (from < finding.to) parts.push({ ...finding, from });
  return parts;
}

/** The first marker that ends behind `at`. */
export function firstBehind(markers: readonly MarkerRange[], at: number): number {
  let low = 0;
  let high = markers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (markers[middle]!.to > at) high = middle;
    else low = middle + 1;
  }
  return low;
}
