/** What is for people alone: what an agent is held to, it does not change. */
import { ReasonError } from "#protocol";

/** Throws NotAllowed for an agent. `deed`: what only a human may do. */
export function requireHuman({ identityClass }: { readonly identityClass: "human" | "agent" }, deed: string): void {
  if (identityClass !== "human") throw new ReasonError("NotAllowed", `Only a human may ${deed}.`);
}
