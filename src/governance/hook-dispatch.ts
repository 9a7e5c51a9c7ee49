/**
 * Asks the hooks of a lifecycle event in their order and composes what they say: the first block wins, a modify is what the
 * next one sees, with the fields that it does not name as they were. A guard that cannot do its work blocks. What was said is on the record before anything is done about it.
 */
import { cutAtBlank, defined, EffectError, type EffectPorts, messageOf, type WebPost, type WebRequest } from "#base";
import {
  type Attributes,
  changedPayload,
  type EventBus,
  type Hook,
  type HookCall,
  type HookDecision,
  type HookDispatcher,
  type HookPoint,
  type HookSource,
  HookTimedOut,
  note,
  type PayloadChanges,
} from "#engine";
import { type EventPayload, reasonText } from "#protocol";
import { hostOf, recorded } from "./network-record.ts";

/** Attributes that the hooks of one dispatch may add; what comes beyond is left out. */
const MAX_ATTRIBUTES = 64;
const REASON_CHARS = 2000;

export interface HookDispatchOptions {
  readonly source: HookSource;
  readonly bus: Pick<EventBus, "publish" | "publishSoon">;
  readonly ports: EffectPorts;
  readonly monotonicMs: () => number;
}

interface HookTicket {
  open: boolean;
  /** The one whose turn it is: hooks of a dispatch are asked one after the other. */
  asked: Hook | undefined;
}

interface HookBinding extends Pick<HookDispatchOptions, "ports" | "bus"> {
  readonly event: string;
  readonly at: HookPoint;
  readonly ticket: HookTicket;
}

type Asked = EventPayload<"HooksAsked">["decisions"][number];

type Answer =
  | { readonly decision: HookDecision }
  /** It raised, timed out or made no sense; `unusable`: it wanted something changed, and nobody can tell what. */
  | { readonly failed: string; readonly timeoutMs?: number; readonly unusable?: true };

export function createHookDispatcher({ source, bus, ports, monotonicMs }: HookDispatchOptions): HookDispatcher {
  async function ask(hook: Hook, call: HookCall, changes: PayloadChanges | undefined): Promise<Answer> {
    try {
      const answer = hook.handle(call);
      const decision = answer instanceof Promise ? await answer : answer;
      if (decision.action !== "modify") return { decision };
      try {
        return { decision: { ...decision, payload: changedPayload(call.payload, decision.payload, changes) } };
      } catch (error) {
        return { failed: messageOf(error), unusable: true };
      }
    } catch (error) {
      if (!(error instanceof HookTimedOut)) return { failed: messageOf(error) };
      const { timeoutMs } = error;
      const values = { event: hook.event, cmd: hook.name, timeout: timeoutMs / 1000 };
      return { failed: `${reasonText("HookTimeout", values)} (${messageOf(error)})`, timeoutMs };
    }
  }

  return {
    idle: (event) => source.hooks(event).length === 0,
    async dispatch(event, given, at, changes) {
      const decisions: Asked[] = [];
      const attributes = new Map<string, string | number | boolean>();
      let payload = given;
      let stoppedBy: { hook: Hook; reason: string; failed?: true } | undefined;
      const ticket: HookTicket = { open: true, asked: undefined };
      let bound: HookCall["ports"] | undefined;
      let call: HookCall = {
        ...at,
        event,
        payload,
        get ports() {
          bound ??= bindForHook({ ports, bus, event, at, ticket });
          return bound;
        },
        annotate: (added) => keep(attributes, added),
      };
      let changedBelow = false;
      for (const hook of inTurn(source.hooks(event), () => changedBelow)) {
        const startMs = monotonicMs();
        let answer: Answer;
        try {
          if (!hook.matches(call)) continue;
          ticket.asked = hook;
          answer = await ask(hook, call, changes);
        } catch (error) {
          answer = { failed: `its when: failed: ${messageOf(error)}` };
        }
        const asked = describe(hook, answer, monotonicMs() - startMs);
        decisions.push(asked);
        if ("failed" in answer) {
          if (answer.timeoutMs === undefined) tellFailure(bus, at, hook, answer.failed);
          else tellTimeout(bus, at, hook, answer.timeoutMs);
          // A result that was to be changed does not pass unchanged.
          if (hook.onError === "block" || (answer.unusable && hook.event.endsWith(".post"))) {
            stoppedBy = {
              hook,
              reason: `the hook failed, and Harness blocks the call if a guard fails: ${answer.failed}`,
              failed: true,
            };
            break;
          }
        } else if (answer.decision.action === "block") {
          stoppedBy = { hook, reason: answer.decision.reason };
          break;
        } else if (answer.decision.action === "modify") {
          payload = answer.decision.payload;
          call = withPayload(call, payload);
          changedBelow ||= hook.tier !== "admin";
        }
      }
      ticket.open = false;
      if (decisions.length > 0) record(bus, event, at, decisions, stoppedBy !== undefined, attributes);
      if (stoppedBy !== undefined) {
        const { hook, ...why } = stoppedBy;
        return { blocked: true, ...why, hook: hook.name, source: hook.source };
      }
      return { blocked: false, payload, attributes: Object.fromEntries(attributes) };
    },
  };
}

