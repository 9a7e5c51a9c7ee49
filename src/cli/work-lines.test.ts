/** How a conversation shows plans, todos and background commands. */
import { expect, test } from "vitest";
import { workLines } from "./work-lines.ts";

type WorkEvent = Parameters<typeof workLines>[0];
// Only what a line is made of.
const lines = (kind: string, payload: object) => workLines({ kind, payload } as unknown as WorkEvent);
const todo = (text: string, state: string) => ({ text, state });

test("todos: what is done is counted, what is open is listed up to a bound", () => {
  expect(lines("TodosChanged", { todos: [todo("a", "done"), todo("b", "pending"), todo("c", "active")] })).toEqual([
    "todo 1/3  c",
    "  [ ] b",
    "  [>] c",
  ]);
  const many = Array.from({ length: 20 }, (_, index) => todo(String(index), "pending"));
  expect(lines("TodosChanged", { todos: many }).at(-1)).toBe("  … 12 more");
  expect(lines("TodosChanged", { todos: [] })).toEqual(["todo: none"]);
});

test.each([
  ["PlanChanged", { state: "agreed" }, "The plan is agreed; /plan show shows it."],
  ["JobStarted", { job: "job_1", command: "npm test" }, "  & job_1 in the background: npm test"],
  ["JobKept", { job: "job_1" }, "  & job_1 goes on when nobody is attached"],
  [
    "JobEnded",
    { job: "job_1", status: "exited", exit_code: 2, duration_ms: 1500 },
    "  & job_1 ended after 1.5 s: exit code 2",
  ],
  [
    "JobEnded",
    { job: "job_1", status: "stopped", duration_ms: 0, detail: "by a person" },
    "  & job_1 ended after 0.0 s: stopped (by a person)",
  ],
])("%s %j", (kind, payload, line) => {
  expect(lines(kind, payload)).toEqual([line]);
});
