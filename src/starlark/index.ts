/** Starlark: a small, deterministic, sandboxed language for tools and hooks. It knows nothing of agents. */

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
  expressionLimits,
} from "./expression.ts";
export { builtin, type HostCall, type HostFunction, hostModule, structBuiltin } from "./host-builtin.ts";
export type { Instance } from "./instance.ts";
export { toHost, toStarlark, toStarlarkLazily } from "./interop.ts";
export { jsonModule } from "./library/json.ts";
export { universe } from "./library/universe.ts";
export {
  type CompileOptions,
  check,
  checkSyntax,
  compile,
  type Definition,
  type Program,
  type ProgramMention,
} from "./program.ts";
export { createSession, type Session } from "./session.ts";
export { type Dialect, defaultDialect } from "./syntax/scope.ts";
export { type CallLimits, defaultLimits, Thread, type ThreadOptions } from "./thread.ts";
export { attributeNames } from "./values/attributes.ts";
export { StarlarkSet } from "./values/dict.ts";
export { freeze } from "./values/freeze.ts";
export { truth } from "./values/truth.ts";
export { decodeUtf8, encodeUtf8 } from "./values/utf8.ts";
export { List, Module, Opaque, typeOf, type Value } from "./values/values.ts";
