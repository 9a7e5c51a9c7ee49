/** The wires over which a server acknowledges commands, as foreign programs speak them; the client library besides. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { request } from "node:http";
import { text as textOf } from "node:stream/consumers";
import WebSocket from "ws";
import { connect } from "#client";
import type { Command, SessionId } from "#protocol";

export const WIRES = ["rest", "ws", "prompt", "client", "rpc"] as const;
export type WireName = (typeof WIRES)[number];

export interface LoggedEvent {
  readonly id: number;
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
  readonly payload: any;
}

/** A command for a session, as far as the campaign knows it. */
export type Sent = { readonly kind: Command["kind"] } & Readonly<Record<string, unknown>>;

export interface Wire {
  /** Resolves with the id of the new session. */
  open(workspace: string): Promise<string>;
  /** Resolves with the acknowledgement; rejects with what it was refused with. */
  submit(session: string, command: Sent): Promise<{ readonly turn?: string }>;
  /** The log as it is now. */
  log(session: string): Promise<readonly LoggedEvent[]>;
  close(): void;
}

/** A wire on which the campaign also looks at what was kept. */
export interface Looker extends Wire {
  /** Rejects when there is no such session. */
  stored(session: string): Promise<{ readonly model: string; readonly state: string }>;
  /** Opens it again. */
  resume(session: string): Promise<void>;
}

export interface Daemon {
  readonly socket: string;
  readonly tokenFile: string;
  readonly token: string;
}

type Ask = (method: string, path: string, body?: unknown) => Promise<Readonly<Record<string, unknown>>>;

export async function connectRest(daemon: Daemon): Promise<Looker> {
  const ask = askOver(daemon);
  await ask("GET", "/v1/handshake");
  return {
    ...routes(ask),
    async stored(session) {
      const { model, state } = await ask("GET", `/v1/sessions/${session}?events=0`);
      return { model: String(model), state: String(state) };
    },
    async resume(session) {
      await ask("POST", "/v1/sessions", { resume: session });
    },
  };
}

