/**
 * JSON-RPC on the pipes of a program that is started for this client. Its end is the end of the connection, and the next try starts
 * it anew: what it had written to its log is there. What was told and not taken is read from the log, a page at a time.
 */
import { type Clock, defined, isRecord } from "#base";
import {
  asCommand,
  type CallId,
  type ClientId,
  type Command,
  type Event,
  type Handshake,
  ReasonError,
  type SessionId,
} from "#protocol";
import { createMailbox, type Mailbox } from "./mailbox.ts";
import { createRpcPeer, type RpcPeer, type StartProcess } from "./rpc-peer.ts";
import type { LogPage, Transport } from "./transport.ts";
import {
  eventFrom,
  handshakeFrom,
  lastOf,
  replyFrom,
  sessionIdFrom,
  sessionInfoFrom,
  slashCommandsFrom,
} from "./wire-shapes.ts";

/** Events that are asked for at a time. */
const PAGE = 500;

export interface RpcTransportOptions {
  /** For messages. */
  readonly address: string;
  readonly start: StartProcess;
  readonly clock: Pick<Clock, "sleep">;
}

export function createRpcTransport({ address, start, clock }: RpcTransportOptions): Transport {
  const mailboxes = new Map<SessionId, Set<Mailbox>>();
  /** Calls of delegates that somebody was asked about and that have not ended. */
  const delegateCalls = new Set<CallId>();
  let clientId: ClientId | undefined;
  let peer: { readonly rpc: RpcPeer; readonly handshake: Promise<Handshake> } | undefined;

  /** The program that runs, or the next one. */
  function connected(signal: AbortSignal): { readonly rpc: RpcPeer; readonly handshake: Promise<Handshake> } {
    if (peer !== undefined) return peer;
    const rpc = createRpcPeer({ address, start, clock, onNotification: tell, onEnd: forget });
    const handshake = rpc.request("initialize", { clientInfo: { name: "harness-client" }, view: "events" }, signal);
    const mine = { rpc, handshake: handshake.then(handshakeOf) };
    mine.handshake.catch(() => undefined); // whoever asks next is told
    peer = mine;
    return mine;

    function forget(error: unknown): void {
      if (peer === mine) peer = undefined;
      delegateCalls.clear();
      for (const [, boxes] of mailboxes) for (const box of boxes) box.end(error);
    }
  }

  function handshakeOf(answer: unknown): Handshake {
    const handshake = handshakeFrom(isRecord(answer) ? answer.handshake : undefined, address);
    clientId = handshake.client;
    return handshake;
  }

  function tell(method: string, params: Readonly<Record<string, unknown>>, bytes: number): void {
    const { threadId, event } = params;
    if (method === "thread.event") {
      const told = eventFrom(event, address);
      const own = mailboxes.get(told.session);
      // A question of a delegate has nobody of its own; it is for everybody, as on other wires.
      const hearers = own !== undefined ? [own] : isOfDelegate(told) ? mailboxes.values() : [];
      for (const boxes of hearers) for (const box of boxes) box.push(told, bytes);
    } else if (method === "stream.gap" && typeof threadId === "string") {
      // The loop ends and asks the log.
      for (const [session, boxes] of mailboxes) if (session === threadId) for (const box of boxes) box.end();
    }
  }

  /** A question of a delegate, or what became of one. */
  function isOfDelegate(event: Event): boolean {
    switch (event.kind) {
      case "PermissionRequested":
      case "QuestionAsked":
      case "AckRequested":
        if (event.payload.delegate !== undefined) delegateCalls.add(event.payload.call_id);
        return event.payload.delegate !== undefined;
      case "PermissionAnswered":
      case "QuestionAnswered":
        return delegateCalls.has(event.payload.call_id);
      case "AckSettled":
      case "ToolResult":
        return delegateCalls.delete(event.payload.call_id);
      default:
        return false;
    }
  }

  async function ask(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const { rpc, handshake } = connected(signal);
    await handshake;
    return rpc.request(method, params, signal);
  }

  async function log(id: SessionId, { after, limit }: LogPage, signal: AbortSignal): Promise<readonly Event[]> {
    const answer = await ask("thread.get", { threadId: id, after, limit }, signal);
    const list = isRecord(answer) && Array.isArray(answer.events) ? (answer.events as unknown[]) : [];
    return list.map((one) => eventFrom(one, address));
  }

  async function* events(id: SessionId, since: number, signal: AbortSignal, onOpen: () => void): AsyncGenerator<Event> {
    const mailbox = createMailbox();
    const boxes = mailboxes.get(id) ?? new Set();
    mailboxes.set(id, boxes.add(mailbox));
    const stop = (): void => mailbox.end();
    signal.addEventListener("abort", stop, { once: true });
    try {
      let last = since;
      const nextPage = async (): Promise<readonly Event[]> => {
        const page = await log(id, { after: last, limit: PAGE }, signal);
        last = lastOf(page, last, address);
        return page;
      };
      // What is in the log needs no open session, and opening takes the longer the more there is.
      let page = await nextPage();
      onOpen();
      for (; page.length > 0; page = await nextPage()) yield* page;
      await ask("session.open", { resume: id }, signal);
      for (page = await nextPage(); page.length > 0; page = await nextPage()) yield* page;
      yield* mailbox.take();
    } finally {
      signal.removeEventListener("abort", stop);
      boxes.delete(mailbox);
      if (boxes.size === 0 && mailboxes.get(id) === boxes) mailboxes.delete(id);
    }
  }

  /** What the surface answers, in the words of the protocol. */
  async function answerTo(command: Command, signal: AbortSignal): Promise<unknown> {
    switch (command.kind) {
      case "CreateSession": {
        const { kind: _, ...fields } = command;
        const answer = await ask("session.open", fields, signal);
        return { session: sessionIdFrom(isRecord(answer) ? answer.session : undefined, address) };
      }
      case "SendInput": {
        const { session: threadId, content: input } = command;
        const answer = await ask("turn.start", { threadId, input }, signal);
        return { turn: isRecord(answer) ? answer.turnId : undefined };
      }
      case "CancelTurn":
        return cancel(command.session, signal);
      case "AttachSession":
      case "DetachSession":
        throw new ReasonError("InvalidCommand", `use events() instead of ${command.kind}`);
      default:
        return ask("command.submit", { command }, signal);
    }
  }

  /** Nothing when idle, as the command says; the method is stricter. */
  async function cancel(threadId: SessionId, signal: AbortSignal): Promise<object> {
    try {
      await ask("turn.cancel", { threadId }, signal);
    } catch (error) {
      if (!(error instanceof ReasonError) || error.reason !== "TurnNotFound") throw error;
    }
    return {};
  }

  return {
    address,
    clientId: () => clientId,
    tokenMayChange: false,
    events,
    log,
    submit: async (command, signal) => replyFrom(command.kind, await answerTo(asCommand(command), signal), address),
    shakeHands: (signal) => connected(signal).handshake,
    async sessions({ workingDir, limit }, signal) {
      const answer = await ask("session.list", { working_dir: workingDir, limit }, signal);
      const list = isRecord(answer) && Array.isArray(answer.sessions) ? (answer.sessions as unknown[]) : [];
      return list.map((one) => sessionInfoFrom(one, address));
    },
    async slashCommands(session, signal) {
      const answer = await ask("slash_command.list", defined({ session }), signal);
      return slashCommandsFrom(isRecord(answer) ? answer.slash_commands : undefined, address);
    },
    async session(id, signal) {
      const answer = await ask("session.get", { session: id }, signal);
      return sessionInfoFrom(isRecord(answer) ? answer.session : undefined, address);
    },
    close: async () => peer?.rpc.close(),
  };
}
