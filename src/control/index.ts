/** The engine as a service: clients, whatever wire they are on, and the sessions they share. */
export { requireSeen } from "./attachments.ts";
export type { ClientOptions, ControlClient, Reply } from "./client.ts";
export { type AdoptedSession, type Control, createControl, PERMISSION_TIMEOUT_MS } from "./control.ts";
export type {
  Beginning,
  ImportedTurns,
  LiveSession,
  RestoreCommand,
  SessionAgreements,
  SessionLimits,
  SessionWork,
} from "./live-session.ts";
export { createOutbox, type Outbox } from "./outbox.ts";
export type { NewSchedule, ScheduleDesk } from "./schedule-handlers.ts";
export type { OpenSessionState } from "./session-state.ts";
