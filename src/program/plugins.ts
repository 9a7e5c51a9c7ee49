/** What plugins have registered, gathered before anything is put together. A plugin that fails, or wants what is taken, ends the start. */
import { type Clock, messageOf } from "#base";
import type { Control } from "#control";
import type { Plugin, PluginHost } from "#engine";
import { ReasonError } from "#protocol";
import type { Extensions } from "#session";
import { engineHook } from "./plugin-hooks.ts";
import { createPluginNamespaces } from "./plugin-namespaces.ts";

/** Wires of the program, and words that would read like one. */
const RESERVED_WIRES = ["http", "https", "rest", "ws", "wss", "rpc", "stdio", "inproc", "mcp", "acp", "tcp", "unix"];

export function registerPlugins(
  plugins: readonly Plugin[],
  control: () => Control,
  clock: Pick<Clock, "sleep">,
): Extensions {
  const namespaces = createPluginNamespaces(clock);
  const extensions: Extensions = {
    requestChain: [],
    toolChain: [],
    subscribers: [],
    toolSources: [],
    providers: [],
    rules: [],
    hooks: [],
    customHandlers: namespaces.handlers,
    slash: namespaces.slash,
    transports: new Map(),
    store: undefined,
  };
  for (const plugin of plugins) {
    const { name } = plugin;
    let isRegistering = true;
    const during =
      <Args extends unknown[]>(add: (...args: Args) => void) =>
      (...args: Args): void => {
        if (!isRegistering) throw new Error("a plugin can register things only while its register function runs");
        add(...args);
      };
    const host: PluginHost = {
      useRequest: during((middleware) => extensions.requestChain.push(middleware)),
      useTool: during((middleware) => extensions.toolChain.push(middleware)),
      onEvent: during((subscriber) => extensions.subscribers.push(subscriber)),
      addToolSource: during((source) => extensions.toolSources.push(source)),
      addProvider: during((provider) => {
        if (extensions.providers.some((other) => other.name === provider.name)) {
          throw new Error(`the provider '${provider.name}' is already registered`);
        }
        extensions.providers.push(provider);
      }),
      setStore: during((store) => {
        if (extensions.store !== undefined) throw new Error("another plugin has replaced the session store");
        extensions.store = store;
      }),
      addRule: during((effect, rule) => extensions.rules.push({ effect, rule, source: `plugin ${name}` })),
      addHook: during((hook) => {
        if (extensions.hooks.some((other) => other.name === hook.name)) {
          throw new Error(`the hook '${hook.name}' is already registered`);
        }
        extensions.hooks.push(engineHook(name, hook, clock));
      }),
      addSlashCommand: during((command) => namespaces.addSlashCommand(name, command)),
      addTransport: during((transport) => {
        if (!/^[a-z]{1,20}$/.test(transport.name))
          throw new Error(`'${transport.name}' is not a valid wire name: use lowercase letters`);
        if (RESERVED_WIRES.includes(transport.name) || extensions.transports.has(transport.name)) {
          throw new Error(`the wire '${transport.name}' is taken`);
        }
        extensions.transports.set(transport.name, { plugin: name, transport });
      }),
      claimNamespace: during((namespace, handler) => namespaces.claim(name, namespace, handler)),
      async emit(session, namespace, kind, payload) {
        const open = control().session(session);
        if (open === undefined) throw new ReasonError("SessionNotFound", { session });
        await open.bus.publish("CustomEvent", { namespace, kind, payload });
      },
    };
    try {
      const returned: unknown = plugin.register(host);
      if (returned instanceof Promise) {
        returned.catch(() => undefined); // it is refused anyway
        throw new Error("its register function returned a promise; use await at the top level of the module instead");
      }
    } catch (cause) {
      if (cause instanceof ReasonError) throw cause;
      const values = { name, detail: messageOf(cause), place: `plugin ${name}` };
      throw new ReasonError("PluginFailed", values, { cause });
    }
    isRegistering = false;
  }
  return extensions;
}
