/**
 * What a session has seen, as labels: `untrusted` once it holds content from the web, `private` once it holds content that must
 * not get out. Labels follow the content into results, the next turns, delegates and a resumed session, and never come off.
 * Rules and hooks can name them; with both, data does not leave without a person's yes.
 */
import type { LabelRule } from "#artifacts";
import { cutAtBlank, hasMarker } from "#base";
import { type CallResult, redactedFile, type ToolCall, type ToolMiddleware } from "#engine";
import type { CallId, Event, Label } from "#protocol";
import { type DiskReader, lookAtDisk } from "./disk-view.ts";
import { kindOf } from "./known-tools.ts";
import { labelsByNature, labelsByRules, labelsOfPrintedFiles } from "./labelled-content.ts";
import type { Rule, RuleCall } from "./rules.ts";

export const ALL_LABELS: readonly Label[] = ["private", "untrusted"];

export interface SessionLabels {
  /** In the order of {@link ALL_LABELS}. */
  held(): readonly Label[];
  /** Where a label came from first, for people. */
  origin(label: Label): string;
  /** From now on the session holds it; the result of the call will carry it. */
  add(label: Label, origin: string, call?: CallId): void;
  /** Labels that the call has brought so far. */
  ofCall(call: CallId): readonly Label[];
  forget(call: CallId): void;
  /** Events of the session as they are told: labels of a delegate's result count too, and so does what a command has reached. */
  onEvent(event: Event): void;
}

export function createSessionLabels(earlier: readonly Label[] = []): SessionLabels {
  const origins = new Map<Label, string>();
  for (const label of earlier) origins.set(label, "earlier in this session");
  const calls = new Map<CallId, Set<Label>>();
  const held = (): readonly Label[] => ALL_LABELS.filter((label) => origins.has(label));

  function add(label: Label, origin: string, call?: CallId): void {
    if (!origins.has(label)) origins.set(label, origin);
    if (call === undefined) return;
    const known = calls.get(call);
    if (known === undefined) calls.set(call, new Set([label]));
    else known.add(label);
  }

  return {
    held,
    origin: (label) => origins.get(label) ?? "",
    add,
    ofCall: (call) => ALL_LABELS.filter((label) => calls.get(call)?.has(label)),
    forget: (call) => void calls.delete(call),
    onEvent(event) {
      if (event.kind === "ToolResult") for (const label of event.payload.labels ?? []) add(label, event.payload.name);
      if (event.kind === "ContextAdded") {
        const { origin, what } = event.payload;
        for (const label of event.payload.labels ?? []) add(label, `${origin} ${what}`);
      }
      if (event.kind === "TurnStarted" || event.kind === "TurnSteered") {
        const file = redactedFile(event.payload.content);
        if (file !== undefined) add("private", `file ${file.name}, where secrets were redacted`);
      }
      if (event.kind === "NetworkConnection" && event.payload.state === "opened") add("untrusted", event.payload.host);
    },
  };
}

export interface LabelOptions {
  readonly labels: SessionLabels;
  /** Calls whose results carry a label. Asked for each call. */
  readonly rules: () => readonly LabelRule[];
  readonly files: DiskReader;
}

/** Tool middleware: gives a result the labels of what it holds. Around what redacts it. */
export function createLabelling({ labels, rules, files }: LabelOptions): ToolMiddleware {
  return async (call, next) => {
    const result = await next(call);
    if (result.outcome === "denied" || result.outcome === "not_executed") return result;
    for (const { label, origin } of await ofContent(call, result, rules(), files)) labels.add(label, origin, call.id);
    // What a delegate has seen is in what it tells.
    const own = call.tool.relays ? labels.held() : labels.ofCall(call.id);
    labels.forget(call.id);
    return own.length === 0 ? result : { ...result, labels: own };
  };
}

interface Labelled {
  readonly label: Label;
  readonly origin: string;
}

async function ofContent(
  { tool, args }: ToolCall,
  result: CallResult,
  rules: readonly LabelRule[],
  files: DiskReader,
): Promise<readonly Labelled[]> {
  const subject = tool.subject?.(args) ?? JSON.stringify(args);
  const origin = cutAtBlank(`${tool.name} ${subject}`, MAX_ORIGIN_CHARS);
  const ruleCall: RuleCall = { tool: tool.name, label: tool.label, class: tool.class, args, subject };
  const disk = lookAtDisk(files);
  const labels = [
    ...(await labelsByNature(ruleCall, disk)),
    ...(await labelsByRules(ruleCall, rules, disk)),
    ...(kindOf(tool.name) === "search" ? labelsOfPrintedFiles(result, rules, files.root) : []),
  ];
  return [
    ...labels.map((label) => ({ label, origin })),
    ...(result.redacted || (kindOf(tool.name) === "job" && isMarked(result))
      ? [{ label: "private" as const, origin: `${origin}, where secrets were redacted` }]
      : []),
  ];
}

/** What a background command prints was redacted before it was kept. */
function isMarked({ content }: CallResult): boolean {
  return content.some((block) => block.type === "text" && hasMarker(block.text));
}

const MAX_ORIGIN_CHARS = 200;

/** Says why data must not leave without a yes; undefined when it may. */
export function leavingNeedsYes(labels: Pick<SessionLabels, "held" | "origin">): string | undefined {
  if (labels.held().length < ALL_LABELS.length) return undefined;
  const from = ALL_LABELS.map((label) => `${label} content (${labels.origin(label)})`).join(" and ");
  return `the call may send data out, and this session contains ${from}`;
}

/** Such a rule was written for a session that holds both. */
export function namesAllLabels({ labels = [] }: Rule): boolean {
  return ALL_LABELS.every((label) => labels.includes(label));
}
