/** What clients can change of a session while it is open: its model, its context and its rules. */
import type { LiveSession } from "#control";
import type { EventBus, RunContext } from "#engine";
import type { Permission, Rule } from "#governance";
import { type ClientId, ReasonError } from "#protocol";
import type { ModelChoice } from "#providers";

type RuleCommands = Pick<LiveSession, "rules" | "revokeRule" | "promoteRule">;

export function liveSession({
  engine,
  models,
  context,
}: {
  readonly engine: LiveSession["engine"];
  readonly models: ModelChoice;
  readonly context: RunContext;
}): Omit<
  LiveSession,
  | "slash"
  | "changes"
  | "describe"
  | "describeAck"
  | "completeInput"
  | "begin"
  | "release"
  | "finish"
  | "restore"
  | "agreements"
  | "work"
  | keyof RuleCommands
> {
  return {
    engine,
    setContext: (values) => context.set(engine.bus, values),
    takesImages: () => models.provider.takesImages?.(engine.model) ?? true,
    async setModel(text) {
      await engine.setModel(await models.resolve(text));
    },
  };
}

export function ruleCommands(
  bus: EventBus,
  permission: Permission,
  rules: () => readonly Rule[],
  keepRule: ((rule: string) => Promise<string>) | undefined,
): RuleCommands {
  const find = (text: string): string => {
    if (permission.sessionRules.some((rule) => rule.text === text)) return text;
    throw new ReasonError("RuleNotFound", { rule: text });
  };
  return {
    rules: () =>
      [...rules(), ...permission.sessionRules].map(({ effect, text, source }) => ({ effect, rule: text, source })),
    async revokeRule(text, by: ClientId) {
      permission.revoke(find(text));
      await bus.publish("RuleChanged", { rule: text, change: "revoked", by });
    },
    async promoteRule(text, by: ClientId) {
      if (keepRule === undefined) throw new ReasonError("NotAllowed", "Rules cannot be saved here.");
      const source = await keepRule(find(text));
      await bus.publish("RuleChanged", { rule: text, change: "promoted", by, source });
    },
  };
}
