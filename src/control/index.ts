/** The engine as a service, for clients in this process. */
export { createAnswerCollector } from "./answer.ts";
export {
  type AdoptedSession,
  type ClientOptions,
  type Control,
  type ControlClient,
  createControl,
  type LiveSession,
  type Reply,
  type RestoreCommand,
} from "./control.ts";
