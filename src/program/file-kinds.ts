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
  config: "says who the agent is, where the conversation goes, and what runs without a question",
  tool: "a script that the model can call",
  hook: "a script that runs by itself at events",
  agent: "an agent that work can be handed to",
  plugin: "text for the prompt, and tools and hooks with it",
  builtin: "text for the prompt, and tools and hooks with it",
  override: "text for the prompt, and tools and hooks with it",
  context: "its text joins the prompt",
  eval: "calls, rules and scripts that harness eval runs",
};
