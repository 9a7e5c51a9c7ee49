/** A hook artifact as a hook of the engine. Where its script waits for nothing, asking it makes no promise. */
import type { HookArtifact } from "#artifacts";
import { type Hook, type HookCall, type HookDecision, HookTimedOut } from "#engine";
import { StarlarkError, type Value } from "#starlark";
import { isRecord, typeName } from "./arguments.ts";
import { attributesOf } from "./builtins/annotate.ts";
import { type CompiledScript, compileScript } from "./compiled-script.ts";
import { compileCondition } from "./condition.ts";
import { jsonData } from "./json-data.ts";
import { linkedSignal } from "./linked-signal.ts";
import { ScriptCall } from "./script-call.ts";
import { placedError } from "./script-error.ts";
import type { ScriptServices } from "./services.ts";

const SYNC_TIMEOUT_MS = 100;
const ASYNC_TIMEOUT_MS = 5_000;
const MAX_STEPS = 1_000_000;
const MAX_ALLOC_BYTES = 64 * 1024 * 1024;

const ALLOW: HookDecision = { action: "allow" };

export interface HookNames {
  readonly hook: Readonly<Record<string, Value>>;
  readonly condition: Readonly<Record<string, Value>>;
}

/** Throws a StarlarkError when the script or its `when:` does not compile. */
export function hookOf(artifact: HookArtifact, services: ScriptServices, names: HookNames): Hook {
  const { name, event, tier, priority, script, when, place } = artifact;
  const source = `${place.file}:${place.line}`;
  const compiled = script === undefined ? undefined : compileScript(script, "handle", names.hook);
  const condition = when === undefined ? undefined : compileCondition(when, names.condition);
  const timeoutMs = artifact.timeoutMs || (compiled?.program.isAsync === true ? ASYNC_TIMEOUT_MS : SYNC_TIMEOUT_MS);
  return {
    name,
    event,
    source,
    tier,
    priority,
    onError: artifact.onError ?? (isGuarded(event) ? "block" : "allow"),
    matches(call) {
      if (condition === undefined) return true;
      try {
        return condition.test([call.event, call.payload], callOf(call, services, source));
      } catch (error) {
        throw placedError(error, source);
      }
    },
    handle(call) {
      if (compiled === undefined) return ALLOW;
      return ask(compiled, call, callOf(call, services, source), timeoutMs, source);
    },
  };
}

function ask(
  compiled: CompiledScript,
  call: HookCall,
  host: ScriptCall,
  timeoutMs: number,
  source: string,
): HookDecision | Promise<HookDecision> {
  const options = {
    host,
    timeoutMs,
    maxSteps: MAX_STEPS,
    maxAllocBytes: MAX_ALLOC_BYTES,
    print: (line: string) => host.log("info", line),
  };
  const args = [call.event, call.payload];
  if (compiled.program.isAsync) return askAsync(compiled, args, options, call, source);
  try {
    return decisionOf(compiled.runSync(args, options), call);
  } catch (error) {
    throw hookError(error, source, timeoutMs);
  }
}

async function askAsync(
  compiled: CompiledScript,
  args: readonly unknown[],
  options: Parameters<CompiledScript["runSync"]>[1] & { readonly timeoutMs: number },
  call: HookCall,
  source: string,
): Promise<HookDecision> {
  const { signal, end } = linkedSignal(call.signal);
  try {
    return decisionOf(await compiled.run(args, { ...options, signal }), call);
  } catch (error) {
    throw hookError(error, source, options.timeoutMs);
  } finally {
    end();
  }
}

function hookError(error: unknown, source: string, timeoutMs: number): Error {
  const placed = placedError(error, source);
  const timedOut = error instanceof StarlarkError && error.limit === "time";
  return timedOut ? new HookTimedOut(placed.message, timeoutMs, { cause: error }) : placed;
}

function callOf(call: HookCall, services: ScriptServices, source: string): ScriptCall {
  const { session, turn, step, callId, depth, nesting, originator, signal, ports } = call;
  const point = {
    session,
    depth,
    nesting,
    ...(originator !== undefined && { originator }),
    ...(turn !== undefined && { turn }),
    ...(step !== undefined && { step }),
    ...(callId !== undefined && { callId }),
  };
  return new ScriptCall({
    services,
    source,
    point,
    files: ports.files,
    web: ports.web,
    annotate: (attributes) => call.annotate(attributes),
    callTool(name, args, options) {
      if (services.callTool === undefined) throw new Error("hooks cannot call tools here");
      return services.callTool(name, args, { ...point, signal }, options);
    },
  });
}

/** The decision that a script answered with. Throws for anything that is none: a guard that makes no sense is no guard. */
function decisionOf(value: unknown, call: Pick<HookCall, "annotate">): HookDecision {
  if (!isRecord(value)) throw new Error(`handle returned ${typeName(value)}; ${WANTED}`);
  const action = value.action ?? value.decision;
  switch (action) {
    case "allow":
      return ALLOW;
    case "annotate":
      if (!isRecord(value.attributes)) throw new Error('handle returned "annotate" without a dict of attributes');
      call.annotate(attributesOf(value.attributes));
      return ALLOW;
    case "block":
      return { action, reason: reasonOf(value.reason) };
    case "modify":
      if (!Object.hasOwn(value, "payload")) throw new Error('handle returned "modify" without a payload');
      return { action, payload: jsonData(value.payload) };
    default:
      throw new Error(`handle returned a dict whose action is ${JSON.stringify(action ?? null)}; ${WANTED}`);
  }
}

const WANTED = "want allow(), block(reason) or modify(payload)";

function reasonOf(reason: unknown): string {
  if (reason === undefined || reason === null || reason === "") return "blocked without a reason";
  return typeof reason === "string" ? reason : JSON.stringify(jsonData(reason));
}

/** Events on which a hook that fails must block: what it guards would go on without it. */
export function isGuarded(event: string): boolean {
  return (
    event.endsWith(".pre") ||
    event.startsWith("meta.") ||
    event === "agent.start" ||
    event === "turn.start" ||
    event === "delegation.post_verify"
  );
}
