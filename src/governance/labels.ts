/**
 * What a session has seen, as labels: `untrusted` once it holds content from the web, `private` once it holds content that must
 * not get out. Labels follow the content into results, the next turns, delegates and a resumed session, and never come off.
 * Rules and hooks can name them; with both, data does not leave without a person's yes.
 */
import type { LabelRule } from "#artifacts";
import { cutAtBlank } from "#base";
import type { CallResult, ToolCall, ToolMiddleware } from "#engine";
import type { CallId, Event, Label } from "#protocol";
import type { InnerEffect } from "./inner-effects.ts";
import { evaluateRules, parseRule, type Rule, type RuleCall } from "./rules.ts";
import { isSensitivePath } from "./sensitive-paths.ts";
import { analyseShell } from "./shell.ts";
import { everyCommand } from "./shell-command.ts";
import { programName } from "./shell-wrappers.ts";
import { TOOL_ALIASES } from "./tool-aliases.ts";

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
  /** Events of the session as they are told: labels of a delegate's result count too. */
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
    },
  };
}

export interface LabelOptions {
  readonly labels: SessionLabels;
  /** Calls whose results carry a label. Asked for each call. */
  readonly rules: () => readonly LabelRule[];
  readonly root: string;
}

/** Tool middleware: gives a result the labels of what it holds. Around what redacts it. */
export function createLabelling({ labels, rules, root }: LabelOptions): ToolMiddleware {
  return async (call, next) => {
    const result = await next(call);
    if (result.outcome === "denied" || result.outcome === "not_executed") return result;
    for (const { label, origin } of ofContent(call, result, rules(), root)) labels.add(label, origin, call.id);
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

function* ofContent(
  call: ToolCall,
  result: CallResult,
  rules: readonly LabelRule[],
  root: string,
): Generator<Labelled> {
  const { tool, args } = call;
  const subject = tool.subject?.(args) ?? JSON.stringify(args);
  const origin = cutAtBlank(`${tool.name} ${subject}`, MAX_ORIGIN_CHARS);
  const ruleCall: RuleCall = { tool: tool.name, label: tool.label, class: tool.class, args, subject };
  for (const label of labelsByNature(ruleCall)) yield { label, origin };
  if (result.redacted) yield { label: "private", origin: `${origin}, where secrets were redacted` };
  for (const label of labelsByRules(ruleCall, rules, root)) yield { label, origin };
}

/** What the result of such a call holds whatever the policy says. */
export function labelsByNature({ tool, args, subject }: RuleCall): readonly Label[] {
  if (tool === "web.fetch" || (tool === "exec" && usesNetwork(subject))) return ["untrusted"];
  return tool === "fs.read" && isSensitivePath(String(args.path)).sensitive ? ["private"] : [];
}

/** What rules say that the result of the call holds. */
export function labelsByRules(call: RuleCall, rules: readonly LabelRule[], root: string): readonly Label[] {
  return rules.flatMap(({ label, rule, source }) => (isMeant(parsed(rule, source), call, root) ? [label] : []));
}

/** What an effect inside a call brings in. */
export function labelsOfEffect({ tool, args }: InnerEffect): readonly Label[] {
  if (tool === "web.fetch") return ["untrusted"];
  if (tool === "exec") return usesNetwork(String(args.command)) ? ["untrusted"] : [];
  return tool === "fs.read" && isSensitivePath(String(args.path)).sensitive ? ["private"] : [];
}

/** In doubt the rule is meant: a label that is too much asks once more. */
function isMeant(rule: Rule, call: RuleCall, root: string): boolean {
  return evaluateRules([rule], call, TOOL_ALIASES, { root }).effect !== "none";
}

const MAX_ORIGIN_CHARS = 200;
const MAX_PARSED = 1_000;
const parsedRules = new Map<string, Rule>();

function parsed(text: string, source: string): Rule {
  const known = parsedRules.get(text);
  if (known !== undefined) return known;
  const rule = parseRule(text, "ask", source);
  if (parsedRules.size >= MAX_PARSED) parsedRules.clear();
  parsedRules.set(text, rule);
  return rule;
}

const FETCHING_PROGRAMS: ReadonlySet<string> = new Set(
  (
    "curl wget http https xh aria2c axel lynx w3m links elinks ftp sftp scp rsync nc ncat netcat socat telnet gh glab " +
    "hub svn aws gcloud az kubectl yt-dlp"
  ).split(" "),
);
const FETCHING_GIT = new Set(["fetch", "pull", "clone", "ls-remote", "remote", "submodule"]);

/** Whether a command brings content in from elsewhere; one that is not understood may. */
function usesNetwork(command: string): boolean {
  const analysis = analyseShell(command);
  if (!analysis.understood) return true;
  for (const simple of everyCommand(analysis.commands)) {
    const name = programName(simple.words);
    if (FETCHING_PROGRAMS.has(name)) return true;
    if (name === "git" && simple.words.some((word) => FETCHING_GIT.has(word))) return true;
  }
  return false;
}

/** Says why data must not leave without a yes; undefined when it may. */
export function leavingNeedsYes(labels: Pick<SessionLabels, "held" | "origin">): string | undefined {
  if (labels.held().length < ALL_LABELS.length) return undefined;
  const from = ALL_LABELS.map((label) => `${label} content (${labels.origin(label)})`).join(" and ");
  return `data may leave, and this session holds ${from}`;
}

/** Such a rule was written for a session that holds both. */
export function namesAllLabels({ labels = [] }: Rule): boolean {
  return ALL_LABELS.every((label) => labels.includes(label));
}
