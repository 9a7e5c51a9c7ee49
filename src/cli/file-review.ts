/** Puts files of a project to the person at this terminal; what shows them is loaded with the first question. */
import type { ReviewFiles, ReviewServers } from "#program";
import type { CliPorts } from "./cli-ports.ts";

export function reviewAt(ports: CliPorts): ReviewFiles {
  return async (trust, awaiting, signal) => {
    const { reviewFiles } = await import("./ack-review.ts");
    return reviewFiles(ports, trust, awaiting, signal);
  };
}

/** Both reviews of a project that is to take effect: of its files, then of the MCP servers that they declare. */
export function reviewsAt(ports: CliPorts): { readonly review: ReviewFiles; readonly reviewServers: ReviewServers } {
  return {
    review: reviewAt(ports),
    async reviewServers(project, settings, trust) {
      const { reviewServersAt } = await import("./server-review.ts");
      await reviewServersAt(ports)(project, settings, trust);
    },
  };
}
