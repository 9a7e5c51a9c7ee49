/**
 * What the events of all sessions say about the program: lines for its log, and how its parts are, for health. A fold over events
 * that are durable and clean already; it keeps the last of each, and changes nothing.
 */
import { defined } from "#base";
import type { Plugin } from "#engine";
import type { OperationLog } from "#logs";
import type { Event, EventOf } from "#protocol";

/** Providers that are remembered; more than anybody configures. */
const MAX_PROVIDERS = 64;

export interface EventWatch {
  readonly plugin: Plugin;
  /** What the last command of a session ran in; absent before the first. */
  sandbox(): { readonly active: boolean; readonly mode: string; readonly detail: string } | undefined;
  /** What MCP servers print and do. */
  readonly serverLog: (level: "debug" | "info" | "warn" | "error", text: string) => void;
  /** By provider: how its last call ended. */
  providers(): Readonly<Record<string, ProviderSeen>>;
}

export interface ProviderSeen {
  readonly state: "ok" | "failing";
  readonly last: string;
  readonly failures: number;
  /** The reason of the last failure. */
  readonly reason?: string;
}

export function watchEvents(log: OperationLog): EventWatch {
  const engine = log.of("engine");
  const multiplex = log.of("multiplex");
  const providers = new Map<string, ProviderSeen>();
  let sandbox: ReturnType<EventWatch["sandbox"]>;
  /** The model of the turn that runs in each session. */
  const models = new Map<string, string>();

  function seen(provider: string, ts: string, reason?: string): void {
    const before = providers.get(provider);
    if (before === undefined && providers.size >= MAX_PROVIDERS) return;
    providers.set(provider, {
      state: reason === undefined ? "ok" : "failing",
      last: ts,
      failures: (before?.failures ?? 0) + (reason === undefined ? 0 : 1),
      ...defined({ reason }),
    });
  }

  function take(event: Event): void {
    const { session, ts } = event;
    switch (event.kind) {
      case "SessionStarted":
        engine.info("session opened", { session, model: event.payload.model });
        break;
      case "SessionEnded":
        models.delete(session);
        engine.info("session ended", { session, reason: event.payload.reason });
        break;
      case "TurnStarted":
        models.set(session, event.payload.model);
        engine.info("turn began", { session, turn: event.payload.turn, model: event.payload.model });
        break;
      case "TurnEnded": {
        const { turn, outcome, reason, steps, duration_ms } = event.payload;
        models.delete(session);
        const level = outcome === "answered" ? "info" : "warn";
        engine[level]("turn ended", { session, turn, outcome, reason, steps, duration_ms });
        break;
      }
      case "CostIncremented":
        seen(event.payload.provider, ts);
        break;
      case "ModelChanged":
        models.set(session, event.payload.model);
        engine.info("model changed", { session, model: event.payload.model, previous: event.payload.previous });
        break;
      case "SandboxStatus": {
        const { active, mode, detail } = event.payload;
        sandbox = { active, mode, detail };
        log.of("sandbox")[active ? "debug" : "warn"]("commands run", { session, active, mode, detail });
        break;
      }
      case "OrphanedCall":
        engine.warn("a call was cut off", { session, call: event.payload.call_id, tool: event.payload.name });
        break;
      case "ModelWaiting": {
        const { turn, step, waited_ms, left_ms } = event.payload;
        const fields = { session, turn, step, waited_ms, left_ms };
        log.of(`provider.${providerOf(models.get(session))}`).info("waiting for the model", fields);
        break;
      }
      case "Error":
        takeError(event);
        break;
      default:
        multiplex.trace("event", { session, kind: event.kind, id: event.id });
        break;
    }
  }

  function takeError({ session, ts, payload }: EventOf<"Error">): void {
    const { reason, message, terminal, turn, retry_after_ms } = payload;
    const fields = { session, turn, reason, message, terminal, retry_after_ms };
    const level = terminal ? "error" : "warn";
    if (!isProviderReason(reason)) {
      engine[level]("error", fields);
      return;
    }
    const provider = providerOf(models.get(session));
    seen(provider, ts, reason);
    log.of(`provider.${provider}`)[level]("call failed", fields);
  }

  return {
    plugin: { name: "log", register: (host) => host.onEvent(take) },
    serverLog: (level, text) => log.of("mcpclient")[level](text),
    sandbox: () => sandbox,
    providers: () => Object.fromEntries(providers),
  };
}

function providerOf(model: string | undefined): string {
  return /^[^:]+/.exec(model ?? "")?.[0] ?? "unknown";
}

const PROVIDER_REASONS = new Set(["RateLimited", "ContentFiltered", "ContextOverflow", "UnknownFinishReason"]);

function isProviderReason(reason: string): boolean {
  return /^(?:Provider|Credential)/.test(reason) || PROVIDER_REASONS.has(reason);
}
