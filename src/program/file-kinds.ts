/** What the files of a project are called, and what each can do. */
import type { AwaitingFile } from "#artifacts";

export const kindNames: Readonly<Record<AwaitingFile["kind"], string>> = {
  config: "root file",
  tool: "tool",
  hook: "hook",
  agent: "agent",
  plugin: "bundle",
  builtin: "bundle",
  override: "bundle",
  context: "context file",
  eval: "eval case",
};

/** What a file can do once it is acked. */
export const powers: Readonly<Record<AwaitingFile["kind"], string>> = {
  config: "defines who the agent is, which model it uses, and what runs without asking",
  tool: "a script that the model can call",
  hook: "a script that runs on events, without being called",
  agent: "an agent that can receive delegated tasks",
  plugin: "text for the prompt, with tools and hooks",
  builtin: "text for the prompt, with tools and hooks",
  override: "text for the prompt, with tools and hooks",
  context: "text for the prompt",
  eval: "calls, rules and scripts that harness eval runs",
};
