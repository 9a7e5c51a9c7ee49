/**
 * `allowed-tools` of a skill as a limit: from the moment the agent has read the skill until the end of its turn, it is offered and may
 * call only what the skill lists, and the tool `skill`. Every other decision stays as it is, so a list never allows anything. Calls
 * inside an allowed call belong to that call.
 */
import type { Skill } from "#artifacts";
import {
  type EventBus,
  note,
  type RequestMiddleware,
  refusal,
  type Tool,
  type ToolCall,
  type ToolMiddleware,
} from "#engine";
import type { Event } from "#protocol";
import { asRuleCall } from "./judge.ts";
import { namesTool, type Rule } from "./rules.ts";
import { listsCall, skillToolRules } from "./skill-tools.ts";

/** Its files are read with it, whatever the list says. */
const SKILL_TOOL = "skill";

/** One skill that is in force and names its tools. */
export interface SkillLimit {
  readonly skill: string;
  readonly source: string;
  readonly rules: readonly Rule[];
}

export interface SkillLimits {
  /** In front of what puts the tools into the request. */
  readonly request: RequestMiddleware;
  /** In front of the permission question, behind hooks that change a call. */
  readonly tool: ToolMiddleware;
  /** Those that hold for a delegate that is started now. */
  inForce(): readonly SkillLimit[];
  /** Events of this session. */
  onEvent(event: Event): void;
}

export interface SkillLimitsOptions {
  readonly bus: EventBus;
  /** The absolute workspace root. */
  readonly root: string;
  readonly skills: () => readonly Pick<Skill, "name" | "file" | "allowedTools">[];
  /** Of the agents above; they hold as long as this one works. */
  readonly inherited: readonly SkillLimit[];
}

export function createSkillLimits({ bus, root, skills, inherited }: SkillLimitsOptions): SkillLimits {
  const own = new Map<string, SkillLimit>();
  const inForce = (): readonly SkillLimit[] => [...inherited, ...own.values()];

  function admits({ rules }: SkillLimit, call: ToolCall): boolean {
    return listsCall(rules, asRuleCall(call), root);
  }

  function takeEffect({ tool, args }: ToolCall): void {
    if (tool.name !== SKILL_TOOL) return;
    const skill = skills().find(({ name }) => name === args.name);
    if (skill?.allowedTools === undefined) return;
    const rules = skill.allowedTools.flatMap((written) => skillToolRules(written, skill.file));
    own.set(skill.name, { skill: skill.name, source: skill.file, rules });
  }

  return {
    request: (call, next) => {
      const limits = inForce();
      if (limits.length === 0) return next(call);
      return next({ ...call, tools: call.tools.filter((tool) => limits.every((limit) => offers(limit, tool))) });
    },
    async tool(call, next) {
      if (call.parent !== undefined) return next(call);
      const against = call.tool.name === SKILL_TOOL ? undefined : inForce().find((limit) => !admits(limit, call));
      if (against !== undefined) return refuse(bus, call, against);
      const result = await next(call);
      if (result.outcome === "ok") takeEffect(call);
      return result;
    },
    inForce,
    onEvent({ kind }) {
      if (kind === "TurnEnded") own.clear();
    },
  };
}

function offers({ rules }: SkillLimit, { name, label }: Tool): boolean {
  return name === SKILL_TOOL || rules.some((rule) => namesTool(rule, { tool: name, label }));
}

function refuse(bus: EventBus, call: ToolCall, { skill, source, rules }: SkillLimit) {
  const { turn, step, id: call_id, tool } = call;
  const allowed = rules.map(({ text }) => text).join(", ") || "nothing else";
  const why = `the skill ${skill} is in force until the end of this turn and allows only: ${allowed}`;
  const by = `skill ${skill}`;
  const trail = [{ stage: "skill", name: skill, source, effect: "deny" }];
  note(bus, "CallJudged", { turn, step, call_id, name: tool.name, judged: { effect: "deny", by, source, why, trail } });
  return refusal("denied", "PolicyDenied", `${tool.label} is not available now: ${why} (${source}). Work without it.`);
}
