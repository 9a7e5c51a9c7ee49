/**
 * What may happen with a call, by plan mode, blocked programs, rules, file rules and the quiet preset: allow, ask or deny, and
 * what decided. Asks nobody and runs nothing.
 */
import { defined } from "#base";
import { type CallResult, type Judgement, refusal, type Tool, type ToolCall } from "#engine";
import { reasonText } from "#protocol";
import { confined, QUIET, type SandboxHold } from "./confinement.ts";
import type { DiskView } from "./disk-view.ts";
import { judgeFileRules } from "./file-rules.ts";
import { withHooks } from "./hook-permission.ts";
import { isBuiltin, isCommand, isFileTool, isServerTool, kindOf, namedPaths, pathArguments } from "./known-tools.ts";
import { leavingNeedsYes, namesAllLabels, type SessionLabels } from "./labels.ts";
import { locatedArguments, loudOnDisk } from "./on-disk.ts";
import { blockedProgram, QUIET_RULE, quietDecision } from "./quiet-preset.ts";
import { evaluateRules, type Rule, type RuleCall, type RuleVerdict } from "./rules.ts";
import { unnamedSecret, unnamedSecretOfCommand } from "./secret-reads.ts";
import { analyseShell } from "./shell/analysis.ts";
import type { SimpleCommand } from "./shell/command.ts";
import { loudness } from "./shell/quiet.ts";
import { STEERING_RULE, type SteeringChange, steeringChange } from "./steering-changes.ts";
import { needsPerson, type PersonOnly, strictest, type Verdict } from "./verdict.ts";

/** Longest path or glob that is judged; matching longer ones could take long. */
export const MAX_NAME_CHARS = 4096;
/** Anywhere in a command: what follows may run in another folder, where quiet programs obey other files. */
const CHANGES_FOLDER = /\b(?:cd|pushd|popd|chdir)\b/;

/** `Judgement.by` when no rule decided, because it is unclear whether one is meant. */
export const DOUBT = "rules";

export interface JudgeOptions {
  /** All that are in force, those of the session included. Asked for each call: a project may change them between steps. */
  readonly rules: () => readonly Rule[];
  /** The absolute workspace root. */
  readonly root: string;
  /** No quiet preset. Asked for each call. */
  readonly strict: () => boolean;
  readonly planMode: () => boolean;
  readonly labels: Pick<SessionLabels, "held" | "origin">;
  /** Nothing that a command sends can get anywhere: there is no host that it may reach. */
  readonly isOffline: () => boolean;
  /** What holds commands. Asked for each of them. */
  readonly hold: () => Promise<SandboxHold>;
  /** Files and folders that git's configuration makes steering files, relative to the workspace: the list that commands are held to. */
  readonly namedByGit: () => Promise<readonly string[]>;
}

/** What a decision looks at. */
export interface JudgedCall extends Pick<ToolCall, "args" | "hookSays"> {
  readonly tool: Pick<Tool, "name" | "label" | "class" | "subject" | "relays">;
}

export interface Judge {
  /** `disk` shows where a path really leads. */
  judge(call: JudgedCall, disk: DiskView): Promise<Verdict>;
  /** What can refuse a call whatever anybody answers. Asked again after a question: things change while it waits. */
  refusedBy(call: JudgedCall): Extract<Verdict, { effect: "deny" }> | undefined;
}

interface Evaluation extends RuleVerdict {
  readonly quietParts: readonly SimpleCommand[];
}

