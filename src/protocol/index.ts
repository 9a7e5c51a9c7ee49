/** The vocabulary without its parsers: ids, reasons and types. `#protocol/schemas` adds the zod tables. */
export { createAnswerCollector } from "./answer.ts";
export { type BuiltInWord, builtInWords, deedOf, isBuiltIn } from "./built-in-words.ts";
export {
  asCommand,
  type Command,
  type CommandKind,
  type CommandOf,
  commandKinds,
  commandRows,
  type Decision,
  forSession,
  isCommandKind,
  mcpToolOf,
  orderKey,
  type ReplyOf,
  type SessionCommandKind,
  type SessionCommandOf,
  sessionOf,
} from "./command-rows.ts";
export { compactionLine } from "./compaction-line.ts";
export type {
  ContentBlock,
  ContextBlock,
  FileBlock,
  ImageBlock,
  InputBlock,
  Message,
  TextBlock,
  ThinkingBlock,
  ToolOutputBlock,
  ToolResultBlock,
  ToolUseBlock,
} from "./content.ts";
export { displayText, fileLabel, textIn } from "./content-text.ts";
export type { FormField } from "./decision-events.ts";
export type { Event, EventOf } from "./envelope.ts";
export type { CallOutcome, JudgedOn, Label, RedactionSummary, ToolClass, TurnOutcome, Usage } from "./event-fields.ts";
export type { EventKind, EventPayload } from "./events.ts";
export { EXPIRED_CONTENT } from "./expired.ts";
export type { Handshake } from "./handshake.ts";
export { ApprovalId, CallId, ClientId, JobId, LogId, SessionId, TokenId, TurnId } from "./ids.ts";
export { type ImageType, imageTypeOf, imageTypeOfBase64 } from "./image-type.ts";
export { createIdMint, type IdMint } from "./mint.ts";
export { type Reason, ReasonError, reasons, reasonText } from "./reasons.ts";
export { SET_CONTEXT_DEED } from "./session-commands.ts";
export {
  type ClientTransport,
  type LastSeen,
  type OpenedSession,
  type SessionInfo,
  type StoredSession,
  sessionInfoOf,
} from "./session-info.ts";
export {
  ownCommandOf,
  parseSlash,
  type SlashArgs,
  type SlashCommand,
  slashArguments,
  slashUsage,
  textArguments,
  typedWord,
} from "./slash-commands.ts";
export { completeSlash } from "./slash-completion.ts";
export { SOCKET_PROTOCOL, socketProtocols, tokensInProtocols } from "./socket-token.ts";
export { storeFailure } from "./store-failure.ts";
export { streamEvents } from "./stream-events.ts";
export { PROTOCOL_VERSION, understands } from "./version.ts";
export {
  howItEnded,
  MODES,
  type Mode,
  PLAN_MAX_CHARS,
  PLAN_REJECTION,
  type PlanState,
  planLine,
  scheduleLine,
  TODO_MAX_CHARS,
  TODO_STATES,
  TODOS_MAX,
  type Todo,
  todoLine,
} from "./work.ts";
