/**
 * Asks the hooks of a lifecycle event in their order and composes what they say: the first block wins, a modify is what the
 * next one sees, with the fields that it does not name as they were. A guard that cannot do its work blocks. What was said is on the record before anything is done about it.
 */
import {
  type Confinement,
  cutAtBlank,
  defined,
  EffectError,
  type EffectPorts,
  messageOf,
  type WebPost,
  type WebRequest,
} from "#base";
import {
  type Attributes,
  changedPayload,
  type EventBus,
  type Hook,
  type HookCall,
  type HookContext,
  type HookDecision,
  type HookDispatcher,
  HookFailed,
  type HookPermission,
  type HookPoint,
  type HookRun,
  type HookSource,
  HookTimedOut,
  type HookVerdict,
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
  /** Where commands of shell hooks run; rejects where they cannot. Absent: there are none. */
  readonly confinement?: () => Promise<Confinement>;
}

interface HookTicket {
  open: boolean;
  /** The one whose turn it is: hooks of a dispatch are asked one after the other. */
  asked: Hook | undefined;
}

interface HookBinding extends Pick<HookDispatchOptions, "ports" | "bus" | "confinement"> {
  readonly event: string;
  readonly at: HookPoint;
  readonly ticket: HookTicket;
}

type Asked = EventPayload<"HooksAsked">["decisions"][number];

type Answer =
  | { readonly decision: HookDecision }
  /** It raised, timed out or made no sense; `unusable`: it wanted something changed, and nobody can tell what. */
  | { readonly failed: string; readonly timeoutMs?: number; readonly unusable?: true; readonly ran?: HookRun };

/** What the hooks of one dispatch have said besides their decisions. */
class Remarks {
  readonly context: HookContext[] = [];
  permission: HookPermission | undefined;
  endsTurn: { readonly hook: string; readonly reason: string } | undefined;

  add({ name: hook, source }: Hook, { context, permission, endsTurn }: HookDecision): void {
    if (context !== undefined && context.trim() !== "") this.context.push({ hook, source, text: context });
    if (permission !== undefined && this.permission?.effect !== "ask")
      this.permission = { ...permission, hook, source };
    if (endsTurn !== undefined) this.endsTurn ??= { hook, reason: endsTurn };
  }

  all(): Pick<Extract<HookVerdict, { blocked: false }>, "context" | "permission" | "endsTurn"> {
    const { context, permission, endsTurn } = this;
    return { ...(context.length > 0 && { context }), ...defined({ permission, endsTurn }) };
  }
}

