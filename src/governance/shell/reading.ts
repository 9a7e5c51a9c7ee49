/** What is carried along while a shell command is read: its bounds, what is known of variables and folders, its surroundings. */
import type { Statement } from "unbash";
import type { RedirectedFile, SimpleCommand } from "./command.ts";
import type { Feed } from "./feeds.ts";
import type { Scope } from "./words.ts";

/** Folders that a command may be in, when it is unclear which `cd` took effect. */
export const MAX_FOLDERS = 4;

export interface State {
  /** Commands that may still be read; shared by the whole tree, so that nesting cannot multiply the work. */
  left: number;
  /** Words that may still be read, likewise. */
  words: number;
  /** Statements that may still be looked at: a loop looks at its body once for each item, and loops in loops multiply. */
  statements: number;
  unclear: string | undefined;
  poison: string | undefined;
}

export interface Readers {
  statements(statements: readonly Statement[], around: Surroundings, reading: Reading): SimpleCommand[];
  script(source: string, reading: Reading): SimpleCommand[];
}

export interface Reading {
  readonly nested: number;
  readonly state: State;
  readonly scope: Scope;
  /** The script may not be one: nothing in it makes the whole unclear. */
  readonly guess?: boolean;
  /** Reads statements, and a script that is handed over as text; here so that the files need not know each other. */
  readonly readers: Readers;
}

export interface Surroundings {
  readonly redirects: readonly RedirectedFile[];
  readonly hereDocument: boolean;
  readonly hereText?: string;
  readonly background: boolean;
  /** What the pipe before it prints. */
  readonly input?: Feed;
  /** It reads something else instead. */
  readonly ownInput?: boolean;
}

export const NOTHING_AROUND: Surroundings = { redirects: [], hereDocument: false, background: false };

export function emptyScope(folders: readonly string[]): Scope {
  return { variables: new Map(), untrusted: new Set(), folders };
}

/** Over a limit, and so not understood: nothing more is read. */
export function isOver({ left, words, statements }: State): boolean {
  return left < 0 || words < 0 || statements < 0;
}

export function unclear(reading: Reading, why: string): void {
  if (reading.guess !== true) reading.state.unclear ??= why;
}

export function mergeFolders(reading: Reading, others: readonly string[]): void {
  const merged = [...new Set([...others, ...reading.scope.folders])];
  if (merged.length === reading.scope.folders.length) return;
  if (merged.length > MAX_FOLDERS) unclear(reading, "Harness cannot tell which folder it runs in");
  reading.scope.folders = merged.slice(0, MAX_FOLDERS);
}

/** For a part that runs in a process of its own: what it sets and where it goes is lost. */
export function forked(reading: Reading, always = true): Reading {
  if (!always) return reading;
  const { scope } = reading;
  return { ...reading, scope: { ...scope, variables: new Map(scope.variables) } };
}

export function join(outer: Surroundings, inner: Surroundings): Surroundings {
  const hereText = inner.hereText ?? outer.hereText;
  return {
    redirects: [...outer.redirects, ...inner.redirects],
    hereDocument: outer.hereDocument || inner.hereDocument,
    background: outer.background || inner.background,
    ...(hereText !== undefined && { hereText }),
    ...(outer.input !== undefined && inner.ownInput !== true && { input: outer.input }),
  };
}
