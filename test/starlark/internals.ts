/** The inside of the implementation, for tests that look at it. */
export { call, settle } from "../../src/starlark/calls.ts";
export { compile, jsonModule, StarlarkError, structBuiltin } from "../../src/starlark/index.ts";
export { freeze as freezeValue } from "../../src/starlark/values/freeze.ts";
export { Builtin, Pending, type Value } from "../../src/starlark/values/values.ts";
