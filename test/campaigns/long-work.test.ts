/** A short version of bench/long-work.ts, and that its checks notice a log with a hole. */
import { expect, test } from "vitest";
import type { Event } from "#protocol";
import { runLongWork } from "../fakes/long-work.ts";
import { problemsOfLog } from "../fakes/long-work-checks.ts";

test("the log of a session of many tasks explains every step, over three ends of its daemon", async () => {
  const { problems, counts, log } = await runLongWork({ tasks: 40, vendor: "anthropic" });
  expect(problems).toEqual([]);
  expect(counts).toMatchObject({ PlanChanged: 3, TodosChanged: 3, OrphanedCall: 1, "restarts with an agreed plan": 3 });
  for (const name of ["CompactionTriggered", "memories that joined", "ticks that ran", "ticks reported as missed"]) {
    expect(counts[name], name).toBeGreaterThan(1);
  }
  const needed = ["ToolIntent", "ToolOutcome", "ToolResult", "TurnEnded", "JobEnded", "QuestionAnswered"] as const;
  for (const kind of [...needed, "PlanChanged"] satisfies Event["kind"][]) {
    const at = log.findIndex((event) => event.kind === kind);
    const hidden = { ...log[at], kind: "CustomEvent", payload: {} } as unknown as Event; // as if it had never been
    expect(problemsOfLog(log.with(at, hidden)), kind).not.toEqual([]);
  }
});
