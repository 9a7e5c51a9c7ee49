/** Every event the engine can publish, with its payload: the five tables as one. */
import type { z } from "zod";
import { callEvents } from "./call-events.ts";
import { decisionEvents } from "./decision-events.ts";
import type { RedactionSummary } from "./event-fields.ts";
import { sessionEvents } from "./session-events.ts";
import { turnEvents } from "./turn-events.ts";
import { workEvents } from "./work-events.ts";

export const events = { ...turnEvents, ...callEvents, ...decisionEvents, ...workEvents, ...sessionEvents } as const;

export type EventKind = keyof typeof events;

/** Declared for what comes, and published by nothing yet. */
export const reservedEvents = [] as const satisfies readonly EventKind[];

/** Any event may say what was redacted in it. */
export type EventPayload<Kind extends EventKind> = z.infer<(typeof events)[Kind]> & {
  readonly redaction?: RedactionSummary;
};
