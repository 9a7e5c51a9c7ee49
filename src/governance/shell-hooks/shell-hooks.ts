/**
 * Shell hooks as hooks of the engine: asked after all others, those of the project before those of the user, so that a guard of the
 * user sees what will run. A guard that gives no clear answer blocks.
 */

import { isAboutTool, type ShellHook } from "#artifacts";
import { cutAtBlank, defined, isRecord } from "#base";
import { type Hook, type HookCall, type HookDecision, HookFailed } from "#engine";
import { answerOf, type HookAnswer, UnusableAnswer } from "./hook-answer.ts";
import { compileCondition } from "./hook-condition.ts";
import { calledTool, eventNames, hookInput, type SessionFacts } from "./hook-input.ts";
import { compileMatcher, type Matcher } from "./hook-matcher.ts";
import { runHookProgram } from "./hook-program.ts";
import { otherToolNames, ownArguments, ownResponse } from "./tool-vocabulary.ts";

const NAME_CHARS = 80;

/** Throws ConfigInvalid for a matcher of the user that is not a regular expression. */
export function createShellHooks(declared: readonly ShellHook[], facts: SessionFacts): readonly Hook[] {
  const inOrder = declared.toSorted((a, b) => Number(a.tier === "user") - Number(b.tier === "user"));
  return inOrder.map((hook) => createShellHook(hook, matcherOf(hook), facts));
}

/** That of a project may be wrong while a session runs: such a hook fails whenever it is asked, and a guard that fails blocks. */
function matcherOf(hook: ShellHook): Matcher {
  if (hook.tier === "user") return compileMatcher(hook);
  let compiled: Matcher | undefined;
  return (names) => {
    compiled ??= compileMatcher(hook);
    return compiled(names);
  };
}

function createShellHook(hook: ShellHook, matches: Matcher, facts: SessionFacts): Hook {
  const { event, source, onError } = hook;
  const covers = compileCondition(hook);
  return {
    name: cutAtBlank(hook.command.replace(/\s+/g, " ").trim(), NAME_CHARS),
    event: eventNames[event].own,
    writtenEvent: event,
    isProgram: true,
    source,
    // What one of them changes, the hooks of the machine's policy see again.
    tier: "project",
    priority: 0,
    onError: event === "PreToolUse" ? onError : "allow",
    matches(call) {
      if (!isAbout(event, call)) return false;
      const names = namesOf(event, call, facts);
      return (names === undefined || matches(names)) && (!isAboutTool(event) || covers(calledHere(call)));
    },
    handle: (call) => ask(hook, call, facts),
  };
}

async function ask(hook: ShellHook, call: HookCall, facts: SessionFacts): Promise<HookDecision> {
  const input = facts.redact(hookInput(hook.event, call, facts));
  await facts.checkScripts(hook, call);
  const root = call.ports.files.root;
  const env = { CLAUDE_PROJECT_DIR: root, HOOK_EVENT_NAME: eventNames[hook.event].foreign };
  const { exit, ran } = await runHookProgram(hook, call, { stdin: JSON.stringify(input), env });
  try {
    const answer = answerOf(hook.event, exit);
    const heard = (await mayAllow(hook, call, answer)) ? answer : withoutAllow(hook, answer);
    return { ...decisionOf(call, heard, input, hook.event), ran, ...defined({ message: heard.message }) };
  } catch (error) {
    if (error instanceof UnusableAnswer) throw new HookFailed(error.message, ran);
    throw error;
  }
}

/** A person's input and the end of their turn are those of the root agent; calls are everybody's. */
function isAbout(event: ShellHook["event"], { depth }: HookCall): boolean {
  return depth === 0 || isAboutTool(event) || event === "Compact";
}

/** What the matcher is compared with; undefined for events that have none. */
function namesOf(event: ShellHook["event"], call: HookCall, facts: SessionFacts): readonly string[] | undefined {
  if (event === "SessionStart") return [facts.startedBy];
  if (event === "Compact") return [isRecord(call.payload) ? String(call.payload.trigger) : ""];
  if (!isAboutTool(event)) return undefined;
  const { tool } = calledHere(call);
  return [calledTool(call, facts).name, tool, ...otherToolNames(tool)];
}

function calledHere({ payload, ports }: HookCall) {
  const { name, args } = isRecord(payload) ? payload : {};
  return { tool: String(name), args: isRecord(args) ? args : {}, root: ports.files.root };
}

function decisionOf(call: HookCall, answer: HookAnswer, input: unknown, event: ShellHook["event"]): HookDecision {
  const { block, stop, context } = answer;
  const remarks = defined({ context });
  switch (event) {
    case "PreToolUse": {
      if (stop !== undefined) return { ...remarks, action: "block", reason: stop, endsTurn: stop };
      if (block !== undefined) return { ...remarks, action: "block", reason: block };
      const said = { ...remarks, ...defined({ permission: answer.permission }) };
      return answer.updatedInput === undefined
        ? { ...said, action: "allow" }
        : { ...said, action: "modify", payload: changedArguments(call, answer.updatedInput, input) };
    }
    case "PostToolUse": {
      // The call has run: the model reads its result, and what the hook has to say about it.
      const told = [block, context].filter((text) => text !== undefined).join("\n\n");
      const said = { ...(told !== "" && { context: told }), ...defined({ endsTurn: stop }) };
      return answer.updatedOutput === undefined
        ? { ...said, action: "allow" }
        : { ...said, action: "modify", payload: { content: ownResponse(answer.updatedOutput) } };
    }
    case "Stop":
      return stop === undefined && block !== undefined ? { action: "block", reason: block } : { action: "allow" };
    case "SessionStart":
      // It cannot keep the session from starting; the person reads why it wanted to.
      if (block !== undefined) throw new UnusableAnswer(block);
      return { ...remarks, action: "allow" };
    case "UserPromptSubmit":
    case "Compact": {
      const reason = stop ?? block;
      return reason === undefined ? { ...remarks, action: "allow" } : { action: "block", reason };
    }
  }
}

/** That a call runs unasked is for the user to say, and neither for a project nor for a script that somebody else may write. */
async function mayAllow(
  { tier, command, scripts }: ShellHook,
  { ports: { files } }: HookCall,
  { permission }: HookAnswer,
): Promise<boolean> {
  if (permission?.effect !== "allow") return true;
  if (tier === "project" || command.includes(`${files.root}/`)) return false;
  for (const path of scripts) if ((await files.stat(path))?.kind === "file") return false;
  return true;
}

function withoutAllow({ tier }: ShellHook, { permission: _, ...rest }: HookAnswer): HookAnswer {
  if (tier === "project") return rest;
  const { message } = rest;
  const why = "It allows the call, which has no effect: its script is a file of the workspace.";
  return { ...rest, message: [message, why].filter((part) => part !== undefined).join("\n") };
}

function changedArguments({ payload }: HookCall, updated: Readonly<Record<string, unknown>>, input: unknown) {
  const { name, args } = isRecord(payload) ? payload : {};
  const told = isRecord(input) && isRecord(input.tool_input) ? input.tool_input : {};
  return { args: ownArguments(String(name), isRecord(args) ? args : {}, told, updated) };
}