export function createHookDispatcher(options: HookDispatchOptions): HookDispatcher {
  const { source, bus, ports, monotonicMs, confinement } = options;
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
      if (error instanceof HookFailed) return { failed: messageOf(error), ran: error.ran };
      if (!(error instanceof HookTimedOut)) return { failed: messageOf(error) };
      const { timeoutMs } = error;
      const values = { event: hook.writtenEvent ?? hook.event, cmd: hook.name, timeout: timeoutMs / 1000 };
      return { failed: `${reasonText("HookTimeout", values)} (${messageOf(error)})`, timeoutMs };
    }
  }

  return {
    idle: (event) => source.hooks(event).length === 0,
    async dispatch(event, given, at, changes) {
      const decisions: Asked[] = [];
      const attributes = new Map<string, string | number | boolean>();
      let payload = given;
      const remarks = new Remarks();
      let stoppedBy: { hook: Hook; reason: string; failed?: true; endsTurn?: true } | undefined;
      const ticket: HookTicket = { open: true, asked: undefined };
      let bound: HookCall["ports"] | undefined;
      let call: HookCall = {
        ...at,
        event,
        payload,
        get ports() {
          bound ??= bindForHook({ ports, bus, event, at, ticket, ...defined({ confinement }) });
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
          const reason = tellFailed(bus, at, hook, answer);
          if (reason !== undefined) {
            stoppedBy = { hook, reason, failed: true };
            break;
          }
          continue;
        }
        remarks.add(hook, answer.decision);
        if (answer.decision.action === "block") {
          const { reason, endsTurn } = answer.decision;
          stoppedBy = { hook, reason, ...(endsTurn === undefined ? {} : { endsTurn: true }) };
          break;
        }
        if (answer.decision.action === "modify") {
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
      return { blocked: false, payload, attributes: Object.fromEntries(attributes), ...remarks.all() };
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
  const ran = "failed" in answer ? answer.ran : answer.decision.ran;
  const said = { hook: hook.name, source: hook.source, duration_ms, ...defined({ ran: ran && receiptOf(ran) }) };
  if ("failed" in answer) return { ...said, action: "failed", reason: cutAtBlank(answer.failed, REASON_CHARS) };
  const { decision } = answer;
  const { permission, message } = decision;
  const remarks = {
    ...defined({ permission: permission?.effect }),
    ...(message === undefined ? {} : { message: cutAtBlank(message, REASON_CHARS) }),
  };
  if (decision.action !== "block") return { ...said, ...remarks, action: decision.action };
  return { ...said, ...remarks, action: "block", reason: cutAtBlank(decision.reason, REASON_CHARS) };
}

function receiptOf({ exitCode, signal, outputHash, truncated }: HookRun): Asked["ran"] {
  return {
    exit_code: exitCode,
    output_hash: outputHash,
    ...(signal !== null && { signal }),
    ...defined({ truncated }),
  };
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

/** Why what was asked about may not happen; undefined where a failure is a warning. */
function tellFailed(
  bus: HookDispatchOptions["bus"],
  at: HookPoint,
  hook: Hook,
  answer: Extract<Answer, { failed: string }>,
): string | undefined {
  if (answer.timeoutMs === undefined) tellFailure(bus, at, hook, answer);
  else tellTimeout(bus, at, hook, answer.timeoutMs);
  // A result that was to be changed does not pass unchanged.
  const isBlocking = hook.onError === "block" || (answer.unusable && hook.event.endsWith(".post"));
  return isBlocking ? `the hook failed, and Harness blocks the call if a guard fails: ${answer.failed}` : undefined;
}

function tellFailure(
  bus: HookDispatchOptions["bus"],
  { turn }: HookPoint,
  hook: Hook,
  { failed, ran }: Extract<Answer, { failed: string }>,
): void {
  note(bus, "HookError", {
    ...defined({ turn, exit_code: ran?.exitCode ?? undefined }),
    hook: hook.name,
    event: hook.writtenEvent ?? hook.event,
    message: cutAtBlank(failed, REASON_CHARS),
  });
}

function tellTimeout(bus: HookDispatchOptions["bus"], { turn }: HookPoint, hook: Hook, timeout_ms: number): void {
  const where = turn === undefined ? {} : { turn };
  note(bus, "HookTimeout", { ...where, hook: hook.name, event: hook.writtenEvent ?? hook.event, timeout_ms });
}

/** What a hook may reach, while it is asked and no longer. What it sends is on the record before it goes out. */
function bindForHook(binding: HookBinding): HookCall["ports"] {
  const { bus, event, at, ticket, confinement } = binding;
  const { files, web, processes } = binding.ports;
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
  async function intendEffect(
    effect: Pick<EventPayload<"HookIntent">, "port" | "target" | "confinement">,
  ): Promise<void> {
    check();
    const { asked } = ticket;
    if (asked === undefined) throw new EffectError("AccessDenied", "no hook is asked");
    const intent = { event, hook: asked.name, source: asked.source, ...effect };
    await bus.publish("HookIntent", { ...where, ...defined({ step }), ...intent });
    check();
  }
  const intend = (url: string): Promise<void> => intendEffect({ port: "connect", target: hostOf(url) });
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
    processes: {
      async run(program, signal) {
        check();
        if (ticket.asked?.isProgram !== true || confinement === undefined) {
          throw new EffectError("AccessDenied", "only a shell hook starts a program, and only its own");
        }
        const held = await confinement();
        await intendEffect({ port: "process", target: program.args.at(-1) ?? program.file, confinement: held });
        return processes.run({ ...program, confinement: held }, signal);
      },
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
