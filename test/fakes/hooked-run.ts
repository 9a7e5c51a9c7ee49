/** One turn of a whole harness with shell hooks of the user. */
import { makeShellHook, type ShellHook } from "#artifacts";
import { createHarnessRig, type HarnessRig, type RigOptions } from "./harness-rig.ts";
import type { MockReply } from "./mock-reply.ts";

type Given = Pick<ShellHook, "event" | "command"> & Partial<ShellHook>;

export function shellHook(given: Given): ShellHook {
  return makeShellHook({ source: "config.toml:1", tier: "user", ...given });
}

export interface HookedRig extends HarnessRig {
  /** What the model was sent, all requests as text. */
  requests(): string;
  results(): readonly string[];
}

export async function createHookedRig(
  hooks: readonly Given[],
  replies: readonly MockReply[],
  options: RigOptions = {},
): Promise<HookedRig> {
  const { settings, ...rest } = options;
  const rig = await createHarnessRig(replies, { ...rest, settings: { ...settings, hooks: hooks.map(shellHook) } });
  return {
    ...rig,
    requests: () => JSON.stringify(rig.vendor.requests.map(({ body }) => body)),
    results: () =>
      rig
        .of("ToolResult")
        .map(({ content }) => content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n")),
  };
}
