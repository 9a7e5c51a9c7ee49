/** The engine as a service: clients, whatever wire they are on, and the sessions they share. */
export { createAnswerCollector } from "./answer.ts";
export {
  type ClientOptions,
  type Control,
  type ControlClient,
  createControl,
  type LiveSession,
  type OpenSessionState,
  type Reply,
  type RestoreCommand,
} from "./control.ts";
export { createOutbox, type Outbox } from "./outbox.ts";
