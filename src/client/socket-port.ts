/** One web socket as the host opens it. */

export interface SocketHandlers {
  onOpen(): void;
  onMessage(text: string, bytes: number): void;
  /** A sign of life that is no message. */
  onBeat(): void;
  /** The server did not take the connection: the status and the body of its answer. */
  onRefused(status: number, body: string): void;
  /** It ended, or never began. May come more than once. */
  onEnd(cause: Error): void;
}

export interface OpenedSocket {
  isOpen(): boolean;
  send(text: string): void;
  /** Ends it at once. */
  cut(): void;
}

export interface SocketPort {
  open(path: string, token: string, handlers: SocketHandlers): OpenedSocket;
  /** Browsers show neither why a server refused a connection nor its heartbeat. */
  readonly isOpaque: boolean;
}

/** One message is no larger. */
export const FRAME_MAX_BYTES = 64 * 1024 * 1024;
