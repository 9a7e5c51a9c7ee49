import { describe, expect, test } from "vitest";
import { answerOf, type HookExit, UnusableAnswer } from "./hook-answer.ts";

function exit(given: Partial<HookExit>): HookExit {
  return { code: 0, signal: null, stdout: "", stderr: "", truncated: false, ...given };
}

const json = (value: unknown): HookExit => exit({ stdout: JSON.stringify(value) });
const pre = (hookSpecificOutput: object): HookExit => json({ hookSpecificOutput });

describe("of a PreToolUse hook", () => {
  test.each([
    [exit({}), {}],
    [exit({ stdout: "checked: fine" }), {}],
    [exit({ code: 2, stderr: " no \n" }), { block: "no" }],
    [exit({ code: 2 }), { block: "the hook gave no reason" }],
    [pre({ permissionDecision: "deny", permissionDecisionReason: "no" }), { block: "no" }],
    [
      pre({ permissionDecision: "allow", updatedInput: { a: 1 } }),
      { permission: { effect: "allow", reason: "the hook gave no reason" }, updatedInput: { a: 1 } },
    ],
    [
      pre({ permissionDecision: "ask", permissionDecisionReason: "why" }),
      { permission: { effect: "ask", reason: "why" } },
    ],
    [pre({ additionalContext: "note" }), { context: "note" }],
    [json({ decision: "block", reason: "no" }), { block: "no" }],
    [json({ decision: "approve", reason: "ok" }), { permission: { effect: "allow", reason: "ok" } }],
    [json({ continue: false, stopReason: "enough", suppressOutput: true }), { stop: "enough" }],
    [json({ systemMessage: "for you", unknown: { deep: [1] } }), { message: "for you" }],
    [json({ decision: "block", reason: "no", hookSpecificOutput: { permissionDecision: "allow" } }), { block: "no" }],
    // What is said for the call does not undo what is said for the turn.
    [
      json({ continue: false, hookSpecificOutput: { permissionDecision: "allow" } }),
      { stop: "the hook gave no reason" },
    ],
  ])("%j", (given, expected) => {
    expect(answerOf("PreToolUse", given)).toMatchObject(expected);
  });

  test.each([
    ["another exit code", exit({ code: 1, stderr: "boom" }), "exit code 1: boom"],
    ["a signal", exit({ code: null, signal: "SIGSEGV" }), "SIGSEGV"],
    ["half an answer", exit({ stdout: '{"decision": "app' }), "not valid JSON"],
    ["an answer that is too long", exit({ stdout: "{", truncated: true }), "longer than 64 KB"],
    ["another decision", json({ decision: "maybe" }), "maybe"],
    ["the name of a field of every object", json({ decision: "constructor" }), "constructor"],
    ["a decision that the protocol has and Harness does not", pre({ permissionDecision: "defer" }), "defer"],
    ["a decision that is no text", pre({ permissionDecision: true }), "permissionDecision"],
    ["input that is no object", pre({ updatedInput: "rm" }), "updatedInput"],
    ["a list in the place of the details", json({ hookSpecificOutput: [] }), "hookSpecificOutput"],
    ["continue as text", json({ continue: "false" }), "continue"],
    ["a decision behind other text", exit({ stdout: 'checking\n{"decision": "block"}' }), "other text around it"],
    ["a decision in a list", exit({ stdout: '[{"decision": "block"}]' }), "other text around it"],
    ["a decision at the wrong place", json({ permissionDecision: "deny" }), "hookSpecificOutput"],
    ["a decision of another event", pre({ decision: { behavior: "deny" } }), '"decision" of its answer is inside'],
  ])("%s is no clear answer", (_, given, text) => {
    expect(() => answerOf("PreToolUse", given)).toThrow(UnusableAnswer);
    expect(() => answerOf("PreToolUse", given)).toThrow(text);
  });
});

describe("of the other hooks", () => {
  test.each([
    ["PostToolUse", json({ decision: "block", reason: "format it" }), { block: "format it" }],
    ["PostToolUse", exit({ stdout: "formatted" }), {}],
    ["UserPromptSubmit", exit({ stdout: "today is Monday" }), { context: "today is Monday" }],
    ["UserPromptSubmit", json({ decision: "block", reason: "no keys" }), { block: "no keys" }],
    ["SessionStart", exit({ stdout: "branch main\n" }), { context: "branch main" }],
    ["SessionStart", pre({ additionalContext: "note" }), { context: "note" }],
    ["Stop", json({ decision: "block", reason: "run the tests" }), { block: "run the tests" }],
    ["Stop", exit({ stdout: "bye" }), {}],
    ["Compact", exit({ code: 2, stderr: "later" }), { block: "later" }],
  ] as const)("%s: %j", (event, given, expected) => {
    expect(answerOf(event, given)).toEqual(expected);
  });
});
