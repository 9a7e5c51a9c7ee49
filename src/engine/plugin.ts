/** The plugin contract: compiled-in code that reaches every seam of the engine and nothing around it. */
import type { ClientId, CommandOf, Event, SessionId } from "#protocol";
import type { Provider } from "./provider.ts";
import type { RequestMiddleware } from "./request-chain.ts";
import type { SessionStore } from "./store.ts";
import type { ToolSource } from "./tool.ts";
import type { ToolMiddleware } from "./tool-chain.ts";

/** Handles a CustomCommand of a claimed namespace. What it returns is the command's reply. */
export type CustomHandler = (command: CommandOf<"CustomCommand">, from: ClientId) => Promise<unknown>;

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
  /** CustomCommands of this namespace go to the handler. A taken namespace is an error. */
  claimNamespace(namespace: string, handler: CustomHandler): void;
  /** Publishes a CustomEvent on a session; rejects when the session is not open. */
  emit(session: SessionId, namespace: string, kind: string, payload: unknown): Promise<void>;
}

export interface Plugin {
  readonly name: string;
  register(host: PluginHost): void;
}
