/** What plugins have registered, gathered before anything is put together. */
import type { Control } from "#control";
import type { Plugin } from "#engine";
import { ReasonError } from "#protocol";
import type { Extensions } from "#session";

export function registerPlugins(plugins: readonly Plugin[], control: () => Control): Extensions {
  const extensions: Extensions = {
    requestChain: [],
    toolChain: [],
    subscribers: [],
    toolSources: [],
    providers: [],
    rules: [],
    customHandlers: new Map(),
    store: undefined,
  };
  for (const plugin of plugins) {
    const conflict = (what: string): never => {
      throw new ReasonError("ConfigInvalid", { detail: `plugin ${plugin.name}: ${what}` });
    };
    plugin.register({
      useRequest: (middleware) => void extensions.requestChain.push(middleware),
      useTool: (middleware) => void extensions.toolChain.push(middleware),
      onEvent: (subscriber) => void extensions.subscribers.push(subscriber),
      addToolSource: (source) => void extensions.toolSources.push(source),
      addProvider(provider) {
        if (extensions.providers.some(({ name }) => name === provider.name)) {
          conflict(`the provider '${provider.name}' is already registered`);
        }
        extensions.providers.push(provider);
      },
      setStore(store) {
        if (extensions.store !== undefined) conflict("another plugin has replaced the session store");
        extensions.store = store;
      },
      addRule: (effect, rule) => void extensions.rules.push({ effect, rule, source: `plugin ${plugin.name}` }),
      claimNamespace(namespace, handler) {
        if (extensions.customHandlers.has(namespace)) conflict(`the namespace '${namespace}' is taken`);
        extensions.customHandlers.set(namespace, handler);
      },
      async emit(session, namespace, kind, payload) {
        const open = control().session(session);
        if (open === undefined) throw new ReasonError("SessionNotFound", { session });
        await open.bus.publish("CustomEvent", { namespace, kind, payload });
      },
    });
  }
  return extensions;
}
