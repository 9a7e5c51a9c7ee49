/** The shape of a row in the requirements table, and the groups of wires that rows share. */
import type { Wire } from "../driver.ts";

/** The documents that the requirements come from. */
export const documents = {
  service: "Engine and control plane specification",
  core: "Core harness specification",
  rpc: "Harness protocol specification (JSON-RPC over stdio)",
  runtime: "Runtime specification",
  decisions: "Design decisions",
  adr18: "ADR 0018 Streams, queues and claims",
  adr19: "ADR 0019 Tokens on every channel",
} as const;

export interface Requirement {
  readonly text: string;
  readonly document: keyof typeof documents;
  readonly section: string;
  readonly wires: readonly Wire[];
}

export const EVERY = ["in-process", "rest", "ws", "plain", "rpc"] as const;
/** Wires that carry every command. */
export const COMMANDS = ["in-process", "rest", "ws", "rpc"] as const;
/** Wires that carry canonical events. */
export const CANONICAL = ["in-process", "rest", "ws"] as const;
export const HTTP = ["rest", "ws", "plain"] as const;
export const BYTES = ["rest", "ws", "plain", "rpc"] as const;
/** Wires with a handshake. */
export const SHAKEN = ["rest", "ws", "rpc"] as const;

/** Builds the requirements that one section of a document sets for the same wires, keyed by id. */
export function cited<Id extends string>(
  document: Requirement["document"],
  section: string,
  wires: Requirement["wires"],
  texts: Readonly<Record<Id, string>>,
): Readonly<Record<Id, Requirement>> {
  const rows = Object.entries<string>(texts).map(([id, text]) => [id, { text, document, section, wires }]);
  // The ids are those of the texts.
  return Object.fromEntries(rows) as Record<Id, Requirement>;
}
