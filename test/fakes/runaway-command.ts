/** One command that would not end by itself, through the whole program. */
import { randomUUID } from "node:crypto";
import { calls, createHarnessRig, type RigOptions, says } from "./harness-rig.ts";
import { processesWith } from "./marked-processes.ts";

export const READER_MS = 700;
export const CALL_MS = 900;
/** Starting and ending a sandbox on a busy machine. The commands themselves would take for ever. */
export const BUSY_MS = 15_000;

export const timedOut = (ms: number): string => `timed out after ${ms} ms; the process group was killed`;
export const allowed = { permissions: [{ effect: "allow" as const, rule: "Bash", source: "test" }] };

/** The call and its result, as the model reads it in the request that follows. `FILE` in the command is a file with one line. */
export async function runRunaway(
  args: { readonly command: string; readonly timeout_ms?: number },
  options: RigOptions,
) {
  const mark = `runaway-${randomUUID()}`;
  // A file of that name is all that the mark is.
  const command = args.command.replace("FILE", `${mark}.log`);
  const rig = await createHarnessRig([calls(["exec", { ...args, command }]), says("done")], {
    ...options,
    prepare: (workspace) => workspace.put(`${mark}.log`, "one line\n"),
  });
  const startMs = performance.now();
  const summary = await rig.send();
  const body = JSON.stringify(rig.vendor.requests.at(-1)?.body);
  return {
    summary,
    tookMs: performance.now() - startMs,
    confinement: rig.of("ToolIntent").map(({ allowed_by }) => allowed_by?.confinement)[0],
    isError: rig.of("ToolResult")[0]?.is_error,
    read: body,
    left: processesWith(mark),
  };
}
