/** Which resources that were read have changed since: each is told once, until it is read again. */

export interface UpdatedResource {
  readonly server: string;
  readonly uri: string;
}

/** Those beyond it are read, and nobody is told when they change. */
const MAX_WATCHED = 1_000;

export interface UpdatedResources {
  /** It is read now. */
  watch(server: string, uri: string): void;
  isWatching(): boolean;
  /** Its server says that it has changed. What nobody read is not kept. */
  add(server: string, uri: string): void;
  /** Empties it. */
  take(): readonly UpdatedResource[];
}

export function createUpdatedResources(): UpdatedResources {
  const watched = new Map<string, { readonly resource: UpdatedResource; hasChanged: boolean }>();
  const keyOf = (server: string, uri: string): string => JSON.stringify([server, uri]);
  return {
    watch(server, uri) {
      const key = keyOf(server, uri);
      if (watched.size < MAX_WATCHED || watched.has(key))
        watched.set(key, { resource: { server, uri }, hasChanged: false });
    },
    isWatching: () => watched.size > 0,
    add(server, uri) {
      const known = watched.get(keyOf(server, uri));
      if (known !== undefined) known.hasChanged = true;
    },
    take() {
      const changed = [...watched.values()].filter(({ hasChanged }) => hasChanged);
      for (const { resource } of changed) watched.delete(keyOf(resource.server, resource.uri));
      return changed.map(({ resource }) => resource);
    },
  };
}