/** Those of the admin policy are asked first, and once more when others have changed what they had seen. */
function inTurn(hooks: readonly Hook[], changedBelow: () => boolean): Iterable<Hook> {
  const ofAdmin = hooks.filter(({ tier }) => tier === "admin");
  if (ofAdmin.length === 0 || ofAdmin.length === hooks.length) return hooks;
  return (function* () {
    yield* hooks;
    if (changedBelow()) yield* ofAdmin;
  })();
}

/** Not a spread: that would bind the ports of a hook that may never ask for them. */
function withPayload(call: HookCall, payload: unknown): HookCall {
  return Object.create(call, { payload: { value: payload, enumerable: true } });
}

function describe(hook: Hook, answer: Answer, duration_ms: number): Asked {
  const said = { hook: hook.name, source: hook.source, duration_ms };
  if ("failed" in answer) return { ...said, action: "failed", reason: cutAtBlank(answer.failed, REASON_CHARS) };
  const { decision } = answer;
  if (decision.action !== "block") return { ...said, action: decision.action };
  return { ...said, action: "block", reason: cutAtBlank(decision.reason, REASON_CHARS) };
}

function record(
  bus: HookDispatchOptions["bus"],
  event: string,
  { turn, step, callId, depth }: HookPoint,
  decisions: Asked[],
  blocked: boolean,
  attributes: ReadonlyMap<string, string | number | boolean>,
): void {
  note(bus, "HooksAsked", {
    ...defined({ turn, step, call_id: callId }),
    event,
    depth,
    decisions,
    blocked,
    ...(attributes.size === 0 ? {} : { attrs: Object.fromEntries(attributes) }),
  });
}

function tellFailure(bus: HookDispatchOptions["bus"], { turn }: HookPoint, hook: Hook, message: string): void {
  note(bus, "HookError", {
    ...defined({ turn }),
    hook: hook.name,
    event: hook.event,
    message: cutAtBlank(message, REASON_CHARS),
  });
}

function tellTimeout(bus: HookDispatchOptions["bus"], { turn }: HookPoint, hook: Hook, timeout_ms: number): void {
  const where = turn === undefined ? {} : { turn };
  note(bus, "HookTimeout", { ...where, hook: hook.name, event: hook.event, timeout_ms });
}

/** What a hook may reach, while it is asked and no longer. What it sends is on the record before it goes out. */
function bindForHook({ ports: { files, web }, bus, event, at, ticket }: HookBinding): HookCall["ports"] {
  const { turn, step, callId } = at;
  const where = { ...defined({ turn, call_id: callId }) };
  function check(): void {
    if (!ticket.open) throw new EffectError("AccessDenied", "the hook has answered; its ports are closed");
    if (at.signal.aborted) throw new EffectError("Cancelled", "the turn was cancelled");
  }
  const whileOpen =
    <Args extends unknown[], Result>(effect: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      check();
      return effect(...args);
    };
  async function intend(url: string): Promise<void> {
    check();
    const { asked } = ticket;
    if (asked === undefined) throw new EffectError("AccessDenied", "no hook is asked");
    const intent = { event, hook: asked.name, source: asked.source, port: "connect", target: hostOf(url) } as const;
    await bus.publish("HookIntent", { ...where, ...defined({ step }), ...intent });
    check();
  }
  async function connect<Request extends WebRequest | WebPost, Response>(
    request: Request,
    send: (request: Request) => Promise<Response>,
  ): Promise<Response> {
    await intend(request.url);
    return recorded(request, send, intend, (judged) => note(bus, "NetworkJudged", { ...where, ...judged }));
  }
  return {
    files: {
      root: files.root,
      locate: whileOpen((path) => files.locate(path)),
      stat: whileOpen((path) => files.stat(path)),
      read: whileOpen((path, maxBytes) => files.read(path, maxBytes)),
      list: whileOpen((path) => files.list(path)),
    },
    web: {
      get: (request, signal) => connect(request, (judged) => web.get(judged, signal)),
      post: (request, signal) => connect(request, (judged) => web.post(judged, signal)),
    },
  };
}

function keep(attributes: Map<string, string | number | boolean>, added: Attributes): void {
  for (const [name, value] of Object.entries(added)) {
    if (attributes.has(name) || attributes.size < MAX_ATTRIBUTES) attributes.set(name, value);
  }
}
