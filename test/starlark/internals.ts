/** The inside of the implementation, for tests that look at it. */
export { call, settle } from "../../src/starlark/calls.ts";
export { freeze as freezeValue } from "../../src/starlark/freeze.ts";
export { compile, jsonModule, StarlarkError, structBuiltin } from "../../src/starlark/index.ts";
export { decodeUtf8 } from "../../src/starlark/utf8.ts";
export { Builtin, Module, Pending, type Value } from "../../src/starlark/values.ts";