export function createJudge(options: JudgeOptions): Judge {
  function refusedBy(call: JudgedCall): Extract<Verdict, { effect: "deny" }> | undefined {
    const { tool } = call;
    if (options.planMode() && tool.class !== "read_only" && tool.relays !== true) return deniedByPlanMode(tool);
    return deniedAnyway(call);
  }

  function deniedAnyway(call: JudgedCall): Extract<Verdict, { effect: "deny" }> | undefined {
    const { tool } = call;
    const blocked = isCommand(tool.name) ? blockedProgram(asRuleCall(call).subject) : undefined;
    return blocked?.effect === "deny" ? deniedByBuiltin(call, blocked.why) : undefined;
  }

  /** Those that name labels hold when the session holds them. */
  function inForce(rules: readonly Rule[]): readonly Rule[] {
    if (!namesLabels(rules)) return rules;
    const held = options.labels.held();
    return chosen(rules, `held ${held.join()}`, ({ labels }) => {
      return labels === undefined || labels.every((label) => held.includes(label));
    });
  }

  function evaluate(call: JudgedCall, given: readonly Rule[]): Evaluation {
    const ruleCall = asRuleCall(call);
    const elsewhere = isElsewhere(call);
    // What a pattern allows, and what is quiet, is meant for the workspace root.
    const rules = elsewhere
      ? chosen(given, "elsewhere", ({ effect, pattern }) => effect !== "allow" || pattern === undefined)
      : given;
    const quietParts: SimpleCommand[] = [];
    const verdict = evaluateRules(rules, ruleCall, {
      root: options.root,
      // Quiet parts of a compound command need no rule of their own.
      passes(command) {
        const isQuiet = !options.strict() && !elsewhere && loudness(command, { root: options.root }) === undefined;
        if (isQuiet) quietParts.push(command);
        return isQuiet;
      },
    });
    return { ...verdict, quietParts };
  }

  async function judge(call: JudgedCall, disk: DiskView, all: readonly Rule[]): Promise<Verdict> {
    const { tool } = call;
    // Of a command it is known at the end whether it only reads.
    const refused = isCommand(tool.name) ? deniedAnyway(call) : refusedBy(call);
    if (refused !== undefined) return refused;
    const tooLong = pathArguments(tool.name).find(({ name }) => isTooLong(call.args[name]));
    if (tooLong !== undefined) {
      const why = `${tooLong.name} is longer than ${MAX_NAME_CHARS} characters.`;
      return deny({ by: "built-in rule", why }, refusal("error", "InvalidArguments", why));
    }
    const written = decide(call, evaluate(call, inForce(all)));
    if (written.effect === "deny") return written;
    if (isFileTool(tool.name)) {
      const args = await locatedArguments(tool.name, call.args, disk);
      if (args === undefined) {
        const why = `the path is outside the workspace ${options.root}, which tools cannot leave (built-in: workspace)`;
        const text = `${tool.label} was denied: ${why}. To allow it, choose a workspace that contains that path.`;
        return deny({ by: "built-in rule", why }, refusal("denied", "PermissionDenied", text));
      }
      if (tool.class === "mutating" && namedPaths(tool.name, args).some(isOwnRecord)) {
        return deniedByBuiltin(call, "it is the session's own record (built-in: own-record)");
      }
      const isAsWritten = Object.entries(args).every(([name, value]) => call.args[name] === value);
      // A link must not make a rule or the list of sensitive files mean something else.
      const verdict = isAsWritten
        ? written
        : strictest(written, decide({ ...call, args }, evaluate({ ...call, args }, inForce(all))));
      const steering =
        tool.class === "mutating" ? await steeringChange(tool.name, call.args, disk, options.namedByGit) : undefined;
      return steering === undefined ? verdict : needsPerson(verdict, steeringQuestion(steering));
    }
    if (kindOf(tool.name) === "memory" && options.labels.held().includes("untrusted")) {
      return needsPerson(written, memoryQuestion(options.labels.origin("untrusted")));
    }
    if (isCommand(tool.name)) {
      const about = await fileRules(call, disk, all);
      if (about !== undefined) return about.effect === "deny" ? about : strictest(written, about);
    }
    if (written.effect !== "allow") return written;
    const secret = await secretRead(call, written, disk, all);
    if (secret !== undefined) return secret;
    const why = await loudOnDisk(written.quiet, disk, cwdOf(call));
    if (why === undefined) return written;
    return { effect: "ask", judged: { ...written.judged, effect: "ask", why: `${why} (${QUIET_RULE})` } };
  }

  /** A rule about a file holds for commands that read or change it, too. */
  async function fileRules(call: JudgedCall, disk: DiskView, all: readonly Rule[]): Promise<Verdict | undefined> {
    const about = { rules: inForce(all), disk, cwd: cwdOf(call) };
    const verdict = await judgeFileRules(asRuleCall(call).subject, about);
    if (verdict === undefined) return undefined;
    const { effect, rule, why } = verdict;
    const consulted = {
      stage: "rule",
      name: rule?.text ?? "file rules",
      source: rule?.source ?? "built-in",
      effect,
    };
    const judged: Judgement = {
      effect,
      by: `rule ${consulted.name}`,
      source: consulted.source,
      why,
      trail: [consulted],
    };
    if (effect !== "deny") return { effect: "ask", judged };
    const by = `${describeRule(rule)}: ${why}. To allow it, change that rule`;
    return { effect: "deny", judged, result: denied(call, by) };
  }

  /** A rule that allows a command in general does not allow it to read a secret file. */
  async function secretRead(
    call: JudgedCall,
    { judged }: Verdict,
    disk: DiskView,
    all: readonly Rule[],
  ): Promise<Verdict | undefined> {
    if (!isCommand(call.tool.name) || judged.by === QUIET) return undefined;
    const context = { rules: inForce(all), disk, cwd: cwdOf(call) };
    const why = await unnamedSecretOfCommand(asRuleCall(call).subject, context);
    if (why === undefined) return undefined;
    const consulted = { stage: "preset", name: SECRET, source: "built-in", effect: "ask" };
    return { effect: "ask", judged: { effect: "ask", by: SECRET, why, trail: [...judged.trail, consulted] } };
  }

  /** What rules and the quiet preset say about the names as they are written in the call. */
  function decide(call: JudgedCall, { effect, rule, why, quietParts, trail: matches }: Evaluation): Verdict {
    const { tool } = call;
    const trail = matches.map(({ rule: matched }) => {
      return { stage: "rule", name: matched.text, source: matched.source, effect: matched.effect };
    });
    const byRule = (told: string): Judgement => ({
      effect: effect === "none" ? "ask" : effect,
      by: rule === undefined ? DOUBT : `rule ${rule.text}`,
      ...defined({ source: rule?.source }),
      why: told,
      trail,
    });
    const preset = (verdict: "allow" | "ask", by: string, told: string): Judgement => {
      const consulted = { stage: "preset", name: by, source: "built-in", effect: verdict };
      return { effect: verdict, by, why: told, trail: [...trail, consulted] };
    };
    if (effect === "deny") {
      const told = describeRule(rule);
      return { effect, judged: byRule(told), result: denied(call, `${told}. To allow it, change that rule`) };
    }
    const blocked = isCommand(tool.name) ? blockedProgram(asRuleCall(call).subject) : undefined;
    if (blocked !== undefined) return { effect: "ask", judged: preset("ask", "blocked programs", blocked.why) };
    if (effect === "ask") return { effect, judged: byRule(why ?? `${describeRule(rule)} asks`) };
    if (effect === "allow") {
      const secret = unnamedSecret(asRuleCall(call), matches, options.root);
      if (secret !== undefined) return { effect: "ask", judged: preset("ask", SECRET, secret) };
      return { effect, judged: byRule(`${describeRule(rule)} allows it`), quiet: quietParts };
    }
    if (options.strict()) {
      return {
        effect: "ask",
        judged: preset("ask", "strict permissions", "no rule allows it (built-in: strict-permissions)"),
      };
    }
    const quiet = quietDecision({ tool: tool.name, args: call.args }, options.root);
    if (quiet.quiet) {
      const commands = isCommand(tool.name) ? commandsOf(asRuleCall(call).subject) : [];
      return { effect: "allow", judged: preset("allow", QUIET, quiet.why), quiet: commands };
    }
    if (tool.class === "read_only" && !isBuiltin(tool.name)) {
      return { effect: "allow", judged: preset("allow", "read-only tool", "it changes nothing"), quiet: [] };
    }
    return { effect: "ask", judged: preset("ask", QUIET, `${quiet.why} (${QUIET_RULE})`) };
  }

  return {
    refusedBy,
    async judge(call, disk) {
      // One judgement is made by one set of rules, also when an answer adds one meanwhile.
      const rules = options.rules();
      const isPlanned = isCommand(call.tool.name) && options.planMode();
      // What only reads does so as a reader, also where a rule would let it do more.
      const all = isPlanned ? rules.filter(({ effect }) => effect !== "allow") : rules;
      const verdict = guarded(call, await saidByHooks(call, await judge(call, disk, all), disk, all), all);
      if (!isCommand(call.tool.name)) return verdict;
      const held = confined(call, verdict, await options.hold());
      if (!isPlanned || held.effect === "deny" || held.judged.confinement === "reader") return held;
      return deniedByPlanMode(call.tool);
    },
  };

  /** What a hook allows is held to what a rule that allows in general is held to: not to a secret file that nobody named. */
  async function saidByHooks(
    call: JudgedCall,
    verdict: Verdict,
    disk: DiskView,
    all: readonly Rule[],
  ): Promise<Verdict> {
    const said = withHooks(verdict, call.hookSays);
    if (said.effect !== "allow" || verdict.effect === "allow") return said;
    if (isCommand(call.tool.name)) return (await secretRead(call, said, disk, all)) === undefined ? said : verdict;
    const args = isFileTool(call.tool.name) ? await locatedArguments(call.tool.name, call.args, disk) : call.args;
    const forms = args === undefined ? [] : [call, { ...call, args }];
    const isPlain =
      forms.length > 0 && forms.every((form) => unnamedSecret(asRuleCall(form), [], options.root) === undefined);
    return isPlain ? said : verdict;
  }

  /** What may run may still carry data out; with private and untrusted content in one session that takes a yes. */
  function guarded(call: JudgedCall, verdict: Verdict, all: readonly Rule[]): Verdict {
    if (verdict.effect !== "allow" || !mayLeave(call, verdict)) return verdict;
    const why = leavingNeedsYes(options.labels);
    if (why === undefined || evaluate(call, chosen(inForce(all), "all labels", namesAllLabels)).effect === "allow")
      return verdict;
    const consulted = { stage: LABEL_STAGE, name: LABEL_GUARD, source: "built-in", effect: "ask" };
    const trail = [...verdict.judged.trail, consulted];
    return { effect: "ask", judged: { effect: "ask", by: LABEL_GUARD, source: "built-in", why, trail } };
  }

  function mayLeave({ tool }: JudgedCall, { judged }: Verdict): boolean {
    if (kindOf(tool.name) === "fetch") return true;
    if (isCommand(tool.name)) return judged.by !== QUIET && !options.isOffline();
    return isServerTool(tool.name) || (tool.class === "sensitive" && !isBuiltin(tool.name));
  }
}

