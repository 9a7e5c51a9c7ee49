/** Puts files of a project to the person at this terminal; what shows them is loaded with the first question. */
import type { ReviewFiles } from "#program";
import type { CliPorts } from "./cli-ports.ts";

export function reviewAt(ports: CliPorts): ReviewFiles {
  return async (trust, awaiting, signal) => {
    const { reviewFiles } = await import("./ack-review.ts");
    return reviewFiles(ports, trust, awaiting, signal);
  };
}
