/** Memories as the engine sees them: what one is, what a session reads of them, and what a call may do with them. */

/** What a memory is about. */
export const memoryTypes = ["user", "feedback", "project", "reference"] as const;
/** How long a memory matters, and how it joins a turn. */
export const memoryTiers = ["core", "working", "long-term", "events"] as const;
/** Whose a memory is: those of the user everywhere, those of one project, and those that a repository brings. */
export const memoryScopes = ["user", "project", "repository"] as const;
/** Where a memory can be written. */
export const ownScopes = ["user", "project"] as const;

export type MemoryType = (typeof memoryTypes)[number];
export type MemoryTier = (typeof memoryTiers)[number];
export type MemoryScope = (typeof memoryScopes)[number];
export type OwnScope = (typeof ownScopes)[number];
export type MemoryLabel = "private" | "untrusted";

/** What a memory file holds besides where it is. */
export interface MemoryContent {
  /** On one line. */
  readonly description: string;
  readonly type: MemoryType;
  readonly tags: readonly string[];
  /** Other words and short phrases that a later request about it may be put in. Only compared, never shown to the model. */
  readonly keywords?: readonly string[];
  /** Who wrote it, for people: `a person`, `agent sess_…`. */
  readonly source: string;
  /** What the session held that wrote it; whoever reads it holds the same. */
  readonly labels: readonly MemoryLabel[];
  /** The day of the last change, `2026-05-01`. */
  readonly updated?: string;
  readonly body: string;
}

export interface Memory extends MemoryContent {
  /** Unique in its scope; the name of its file. */
  readonly name: string;
  readonly scope: MemoryScope;
  readonly tier: MemoryTier;
}

export interface MemoryDraft extends Omit<MemoryContent, "updated" | "source" | "labels"> {
  readonly name: string;
  readonly scope: OwnScope;
  readonly tier: MemoryTier;
}

/** Added to a draft by whoever lets it pass. */
export type MemoryOrigin = Pick<MemoryContent, "source" | "labels">;

export interface MemoryShelf {
  /** By scope, then by name. */
  readonly memories: readonly Memory[];
  /** Why files were left out, one line each. */
  readonly problems: readonly string[];
}

/**
 * The memories of the user and of one project, on disk. `write` and `forget` reject with an `EffectError` (`AccessDenied` for a secret,
 * `TooLarge` at a bound, `DiskFull`, `Timeout` while another process writes).
 */
export interface MemoryStore {
  /** A cheap look: whether anything was ever written. */
  isThere(): boolean;
  load(): Promise<MemoryShelf>;
  /** Whether a memory of that name was there before. */
  write(draft: MemoryDraft, origin: MemoryOrigin): Promise<"new" | "changed">;
  /** False when there is none. */
  forget(scope: OwnScope, name: string): Promise<boolean>;
}

/** What a call may do with memories. */
export interface MemoryPort {
  /** The best matches first. */
  search(query: string, limit: number): Promise<readonly Memory[]>;
  write(draft: MemoryDraft): Promise<"new" | "changed">;
  forget(scope: OwnScope, name: string): Promise<boolean>;
}
