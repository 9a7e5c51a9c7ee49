/** A provider that answers differently and is otherwise the one it wraps. */
import type { Provider } from "#engine";

export function wrapProvider(provider: Provider, chat: Provider["chat"]): Provider {
  return {
    name: provider.name,
    chat,
    models: (signal) => provider.models(signal),
    countTokens: (request) => provider.countTokens(request),
    contextTokens: (model) => provider.contextTokens?.(model),
    takesImages: (model) => provider.takesImages?.(model) ?? true,
  };
}
