/** The engine: the loop, its two chains, its bus, and the ports that everything else plugs into. */
export type { Approver, PermissionAnswer, PermissionQuestion } from "./approver.ts";
export type {
  ModelCall,
  ModelEvent,
  ModelInfo,
  ModelOutcome,
  ModelRequest,
  Provider,
  ToolSchema,
} from "./provider.ts";
export type { EventDraft, NewSession, SessionMeta, SessionStore } from "./store.ts";
export { type Tool, type ToolContext, ToolError, type ToolOutput, type ToolSource, textOutput } from "./tool.ts";
