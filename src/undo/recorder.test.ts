import { expect, test } from "vitest";
import type { CallResult, ToolCall } from "#engine";
import { createTemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createUndoRecorder } from "./recorder.ts";
import type { UndoStore } from "./undo-store.ts";

/** Whoever takes a snapshot fails. */
const broken = {
  workspace: () => {
    throw new Error("a snapshot was taken");
  },
} as unknown as UndoStore;

test.each([
  ["reader", "ok"],
  ["workspace", "error"],
  ["outside", "error"],
] as const)(
  "a command in the confinement %s is recorded unless it can change nothing",
  async (confinement, outcome) => {
    const recorder = createUndoRecorder(broken, createTemporaryWorkspace().ports.files);
    const call = {
      id: "call_1",
      tool: { name: "exec", label: "Bash", class: "mutating" },
      args: { command: "x" },
      judged: { effect: "allow", by: "test", why: "", trail: [], confinement },
    } as unknown as ToolCall; // all that it looks at
    const ran: CallResult = { content: [], outcome: "ok" };
    expect((await recorder(call, async () => ran)).outcome).toBe(outcome);
  },
);
