/** The facts of the tools for background commands. They are offered once a session has one. */
import { optionalText } from "./arguments.ts";
import type { ToolFacts } from "./facts.ts";

const subject = (args: Readonly<Record<string, unknown>>): string => optionalText(args, "job") ?? "";

export const jobFacts = {
  read: { name: "job.read", label: "JobRead", class: "read_only", kind: "job", relays: true, fresh: true, subject },
  stop: { name: "job.stop", label: "JobStop", class: "sensitive", kind: "job", relays: true, fresh: true, subject },
} as const satisfies Record<string, ToolFacts>;