function askOver({ socket, token }: Daemon): Ask {
  const headers = { host: "localhost", "x-harness-token": token };
  return (method, path, body) =>
    new Promise((done, failed) => {
      const asked = request({ socketPath: socket, method, path, headers, agent: false }, (response) => {
        textOf(response).then((text) => {
          const json = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
          if ((response.statusCode ?? 500) < 300) done(json);
          else failed(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        }, failed);
      });
      asked.on("error", failed);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

export async function connectWire(name: WireName, daemon: Daemon, rest: Wire): Promise<Wire> {
  switch (name) {
    case "ws":
      return connectSocket(daemon, rest);
    case "client":
      return connectLibrary(daemon, rest);
    case "prompt":
      return plainRoutes(askOver(daemon), rest);
    default:
      return rest;
  }
}

function routes(ask: Ask): Wire {
  return {
    close: () => undefined,
    open: async (working_dir) => String((await ask("POST", "/v1/sessions", { working_dir })).id),
    async log(session) {
      return (await ask("GET", `/v1/sessions/${session}/log?limit=1000`)).events as LoggedEvent[];
    },
    submit(session, { kind, ...fields }) {
      const at = `/v1/sessions/${session}`;
      switch (kind) {
        case "SendInput":
          return ask("POST", `${at}/input`, fields);
        case "QueueInput":
          return ask("POST", `${at}/input?mode=queue`, fields);
        case "SteerTurn":
          return ask("POST", `${at}/input?mode=steer`, fields);
        case "CancelTurn":
          return ask("POST", `${at}/cancel`, {});
        case "AnswerPermission":
          return ask("POST", `${at}/permission`, fields);
        case "SetModel":
          return ask("POST", `${at}/model`, fields);
        case "EnterPlanMode":
          return ask("POST", `${at}/plan-mode`, { active: true });
        case "EndSession":
          return ask("DELETE", at);
        default:
          return ask("POST", `${at}/commands`, { kind, ...fields });
      }
    },
  };
}

/** The small surface, which has two commands. */
function plainRoutes(ask: Ask, rest: Wire): Wire {
  return {
    ...rest,
    submit(session, { kind, content }) {
      if (kind === "CancelTurn") return ask("POST", `/cancel?session=${session}`);
      return ask("POST", `/prompt?session=${session}`, { content: plainText(content) });
    },
  };
}

function plainText(content: unknown): string {
  const [block] = content as readonly { readonly text: string }[];
  return block?.text ?? "";
}

async function connectSocket({ socket, token }: Daemon, rest: Wire): Promise<Wire> {
  const headers = { host: "localhost", "x-harness-token": token };
  const connection = new WebSocket(`ws+unix:${socket}:/v1/ws`, { headers });
  const peer = createPeer((id, { kind, ...fields }) =>
    connection.send(JSON.stringify({ frame: "command", id, body: { kind, ...fields } })),
  );
  await new Promise<void>((resolve, reject) => {
    connection.on("error", reject);
    connection.on("open", () => connection.send('{"frame":"handshake","body":{}}'));
    connection.on("message", (data: Buffer) => {
      const { frame, id, body } = JSON.parse(data.toString());
      if (frame === "handshake") resolve();
      else if (frame === "command") peer.answered(id, body);
      else if (frame === "error") peer.refused(id, JSON.stringify(body));
    });
  });
  return {
    log: rest.log,
    close: () => connection.terminate(),
    open: async (working_dir) => String((await peer.ask({ kind: "CreateSession", working_dir })).session),
    submit: (session, command) => peer.ask({ ...command, session }),
  };
}

async function connectLibrary({ socket, tokenFile }: Daemon, rest: Wire): Promise<Wire> {
  const client = await connect({ socket, tokenFile });
  return {
    log: rest.log,
    close: () => void client.close().catch(() => undefined), // the other end is gone
    open: async (workingDir) => (await client.open({ workingDir })).id,
    // The fields are those of the kind; the campaign is checked by what the server answers.
    submit: async (session, command): Promise<object> => client.session(session as SessionId).submit(command as never),
  };
}

/** `harness rpc`, which is the server and ends with its process. */
export async function connectRpc(child: ChildProcessWithoutNullStreams): Promise<Looker> {
  const peer = createPeer((id, { kind: method, ...params }) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`),
  );
  let rest = "";
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  child.once("close", () => peer.lost(errors));
  child.stdin.on("error", () => undefined); // it was killed
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line);
      if (error !== undefined) peer.refused(id, JSON.stringify(error));
      else if (result !== undefined) peer.answered(id, result);
    }
  });
  await peer.ask({ kind: "initialize" });
  return {
    close: () => undefined,
    async open(directory) {
      const { thread } = await peer.ask({ kind: "thread.create", directory });
      return String(thread.threadId);
    },
    async stored(session) {
      return (await peer.ask({ kind: "session.get", session })).session;
    },
    async resume(session) {
      await peer.ask({ kind: "session.open", resume: session });
    },
    async log(threadId) {
      return (await peer.ask({ kind: "thread.get", threadId })).events;
    },
    async submit(session, { kind, ...fields }) {
      if (kind === "SendInput") {
        const { turnId } = await peer.ask({ kind: "turn.start", threadId: session, input: fields.content });
        return { turn: String(turnId) };
      }
      if (kind === "CancelTurn") return peer.ask({ kind: "turn.cancel", threadId: session });
      if (kind === "AnswerPermission" && fields.decision === "deny") {
        return peer.ask({ kind: "approval.respond", requestId: fields.call_id, decision: "reject" });
      }
      return peer.ask({ kind: "command.submit", command: { kind, session, ...fields } });
    },
  };
}

/** Requests by their number, for the two wires that have one connection for all of them. */
function createPeer(send: (id: number, message: Readonly<Record<string, unknown>>) => void) {
  // biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
  type Answer = any;
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  let lastId = 0;
  return {
    ask(message: Readonly<Record<string, unknown>>): Promise<Answer> {
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send(id, message);
      });
    },
    answered(id: number, answer: Answer) {
      waiting.get(id)?.resolve(answer);
      waiting.delete(id);
    },
    refused(id: number, why: string) {
      waiting.get(id)?.reject(new Error(why));
      waiting.delete(id);
    },
    lost(why: string) {
      for (const { reject } of waiting.values()) reject(new Error(`the program ended: ${why}`));
      waiting.clear();
    },
  };
}
