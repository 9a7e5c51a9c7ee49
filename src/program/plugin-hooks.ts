/** A hook of a plugin as one of the engine: asked with a copy, within its time, and a guard whatever it says. */
import { canonicalEvent } from "#artifacts";
import { type Clock, isRecord, withinTime } from "#base";
import { type Hook, type HookCall, type HookDecision, HookTimedOut, type PluginHook } from "#engine";

const DEFAULT_TIMEOUT_MS = 10_000;

/** Throws when there is no such event. */
export function engineHook(plugin: string, hook: PluginHook, clock: Pick<Clock, "sleep">): Hook {
  const { name, priority = 0, timeoutMs = DEFAULT_TIMEOUT_MS } = hook;
  const event = canonicalEvent(hook.event);
  if (event === undefined) throw new Error(`the hook '${name}' is for '${hook.event}', which is not a hook event`);
  const late = (): Error => new HookTimedOut(`the hook '${name}' of the plugin ${plugin} did not answer`, timeoutMs);
  return {
    name,
    event,
    source: `plugin ${plugin}`,
    tier: "project",
    priority,
    onError: "block",
    matches: () => true,
    async handle(call) {
      return decisionOf(await withinTime(clock, timeoutMs, () => hook.handle(copyOf(call)), late));
    },
  };
}

/** What a hook does to its copy changes nothing. Not a spread: that would bind ports that the hook may never ask for. */
function copyOf(call: HookCall): HookCall {
  return Object.create(call, { payload: { value: structuredClone(call.payload), enumerable: true } });
}

/** A plugin has no types to us. What it changes is a copy as well: it may keep and change what it gave. */
function decisionOf(answer: unknown): HookDecision {
  if (isRecord(answer)) {
    const { action, reason, payload } = answer;
    if (action === "allow") return { action };
    if (action === "block" && typeof reason === "string") return { action, reason };
    if (action === "modify" && "payload" in answer) return { action, payload: structuredClone(payload) };
  }
  throw new Error("it answered neither allow, nor block with a reason, nor modify with a payload");
}