/**
 * Parts of a list of rules, by the list, which nobody changes once it is made, and the name of the part: what is worked out for a
 * list is kept with it, so the same part has to be the same list.
 */
const parts = new WeakMap<readonly Rule[], Map<string, readonly Rule[]>>();

function chosen(rules: readonly Rule[], part: string, isIn: (rule: Rule) => boolean): readonly Rule[] {
  const known = parts.get(rules) ?? new Map<string, readonly Rule[]>();
  const made = known.get(part) ?? rules.filter(isIn);
  known.set(part, made);
  parts.set(rules, known);
  return made;
}

function namesLabels(rules: readonly Rule[]): boolean {
  return chosen(rules, "labelled", ({ labels }) => labels !== undefined).length > 0;
}

/** Of a trail, and the name of what asks. */
export const LABEL_STAGE = "labels";
export const LABEL_GUARD = "labels of the session";
const STEERING = "steering files";
const UNTRUSTED_MEMORY = "untrusted memory";
export const SECRET = "secret files";

function deniedByPlanMode(tool: JudgedCall["tool"]): Extract<Verdict, { effect: "deny" }> {
  const why = reasonText("PlanModeActive", { tool: tool.label });
  return deny({ by: "plan mode", why }, refusal("denied", "PlanModeActive", why));
}

