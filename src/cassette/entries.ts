/** What is on a cassette: a head, and entries in the order in which things happened. Checked when a file is read. */
import { z } from "zod";
import type { EffectReason } from "#base";
import { type Reason, reasons } from "#protocol";

/** A cassette with a higher number was written by a newer program. */
export const CASSETTE_VERSION = 1;

const at = z.int().min(0);
const session = z.string().optional();

export const headSchema = z.strictObject({
  cassette: z.literal(CASSETTE_VERSION),
  started: z.iso.datetime(),
  /** All ids and random values follow from it. */
  seed: z.string().regex(/^[0-9a-f]{32}$/),
  /** As the session was told, and with symbolic links resolved. */
  workspace: z.string(),
  root: z.string(),
  home: z.string(),
  platform: z.string(),
  hostname: z.string(),
  model: z.strictObject({ model: z.string(), fallbacks: z.array(z.string()), offline: z.boolean() }),
});

const failedSchema = z.strictObject({
  effect: z
    .string()
    .transform((reason) => reason as EffectReason)
    .optional(),
  reason: z
    .string()
    .refine((reason) => Object.hasOwn(reasons, reason), "not a reason of this program")
    .transform((reason) => reason as Reason)
    .optional(),
  message: z.string(),
});

export const entrySchema = z.discriminatedUnion("type", [
  /** Somebody connected. */
  z.strictObject({
    type: z.literal("client"),
    client: z.int().min(1),
    identity: z.enum(["human", "agent"]),
    interactive: z.boolean(),
  }),
  z.strictObject({
    type: z.literal("command"),
    at,
    client: z.int().min(1),
    command: z.looseObject({ kind: z.string() }),
  }),
  z.strictObject({ type: z.literal("shutdown"), at }),
  /** Something was asked of the outside; `say` and `end` with the same number answer it. */
  z.strictObject({
    type: z.literal("ask"),
    at,
    ask: z.int().min(1),
    of: z.enum(["model", "process", "web", "server", "memory", "model-name", "kept-rule", "sandbox"]),
    session,
    request: z.unknown(),
  }),
  /** Each with its own time; nothing else arrived in between. */
  z.strictObject({ type: z.literal("say"), ask: z.int().min(1), said: z.array(z.tuple([at, z.unknown()])).min(1) }),
  z.strictObject({
    type: z.literal("end"),
    at,
    ask: z.int().min(1),
    result: z.unknown().optional(),
    failed: failedSchema.optional(),
  }),
  /** The outside said something that nobody asked for. */
  z.strictObject({ type: z.literal("note"), at, session: z.string(), note: z.unknown() }),
  /** What was read of the machine, and from which reading on it was so. */
  z.strictObject({
    type: z.literal("fact"),
    session,
    fact: z.string(),
    about: z.string(),
    since: z.int().min(1),
    value: z.string().nullable(),
  }),
  /** The last entry; without it the file is cut off. */
  z.strictObject({ type: z.literal("eject"), entries: z.int().min(0) }),
]);

export type CassetteHead = z.output<typeof headSchema>;
export type Entry = z.output<typeof entrySchema>;
export type EntryOf<Type extends Entry["type"]> = Extract<Entry, { type: Type }>;
export type AskKind = EntryOf<"ask">["of"];
export type Failed = z.output<typeof failedSchema>;

export interface Cassette {
  /** For messages. */
  readonly file: string;
  readonly head: CassetteHead;
  /** Without `eject`. */
  readonly entries: readonly Entry[];
  /** The line on which each entry begins. */
  readonly lines: readonly number[];
}
