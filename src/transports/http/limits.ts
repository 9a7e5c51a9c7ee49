/** Every bound of the HTTP transport, in one place. What happens at each is said where it is applied. */

export interface HttpLimits {
  /** One request body, and one message of a web socket. */
  readonly bodyBytes: number;
  /** Bodies of all requests that are not complete yet. */
  readonly unfinishedBytes: number;
  readonly headerBytes: number;
  /** From the first byte of a request to its last. */
  readonly requestMs: number;
  readonly headersMs: number;
  readonly keepAliveMs: number;
  readonly connections: number;
  /** Event streams and web sockets together. */
  readonly streams: number;
  readonly heartbeatMs: number;
  /** Between two looks at the tokens of open streams. */
  readonly recheckMs: number;
  /** Heartbeats that a stream may take nothing for before it is cut. */
  readonly stalledBeats: number;
  /** Tokens whose handshake is remembered, and as many clients of theirs. */
  readonly clients: number;
  /** Commands of one web socket that are not answered yet; more are not read. */
  readonly unansweredFrames: number;
  /** Frame ids that one web socket remembers. */
  readonly frameIds: number;
  /** Frames of one web socket that make no sense before it is closed. */
  readonly badFrames: number;
}

export const defaultLimits: HttpLimits = {
  bodyBytes: 8 * 1024 * 1024,
  unfinishedBytes: 64 * 1024 * 1024,
  headerBytes: 16 * 1024,
  requestMs: 30_000,
  headersMs: 10_000,
  keepAliveMs: 30_000,
  connections: 4096,
  streams: 2048,
  heartbeatMs: 30_000,
  recheckMs: 1000,
  stalledBeats: 2,
  clients: 4096,
  unansweredFrames: 64,
  frameIds: 1024,
  badFrames: 20,
};
