/** A whole harness whose user has memories: in a home of its own, on a mock vendor. */
import { join } from "node:path";
import type { MemoryDraft, MemoryOrigin } from "#base";
import type { OwnMemoryStore } from "#memory";
import { openMemories } from "#program";
import { createSystemClock } from "#world";
import type { HarnessRig, RigOptions } from "./harness-rig.ts";
import type { MockReply } from "./mock-reply.ts";
import { createProjectRig, type ProjectFiles, type ProjectRig } from "./project-rig.ts";

export interface MemoryRig extends ProjectRig {
  readonly store: OwnMemoryStore;
  /** The texts that the vendor got with its last request: the system prompt, and the user's messages. */
  sent(): { readonly system: string; readonly user: string };
}

export type GivenMemory = Partial<MemoryDraft & MemoryOrigin> & { readonly name: string };

export async function createMemoryRig(
  memories: readonly GivenMemory[],
  replies: readonly MockReply[],
  { files = {}, ...options }: RigOptions & { readonly files?: ProjectFiles } = {},
): Promise<MemoryRig> {
  // The home is beside the workspace, which is made with the rig.
  const rig = await createProjectRig(files, replies, { homeFolder: "home", ...options });
  const store = await storeOf(rig);
  for (const memory of memories) await store.write(asDraft(memory), { source: "a person", labels: [], ...memory });
  return { ...rig, store, sent: () => lastTexts(rig) };
}

export function storeOf({ workspace }: Pick<HarnessRig, "workspace">): Promise<OwnMemoryStore> {
  const env = { HOME: join(workspace.outside, "home") };
  return openMemories({ env, clock: createSystemClock() }, workspace.root, (text) => text.includes("ghp_"));
}

export function asDraft({ name, ...parts }: GivenMemory): MemoryDraft {
  return {
    ...{ name, scope: "user", tier: "long-term", type: "user", description: name, tags: [], body: "" },
    ...parts,
  };
}

function lastTexts({ vendor }: Pick<HarnessRig, "vendor">): ReturnType<MemoryRig["sent"]> {
  const body = vendor.requests.at(-1)?.body as { messages: { role: string; content: unknown }[] };
  const textOf = (role: string): string =>
    body.messages.flatMap((message) => (message.role === role ? [JSON.stringify(message.content)] : [])).join("\n");
  return { system: textOf("system"), user: textOf("user") };
}
