/** The plugin contract: trusted code in this process that reaches every seam of the engine. What it registers there is governed like everything else. */
import type { ClientId, CommandOf, Event, Handshake, Reason, SessionId } from "#protocol";
import type { HookCall, HookDecision } from "./hook.ts";
import type { Provider } from "./provider.ts";
import type { RequestMiddleware } from "./request-chain.ts";
import type { SessionStore } from "./store.ts";
import type { ToolSource } from "./tool.ts";
import type { ToolMiddleware } from "./tool-chain.ts";

/** Handles a CustomCommand of a claimed namespace. What it returns is the command's reply. */
export type CustomHandler = (command: CommandOf<"CustomCommand">, from: ClientId) => Promise<unknown>;

/**
 * A hook in code. It can refuse or narrow: what it changes is validated and judged after it. It sees a copy of the payload. One that
 * throws, answers anything else or takes too long blocks.
 */
export interface PluginHook {
  readonly name: string;
  /** The moment at which it is asked: `tool.pre`, `turn.start`, … */
  readonly event: string;
  /** Lower is asked first; default 0. Hooks of the machine's policy come before it, those of the project after it. */
  readonly priority?: number;
  /** Default 10 000. */
  readonly timeoutMs?: number;
  handle(call: HookCall): HookDecision | Promise<HookDecision>;
}

/** A word that people type as `/namespace:name`. */
export interface PluginSlashCommand {
  /** The first plugin to use a namespace owns it. Small letters, digits and `-`. */
  readonly namespace: string;
  readonly name: string;
  /** One line, for `/help`. */
  readonly description: string;
  /** In the order in which they are typed; the last one takes the rest of the line. */
  readonly args?: readonly SlashArgument[];
  /** Default 30 000. */
  readonly timeoutMs?: number;
  run(args: Readonly<Record<string, string>>, call: SlashCall): SlashAnswer | Promise<SlashAnswer>;
}

export interface SlashArgument {
  readonly name: string;
  readonly required?: boolean;
  /** The only values that it takes. */
  readonly values?: readonly string[];
}

export interface SlashCall {
  readonly session: SessionId;
  readonly client: ClientId;
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
}

export interface SlashAnswer {
  /** Shown to the person; the model does not see it. */
  readonly text?: string;
  /** Sent as the person's next input: a turn like any other, with every check. */
  readonly input?: string;
}

/** A wire of a daemon. `harness daemon run --listen NAME+unix:PATH` or `NAME+127.0.0.1:PORT` starts it. */
export interface PluginTransport {
  /** Small letters. */
  readonly name: string;
  /** Listens when it resolves; what it throws ends the start of the daemon. */
  start(engine: ServedEngine, listen: readonly TransportAddress[]): Promise<TransportServer>;
}

/** Of this machine alone: others can reach none of them. */
export type TransportAddress =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

export interface TransportServer {
  /** Where it listens, with the port that was given for port 0. */
  readonly addresses: readonly TransportAddress[];
  /** No new connection is taken; those that are there go on. */
  stopAccepting(): void;
  close(): Promise<void>;
}

/** What a transport of a plugin reaches: the engine, for whoever presents a token. */
export interface ServedEngine {
  /** Rejects with a ReasonError, whose message may be sent to the peer: a token or a version that is refused. */
  connect(peer: ServedPeer): Promise<ServedClient>;
}

export interface ServedPeer {
  readonly token: string;
  /** Where it listens that the peer came to. */
  readonly address: TransportAddress;
  /** The same text for the same peer: failures are counted by it. */
  readonly source: string;
  /** The version that the peer says it speaks. */
  readonly protocolVersion?: string;
  /** What the client calls itself, for people. */
  readonly name?: string;
  /** Events of the sessions that the client has attached to, in order. */
  onEvent(event: Event): void;
  /** Asked before each event of a replay: undefined, or what to wait for. */
  readonly ready?: () => Promise<void> | undefined;
  /** Nothing more comes or is carried out: the token is over, or the daemon stops. */
  onEnd(refusal: { readonly reason: Reason; readonly message: string }): void;
}

export interface ServedClient {
  readonly handshake: Handshake;
  /**
   * A command as it came over the wire. It is parsed, and held against the token as it is now. Resolves with the reply; rejects with a
   * ReasonError whose message may be sent to the peer.
   */
  submit(command: unknown): Promise<unknown>;
  /** The peer has gone. */
  close(): void;
}

/** Its methods work while `register` runs and throw afterwards; `emit` works from then on. */
export interface PluginHost {
  /** Outside the built-in request middleware, in the order of registration. */
  useRequest(middleware: RequestMiddleware): void;
  /** Outside validation and permission: what it changes is validated and judged after it. */
  useTool(middleware: ToolMiddleware): void;
  /** Every event of every session, after it is durable. */
  onEvent(subscriber: (event: Event) => void): void;
  addToolSource(source: ToolSource): void;
  /** Models named `<provider.name>:…` go to it. A name that is taken is an error. */
  addProvider(provider: Provider): void;
  /** Replaces the session store; two plugins that do are an error. */
  setStore(store: SessionStore): void;
  /** A permission rule such as `deny Bash(git push *)`. */
  addRule(effect: "allow" | "ask" | "deny", rule: string): void;
  /** Holds in every session, with or without a project, and in delegates. A name that is taken is an error. */
  addHook(hook: PluginHook): void;
  /** A word or a namespace that is taken is an error, as is a namespace of the program's own. */
  addSlashCommand(command: PluginSlashCommand): void;
  /** Started by daemons only. A name that is taken is an error. */
  addTransport(transport: PluginTransport): void;
  /** CustomCommands of this namespace go to the handler, but for its slash commands. A taken namespace is an error. */
  claimNamespace(namespace: string, handler: CustomHandler): void;
  /** Publishes a CustomEvent on a session; rejects when the session is not open. */
  emit(session: SessionId, namespace: string, kind: string, payload: unknown): Promise<void>;
}

export interface Plugin {
  readonly name: string;
  /** Synchronous: whatever takes time belongs before it, at the top level of the module. */
  register(host: PluginHost): void;
}
