/** The one JSON form of an event, the same in the log, on every transport and in exports. */
import { z } from "zod";
import { redactionSummary } from "./event-fields.ts";
import { type EventKind, type EventPayload, events } from "./events.ts";
import { ClientId, SessionId } from "./ids.ts";
import { idSchema, wire } from "./wire.ts";

const envelope = wire({
  id: z.number().int().positive().describe("Increases within a session; assigned by the log."),
  kind: z.string(),
  session: idSchema(SessionId),
  originator: idSchema(ClientId).optional().describe("The client whose input started the turn."),
  ts: z.iso.datetime(),
  payload: z
    .unknown()
    .describe(
      "By kind. Where secrets were replaced in it, `redaction` says how many of each kind, and by which rules.",
    ),
});

export const envelopeSchema = envelope;

/** What the payload of every kind may have. */
const anyPayload = z.object({ redaction: redactionSummary.optional() });

export interface EventOf<Kind extends EventKind> {
  readonly id: number;
  readonly kind: Kind;
  readonly session: SessionId;
  readonly originator?: ClientId;
  readonly ts: string;
  readonly payload: EventPayload<Kind>;
}

/** Any event, discriminated by `kind`. */
export type Event = { [Kind in EventKind]: EventOf<Kind> }[EventKind];

/** Parses one envelope and the payload that its kind names; an unknown kind or a wrong payload throws a ZodError. */
export function parseEvent(raw: unknown): Event {
  const outer = envelope.parse(raw);
  const kind = z.enum(Object.keys(events) as [EventKind, ...EventKind[]]).parse(outer.kind);
  const payload = { ...events[kind].parse(outer.payload), ...anyPayload.parse(outer.payload) };
  // The payload was parsed by the schema of this very kind.
  return { ...outer, kind, payload } as Event;
}
