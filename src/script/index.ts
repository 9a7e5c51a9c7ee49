/** Scripts of tools, hooks and conditions: their built-ins, their checks, and what they are to the engine. */
export type { Audience } from "./builtins/definition.ts";
export { type BuiltinRow, builtinTable, modules as builtinModules } from "./builtins/table.ts";
export { createMetaRegistry, type MetaRegistry, type Parsed } from "./meta-registry.ts";
export { metaTools } from "./meta-tools.ts";
export { type ContextValues, createRunStates } from "./run-state.ts";
export { createScriptChecker } from "./script-checker.ts";
export { type Condition, createScripts, type Scripts } from "./scripts.ts";
export type { ScriptLine, ScriptServices } from "./services.ts";
