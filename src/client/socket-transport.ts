/**
 * Web sockets: one for commands, and one for each loop over the events of a session, so that a loop that is slow holds up no answer.
 * Reads that have no frame (lists, pages of the log) go over HTTP to the same server.
 */
import type { ClientId, Event, Handshake, SessionId } from "#protocol";
import { createFrameSocket, type FrameSocket } from "./frame-socket.ts";
import { createHttpTransport, type HttpTransportOptions } from "./http-transport.ts";
import { createMailbox } from "./mailbox.ts";
import type { SocketPort } from "./socket-port.ts";
import type { Transport } from "./transport.ts";
import { eventFrom, replyFrom } from "./wire-shapes.ts";

export interface SocketTransportOptions extends HttpTransportOptions {
  readonly sockets: SocketPort;
}

export function createSocketTransport(options: SocketTransportOptions): Transport {
  const { sockets, token, clock } = options;
  const reads = createHttpTransport(options);
  const { address } = reads;
  /** The socket of commands: the one that is there, or the next. */
  let commands: Promise<FrameSocket> | undefined;
  let clientId: ClientId | undefined;

  async function open(
    path: string,
    signal: AbortSignal,
    onEvent: (event: unknown, bytes: number) => void,
  ): Promise<FrameSocket> {
    const presented = await token.read();
    try {
      return await createFrameSocket({ sockets, address, path, token: presented.text, signal, clock, onEvent });
    } catch (error) {
      // Over HTTP the same server says what it has against us; a token that it refuses there is left as well.
      if (sockets.isOpaque && !signal.aborted) await reads.shakeHands(signal);
      if (presented.refused(error)) return open(path, signal, onEvent);
      throw error;
    }
  }

  function commandSocket(signal: AbortSignal): Promise<FrameSocket> {
    const known = commands;
    if (known !== undefined) return known;
    const opened = open("/v1/ws", signal, () => undefined);
    commands = opened;
    const forget = (): void => {
      if (commands === opened) commands = undefined;
    };
    opened.then(({ closed, handshake }) => {
      clientId = handshake.client;
      void closed.then(forget);
    }, forget);
    return opened;
  }

  async function* events(id: SessionId, since: number, signal: AbortSignal, onOpen: () => void): AsyncGenerator<Event> {
    const mailbox = createMailbox();
    const path = `/v1/ws?session=${id}&lastEventId=${since}`;
    const socket = await open(path, signal, (event, bytes) => mailbox.push(eventFrom(event, address), bytes));
    onOpen();
    void socket.closed.then((error) => mailbox.end(signal.aborted ? undefined : error));
    try {
      yield* mailbox.take();
    } finally {
      socket.close();
    }
  }

  return {
    ...reads,
    clientId: () => clientId,
    events,
    async shakeHands(signal): Promise<Handshake> {
      return (await commandSocket(signal)).handshake;
    },
    async submit(command, signal) {
      const socket = await commandSocket(signal);
      const reply = await socket.submit(command, signal);
      // Whoever makes a session is told of its events, which the loops get on sockets of their own.
      if (command.kind === "CreateSession") {
        const { session } = await replyFrom("CreateSession", reply, address);
        await socket.submit({ kind: "DetachSession", session }, signal);
      }
      return reply;
    },
    async close() {
      const socket = await commands?.catch(() => undefined);
      socket?.close();
    },
  };
}