function deny(
  { by, why, source }: { readonly by: string; readonly why: string; readonly source?: string },
  result: CallResult,
): Extract<Verdict, { effect: "deny" }> {
  const consulted = { stage: "built-in", name: by, source: source ?? "built-in", effect: "deny" };
  return {
    effect: "deny",
    judged: { effect: "deny", by, source: source ?? "built-in", why, trail: [consulted] },
    result,
  };
}

function deniedByBuiltin(call: JudgedCall, why: string): Extract<Verdict, { effect: "deny" }> {
  return deny(
    { by: "built-in rule", why },
    denied(call, `a built-in rule that no setting can disable: ${why}. Only a person can do this, outside of Harness`),
  );
}

/** Where a command starts, relative to the workspace root. */
export function cwdOf({ args }: JudgedCall): string {
  return typeof args.cwd === "string" ? args.cwd : ".";
}

function commandsOf(command: string): readonly SimpleCommand[] {
  const analysis = analyseShell(command);
  return analysis.understood ? analysis.commands : [];
}

/** Runs in another folder than the root, or may. */
function isElsewhere({ tool, args }: JudgedCall): boolean {
  if (!isCommand(tool.name)) return false;
  const { cwd, command } = args;
  return (cwd !== undefined && cwd !== ".") || CHANGES_FOLDER.test(String(command).replace(/["'\\]/g, ""));
}

/** The log of a session that is kept in the workspace; its writer is the program alone. */
function isOwnRecord(path: string): boolean {
  return /^\.harness(?:$|\/threads(?:$|\/))/.test(path);
}

function isTooLong(value: unknown): boolean {
  return typeof value === "string" && value.length > MAX_NAME_CHARS;
}

function steeringQuestion({ paths, why }: SteeringChange): PersonOnly & Pick<Judgement, "by" | "why"> {
  return {
    by: STEERING,
    why: `${why}, and every change to a steering file needs a person's approval (${STEERING_RULE})`,
    remedy: "Rules and automatic approval cannot allow it: run where a person can answer, or change the file yourself.",
    steering: paths,
  };
}

function memoryQuestion(origin: string): PersonOnly & Pick<Judgement, "by" | "why"> {
  return {
    by: UNTRUSTED_MEMORY,
    why: `this session contains untrusted content (${origin}), and what a memory says from then on needs a person's approval`,
    remedy:
      "Rules and automatic approval cannot allow it: run where a person can answer, or write the memory yourself with: harness memory add.",
  };
}

export function asRuleCall({ tool, args }: JudgedCall): RuleCall {
  const subject = tool.subject?.(args) ?? JSON.stringify(args);
  return { tool: tool.name, label: tool.label, class: tool.class, args, subject };
}

function denied(call: JudgedCall, by: string): CallResult {
  return refusal("denied", "PermissionDenied", `${call.tool.label} was denied by ${by}.`);
}

function describeRule(rule: Rule | undefined): string {
  return rule === undefined ? "a rule" : `the rule '${rule.effect} ${rule.text}' (${rule.source})`;
}
