/** Starlark: a small, deterministic, sandboxed language for tools and hooks. It knows nothing of agents. */
export { attributeNames } from "./attributes.ts";

export { StarlarkSet } from "./dict.ts";
export {
  type ErrorKind,
  type Frame,
  formatPosition,
  type Issue,
  type LimitName,
  type Position,
  StarlarkError,
} from "./errors.ts";
export {
  compileExpression,
  type Expression,
  type ExpressionOptions,
  evalExpression,
  expressionLimits,
} from "./expression.ts";
export { freeze } from "./freeze.ts";
export { builtin, type HostCall, type HostFunction, hostModule, structBuiltin } from "./host-builtin.ts";
export type { Instance } from "./instance.ts";
export { toHost, toStarlark, toStarlarkLazily } from "./interop.ts";
export { jsonModule } from "./json.ts";
export {
  type CompileOptions,
  check,
  checkSyntax,
  compile,
  type Definition,
  type Program,
  type ProgramMention,
} from "./program.ts";
export { type Dialect, defaultDialect } from "./scope.ts";
export { createSession, type Session } from "./session.ts";
export { type CallLimits, defaultLimits, Thread, type ThreadOptions } from "./thread.ts";
export { truth } from "./truth.ts";
export { universe } from "./universe.ts";
export { decodeUtf8, encodeUtf8 } from "./utf8.ts";
export { List, Module, Opaque, typeOf, type Value } from "./values.ts";
