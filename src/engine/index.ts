/** The engine: the loop, its two chains, its bus, and the ports that everything else plugs into. */
export type {
  AckAnswer,
  AckQuestion,
  Approver,
  PermissionAnswer,
  PermissionQuestion,
  QuestionAnswer,
} from "./approver.ts";
export type { AsideAnswer } from "./aside.ts";
export { createEventBus, type EventBus, type Schedule, type Subscriber } from "./bus.ts";
export type { CompactionPoint, CompactionProblem, Compactor } from "./compaction.ts";
export { createConversation } from "./conversation.ts";
export type { Part, Said, Step } from "./conversation-parts.ts";
export type {
  CredentialPort,
  CredentialRef,
  CredentialRoute,
  CredentialStatus,
  CredentialStoreStatus,
  CredentialWish,
} from "./credential-port.ts";
export type { HiddenTools } from "./dispatch.ts";
export { nextTs } from "./event-time.ts";
export type { GivenAnswers } from "./given-answers.ts";
export {
  type Attributes,
  type Hook,
  type HookCall,
  type HookContext,
  type HookDecision,
  type HookDispatcher,
  HookFailed,
  type HookPermission,
  type HookPoint,
  type HookPorts,
  type HookRun,
  type HookSource,
  HookTimedOut,
  type HookVerdict,
} from "./hook.ts";
export { type CheckToken, createInputQueue, type InputQueue, type InputToken } from "./input-queue.ts";
export type { Lasting } from "./lasting.ts";
export { promptInput } from "./mentions.ts";
export { createModelQuestions, type ModelQuestions } from "./model-questions.ts";
export { note } from "./note.ts";
export { changedPayload, eitherName, type PayloadChanges } from "./payload-changes.ts";
export type {
  CustomHandler,
  Plugin,
  PluginHook,
  PluginHost,
  PluginSlashCommand,
  PluginTransport,
  ServedClient,
  ServedEngine,
  ServedPeer,
  SlashAnswer,
  SlashArgument,
  SlashCall,
  TransportAddress,
  TransportServer,
} from "./plugin.ts";
export type {
  CallBudget,
  ModelCall,
  ModelEvent,
  ModelInfo,
  ModelOutcome,
  ModelRequest,
  Provider,
  ToolSchema,
  WireTrace,
} from "./provider.ts";
export type { RedactedStream, Redaction } from "./redaction.ts";
export { loadedRedaction, redactionFailure } from "./redaction-guard.ts";
export { createRemains } from "./remains.ts";
export { delegatedBy, type Reopened, refuseDelegate, reopenSession } from "./reopen.ts";
export type { RequestCall, RequestMiddleware } from "./request-chain.ts";
export type { RequestPreview } from "./request-preview.ts";
export { createRunContext, type RunContext } from "./run-context.ts";
export { type AskPerson, createRunTool, type NestedCall } from "./run-tool.ts";
export { inputBlockOf, redactedFile } from "./sent-file.ts";
export { createSession, type EngineSession, type SessionParts } from "./session.ts";
export { createSessionCore, type SessionCore, type SessionCoreOptions } from "./session-core.ts";
export { aliasSource } from "./slash-aliases.ts";
export {
  type BuiltInRuns,
  createSlashRegistry,
  type SlashCaller,
  type SlashEntry,
  type SlashOutcome,
  type SlashRegistry,
  type SlashSource,
} from "./slash-registry.ts";
export { type Spent, sumOf, tokensOf } from "./spent.ts";
export { type CheckCall, type Claim, checkingCall, type StopCheck, type StopVerdict } from "./stop-check.ts";
export type {
  EventDraft,
  EventPage,
  KeptSnapshot,
  NewSession,
  SessionLog,
  SessionMeta,
  SessionStore,
  SnapshotDraft,
  SnapshotShelf,
} from "./store.ts";
export { blocksTokens, bytesOf, estimateTokens, fixedTokens, textTokens } from "./token-estimate.ts";
export {
  type BackgroundWork,
  type QuestionDetails,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolOutput,
  type ToolSource,
  textOutput,
} from "./tool.ts";
export {
  type CallResult,
  type DiskFacts,
  type EffectNote,
  type Judgement,
  refusal,
  type Ticket,
  type ToolCall,
  type ToolMiddleware,
} from "./tool-chain.ts";
export { type CallTrace, traceProvider } from "./traced-provider.ts";
export type { TurnSummary } from "./turn.ts";
export type { JoinedTurn, JoinTurn } from "./turn-context.ts";
export type { CancelCause } from "./turn-ending.ts";
export { publishContext } from "./turn-hooks.ts";
