/**
 * The engine as a transport of a plugin reaches it: a peer presents a token, and each of its commands is held against that token as it
 * is then. The transport itself has no rights: without a token it can neither submit nor hear anything.
 */
import { type Clock, defined } from "#base";
import type { ServedClient, ServedEngine, ServedPeer } from "#engine";
import { ReasonError } from "#protocol";
import { parseCommand, wireReply } from "#protocol/schemas";
import {
  answerHandshake,
  asReasonError,
  authorize,
  cleanReason,
  createStreams,
  defaultLimits,
  type HttpBackend,
  heldTo,
  requireClaims,
} from "#transports/http";
import type { DaemonAccess } from "./access.ts";
import type { DaemonObserver } from "./observer.ts";

/** What a daemon puts every wire on. */
export interface Served {
  readonly backend: HttpBackend;
  readonly access: DaemonAccess;
  readonly clock: Clock;
  readonly observer: DaemonObserver;
  /** Origins of pages that may use the server. */
  readonly allowedOrigins: readonly string[];
}

export interface ServedEngines {
  /** For one wire of a plugin. */
  readonly engine: ServedEngine;
  /** Ends every connection. */
  close(): void;
}

export function serveEngine({ backend, access, clock, observer }: Served): ServedEngines {
  const { control, store, replayed, clean, cleanValue } = backend;
  const { authenticate } = access;
  const limits = defaultLimits;
  const streams = createStreams(clock, limits, access, observer);
  const told = (cause: unknown): ReasonError => cleanReason(asReasonError(cause), clean);

  async function connect(peer: ServedPeer): Promise<ServedClient> {
    const { token, address, source } = peer;
    const presented = { token, channel: address.kind, source };
    observer.asked();
    const claims = await requireClaims(authenticate, presented);
    const handshake = answerHandshake(peer.protocolVersion, ["plugin"]);
    let unanswered = 0;
    let isOver = false;
    const client = control.connect({
      identityClass: claims.identity_class,
      interactive: true,
      transport: "plugin",
      ...heldTo(claims),
      replayed,
      onEvent: (event) => peer.onEvent(event),
      ...defined({ name: peer.name, ready: peer.ready }),
    });

    function end(refusal?: ReasonError): void {
      if (isOver) return;
      isOver = true;
      remove();
      client.disconnect();
      if (refusal !== undefined) peer.onEnd({ reason: refusal.reason, message: told(refusal).message });
    }
    const remove = streams.add({
      presented,
      claims,
      // Whether the peer is still there is the transport's to know.
      beat: () => true,
      tell: () => false,
      end,
      cut: () => end(new ReasonError("ShuttingDown")),
    });

    async function carryOut(raw: unknown): Promise<unknown> {
      if (isOver) throw new ReasonError("ShuttingDown");
      if (unanswered >= limits.unansweredFrames) throw new ReasonError("Overloaded");
      observer.asked();
      unanswered += 1;
      try {
        const now = await requireClaims(authenticate, presented);
        const command = parseCommand(raw);
        authorize(now, command);
        if (command.kind === "AttachSession" && control.session(command.session) === undefined) {
          const { session } = command;
          if ((await store.get(session)) === undefined) throw new ReasonError("SessionNotFound", { session });
          await control.prepare(session);
        }
        return cleanValue(wireReply(command.kind, await client.submit(command)));
      } finally {
        unanswered -= 1;
      }
    }

    return {
      handshake: { ...handshake, client: client.id },
      submit: (command) => carryOut(command).catch((cause: unknown) => Promise.reject(told(cause))),
      close: () => end(),
    };
  }

  return {
    engine: { connect: (peer) => connect(peer).catch((cause: unknown) => Promise.reject(told(cause))) },
    close() {
      streams.endAll(new ReasonError("ShuttingDown"));
      streams.close();
    },
  };
}
