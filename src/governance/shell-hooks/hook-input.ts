/** What a hook reads on standard input: one JSON object, in the words of Claude Code and Codex. */

import type { ShellHook, ShellHookEvent } from "#artifacts";
import { defined, isRecord } from "#base";
import type { HookCall } from "#engine";
import { type ForeignCall, foreignCall, foreignResponse } from "./tool-vocabulary.ts";

/** What hooks are told of the session. Asked whenever one runs. */
export interface SessionFacts {
  model(): string;
  permissionMode(): "default" | "plan" | "acceptEdits" | "bypassPermissions";
  /** How the session began. */
  readonly startedBy: "startup" | "resume";
  /** Names of the MCP servers of the session. */
  readonly servers: readonly string[];
  /** Rejects with HookHashChanged when a script of a project hook is not the one that was acked. */
  checkScripts(hook: ShellHook, call: HookCall): Promise<void>;
  /** Without secrets. Throws where it cannot be told. */
  redact(value: unknown): unknown;
}

/** Our lifecycle event, and what other agents call the event of the hook. */
export const eventNames: Readonly<Record<ShellHookEvent, { readonly own: string; readonly foreign: string }>> = {
  SessionStart: { own: "session.start", foreign: "SessionStart" },
  UserPromptSubmit: { own: "turn.start", foreign: "UserPromptSubmit" },
  PreToolUse: { own: "tool.pre", foreign: "PreToolUse" },
  PostToolUse: { own: "tool.post", foreign: "PostToolUse" },
  Compact: { own: "context.compact", foreign: "PreCompact" },
  Stop: { own: "agent.stop", foreign: "Stop" },
};

export function hookInput(event: ShellHookEvent, call: HookCall, facts: SessionFacts): Record<string, unknown> {
  const { session, turn, ports, payload } = call;
  return {
    session_id: session,
    // There is no such file here; an empty path is one that no script finds.
    transcript_path: "",
    cwd: ports.files.root,
    permission_mode: facts.permissionMode(),
    hook_event_name: eventNames[event].foreign,
    model: facts.model(),
    ...defined({ turn_id: turn }),
    ...aboutEvent(event, payload, call, facts),
  };
}

function aboutEvent(
  event: ShellHookEvent,
  payload: unknown,
  call: HookCall,
  facts: SessionFacts,
): Record<string, unknown> {
  const fields = isRecord(payload) ? payload : {};
  switch (event) {
    case "SessionStart":
      return { source: facts.startedBy };
    case "UserPromptSubmit":
      return { prompt: typeof payload === "string" ? payload : "" };
    case "Compact":
      return { trigger: fields.trigger, custom_instructions: fields.focus };
    case "Stop":
      return { stop_hook_active: Number(fields.attempt ?? 0) > 0, last_assistant_message: fields.text ?? "" };
    case "PreToolUse":
      return toolFields(calledTool(call, facts), fields.id);
    case "PostToolUse": {
      const foreign = calledTool(call, facts);
      const content = typeof fields.content === "string" ? fields.content : "";
      const tool_response = foreignResponse(foreign, content, fields.is_error === true);
      return { ...toolFields(foreign, fields.call_id), tool_response };
    }
  }
}

/** The call that the hook is asked about, in the words that it knows. */
export function calledTool({ payload, ports }: HookCall, { servers }: Pick<SessionFacts, "servers">): ForeignCall {
  const { name, args } = isRecord(payload) ? payload : {};
  return foreignCall(String(name ?? ""), isRecord(args) ? args : {}, ports.files.root, servers);
}

function toolFields({ name, input }: ForeignCall, id: unknown): Record<string, unknown> {
  return { tool_name: name, tool_input: input, tool_use_id: id };
}
