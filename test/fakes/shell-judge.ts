/** Judges a shell command by the permission middleware as the program uses it, on a real workspace, running nothing. */

import type { ToolCall } from "#engine";
import { createWorkspaceFiles } from "#world";
import { createSessionLabels } from "../../src/governance/labels.ts";
import { createPermission } from "../../src/governance/permission.ts";
import { parseRule, type Rule, type RuleEffect } from "../../src/governance/rules.ts";
import { createExecTool } from "../../src/tools/exec.ts";
import { createToolContext } from "./temporary-workspace.ts";

/** `allow` is what happens without a question: a rule allows it, or it is quiet. */
export type Outcome = "allow" | "ask" | "deny";

export interface Judged {
  readonly outcome: Outcome;
  /** What a person or the model is told. */
  readonly text: string;
}

export interface ShellJudge {
  judge(command: string, args?: Readonly<Record<string, unknown>>): Promise<Judged>;
}

/** `rules` are written as `allow Bash(git *)`; the source of each is its place in the list. */
export function createShellJudge(root: string, rules: readonly string[] = []): ShellJudge {
  let asked = false;
  const files = createWorkspaceFiles(root);
  const written = rules.map(readRule);
  const permission = createPermission({
    // What was judged is told; questions are not, for nobody can answer.
    bus: {
      publish: () => Promise.reject(new Error("nothing is published here")),
      publishSoon: async () => undefined,
    } as never,
    approver: {
      canAnswer: () => {
        asked = true;
        return false;
      },
      decide: () => Promise.reject(new Error("nobody can be asked")),
      answer: () => Promise.resolve(undefined),
      ack: () => Promise.resolve(undefined),
      timeoutMs: 0,
    },
    rules: () => written,
    labels: createSessionLabels(),
    labelRules: () => [],
    isOffline: () => false,
    hold: async () => "sandbox",
    namedByGit: async () => [],
    network: () => "none",
    root,
    files,
    strict: () => false,
    binding: { programs: { program: () => "", environment: () => "" }, policyVersion: () => "" },
    newApproval: () => {
      throw new Error("nothing is approved here");
    },
    clock: { now: () => 0, monotonicMs: () => 0 },
    autoApprove: false,
    planMode: () => false,
  });
  const tool = createExecTool({ sleep: async () => undefined });
  const context = createToolContext({ files } as never);
  return {
    async judge(command, args = {}) {
      asked = false;
      // Only what the middleware looks at; the call never gets further.
      const call = { ...context, id: context.callId, tool, args: { ...args, command } } as unknown as ToolCall;
      let ran = false;
      const result = await permission.middleware(call, async () => {
        ran = true;
        return { outcome: "ok", content: [] } as never;
      });
      return { outcome: ran ? "allow" : asked ? "ask" : "deny", text: JSON.stringify(result.content) };
    },
  };
}

function readRule(text: string, index: number): Rule {
  const [, effect = "", rule = ""] = /^(\w+) (.*)$/s.exec(text) ?? [];
  return parseRule(rule, effect as RuleEffect, `rules:${index + 1}`);
}
