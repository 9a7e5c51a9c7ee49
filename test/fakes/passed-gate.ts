/** The end of the tool chain for tests that are about something else: a call that was allowed, and a record nobody reads. */
import type { EffectPorts } from "#base";
import type { Judgement, ToolMiddleware } from "#engine";
import { createGate, createLedger } from "#governance";
import { createSystemClock } from "#world";

export const ALLOWED: Judgement = { effect: "allow", by: "test", why: "the test says so", trail: [] };

const policyVersion = () => "test";

export function createUnwrittenLedger(): ToolMiddleware {
  const bus = { publish: async () => undefined, publishSoon: async () => undefined };
  return createLedger({ bus, clock: createSystemClock(), policyVersion });
}

export function createOpenGate(ports: EffectPorts): ToolMiddleware {
  return createGate({
    ports,
    clock: createSystemClock(),
    policyVersion,
    judgeEffect: async () => ({ confinement: "workspace" }),
    isJudgedWhole: () => true,
    onNetwork: () => undefined,
    onRecall: () => undefined,
  });
}
