/** What the resolver finds out about names: which variable an identifier denotes and which function owns it. */

import type { Issue } from "../errors.ts";
import type { Ident } from "./ast.ts";

/** `file` is a name bound by load: visible in the whole file, not exported. */
export type ScopeKind = "local" | "file" | "global" | "predeclared" | "universal" | "undefined";

export interface Binding {
  readonly scope: ScopeKind;
  readonly name: string;
  /** Unique in its program. */
  readonly id: number;
  readonly first: Ident;
  /** The function whose call holds the variable; null for anything not local. */
  readonly owner: FunctionScope | null;
  /** Used by a function inside its owner, so that it must outlive the call. */
  captured: boolean;
  /** How often it is bound: a name bound once, by a def, has one value for ever. */
  bindCount: number;
}

/** The top level, a def or a lambda. Comprehensions belong to the function around them. */
export interface FunctionScope {
  readonly parent: FunctionScope | null;
  readonly locals: Binding[];
  /** Locals of enclosing functions used here or further inside. */
  readonly free: Set<Binding>;
}

/** One use of a name that comes from outside. */
export interface Mention {
  readonly name: string;
  /** What follows its dot; null where the name stands alone, and so may be handed on. */
  readonly attribute: string | null;
  readonly offset: number;
}

/** Which optional parts of the language are on. Names follow starlark-go's options. */
export interface Dialect {
  readonly set: boolean;
  readonly while: boolean;
  /** `if`, `for` and `while` outside functions. */
  readonly topLevelControl: boolean;
  readonly globalReassign: boolean;
  readonly recursion: boolean;
  /** `load` makes exported globals instead of names of the file. Deprecated in starlark-go. */
  readonly loadBindsGlobally: boolean;
}

export const defaultDialect: Dialect = {
  set: true,
  while: false,
  topLevelControl: false,
  globalReassign: false,
  recursion: false,
  loadBindsGlobally: false,
};

export function emptyScope(): FunctionScope {
  return { parent: null, locals: [], free: new Set() };
}

export interface Environment {
  readonly dialect: Dialect;
  readonly predeclared: ReadonlySet<string>;
  readonly universal: ReadonlySet<string>;
}

export interface Resolved {
  /** Module-level variables in the order of their first binding, those of load included. */
  readonly globals: readonly Binding[];
  readonly top: FunctionScope;
  /** Predeclared and universal names that the program mentions. */
  readonly mentioned: ReadonlySet<string>;
  /** Each use of such a name. */
  readonly mentions: readonly Mention[];
  /** Running the top level may call something that is not universal: a host's function, or one of the program. */
  readonly callsAtTop: boolean;
  readonly issues: readonly Issue[];
}
