/** Hook scripts in the shapes that public collections use, each with what the documentation of Claude Code promises for it. */

export interface HookScript {
  readonly name: string;
  readonly program: "bash" | "python3" | "node";
  readonly needs?: "jq";
  readonly event: "PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "SessionStart" | "Stop";
  readonly text: string;
  /** A payload of our event, with what is expected of it. */
  readonly cases: readonly (readonly [payload: unknown, expected: HookOutcome])[];
}

export interface HookOutcome {
  readonly blocked: boolean;
  /** Text that stands in the reason. */
  readonly says?: string;
  readonly context?: string;
  readonly permission?: "allow" | "ask";
  readonly args?: unknown;
  readonly endsTurn?: true;
}

const call = (name: string, args: object) => ({ id: "call_1", name, args, arguments: args, arguments_json: "{}" });
const done = (name: string, args: object, content = "ok") => ({
  call_id: "call_1",
  name,
  args,
  content,
  is_error: false,
});
const bash = (command: string) => call("exec", { command });
const PASSES: HookOutcome = { blocked: false };

export const hookScripts: readonly HookScript[] = [
  {
    name: "blocks rm -rf with jq",
    program: "bash",
    needs: "jq",
    event: "PreToolUse",
    text: `#!/usr/bin/env bash
set -euo pipefail
input=$(cat)
command=$(jq -r '.tool_input.command // empty' <<<"$input")
if grep -qE 'rm[[:space:]]+-[a-zA-Z]*r[a-zA-Z]*f' <<<"$command"; then
  echo "Blocked: rm -rf is not allowed" >&2
  exit 2
fi`,
    cases: [
      [bash("rm -rf build"), { blocked: true, says: "rm -rf is not allowed" }],
      [bash("ls -la"), PASSES],
    ],
  },
  {
    name: "protects .env files",
    program: "python3",
    event: "PreToolUse",
    text: `import json, sys
data = json.load(sys.stdin)
path = data.get("tool_input", {}).get("file_path", "")
if ".env" in path and not path.endswith(".env.sample"):
    print("BLOCKED: access to .env files is prohibited", file=sys.stderr)
    sys.exit(2)
sys.exit(0)`,
    cases: [
      [call("fs.read", { path: ".env" }), { blocked: true, says: "prohibited" }],
      [call("fs.read", { path: ".env.sample" }), PASSES],
    ],
  },
  {
    name: "denies with JSON",
    program: "python3",
    event: "PreToolUse",
    text: `import json, re, sys
d = json.load(sys.stdin)
if d["tool_name"] != "Bash": sys.exit(0)
if re.search(r"git\\s+push\\s+.*--force", d["tool_input"]["command"]):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no force pushes"}}))`,
    cases: [
      [bash("git push --force"), { blocked: true, says: "no force pushes" }],
      [bash("git push"), PASSES],
      [call("fs.list", { path: "." }), PASSES],
    ],
  },
  {
    name: "asks for network commands",
    program: "node",
    event: "PreToolUse",
    text: `let s = ""; process.stdin.on("data", (d) => (s += d)).on("end", () => {
  const { tool_input } = JSON.parse(s);
  if (/\\b(curl|wget)\\b/.test(tool_input.command ?? ""))
    console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask", permissionDecisionReason: "network" } }));
});`,
    cases: [
      [bash("curl example.com"), { blocked: false, permission: "ask" }],
      [bash("ls"), PASSES],
    ],
  },
  {
    name: "approves documentation edits, in the older form",
    program: "python3",
    event: "PreToolUse",
    text: `import json, sys
i = json.load(sys.stdin)
if i["tool_input"].get("file_path", "").endswith((".md", ".txt")):
    print(json.dumps({"decision": "approve", "reason": "Documentation file auto-approved", "suppressOutput": True}))
sys.exit(0)`,
    cases: [
      [call("fs.edit", { path: "README.md", old_text: "a", new_text: "b" }), { blocked: false, permission: "allow" }],
      [call("fs.edit", { path: "a.ts", old_text: "a", new_text: "b" }), PASSES],
    ],
  },
  {
    name: "rewrites grep to rg",
    program: "python3",
    event: "PreToolUse",
    text: `import json, sys
d = json.load(sys.stdin)
c = d["tool_input"]["command"]
if c.startswith("grep "):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {**d["tool_input"], "command": "rg " + c[5:]}}}))`,
    cases: [[bash("grep -r x ."), { blocked: false, permission: "allow", args: { command: "rg -r x ." } }]],
  },
  {
    name: "validates commands against a list of rules",
    program: "python3",
    event: "PreToolUse",
    text: `#!/usr/bin/env python3
import json, re, sys
RULES = [(r"\\bgrep\\b(?!.*\\|)", "Use 'rg' instead of 'grep'"), (r"\\bfind\\s+\\S+\\s+-name\\b", "Use 'rg --files'")]
try:
    input_data = json.load(sys.stdin)
except json.JSONDecodeError as e:
    print(f"Error: Invalid JSON input: {e}", file=sys.stderr); sys.exit(1)
command = input_data.get("tool_input", {}).get("command", "")
issues = [m for p, m in RULES if re.search(p, command)]
if issues:
    for m in issues: print(f"* {m}", file=sys.stderr)
    sys.exit(2)`,
    cases: [
      [bash("find . -name a"), { blocked: true, says: "rg --files" }],
      [bash("ls"), PASSES],
    ],
  },
  {
    name: "keeps writes inside the project",
    program: "bash",
    event: "PreToolUse",
    text: `#!/bin/bash
file=$(sed -n 's/.*"file_path":"\\([^"]*\\)".*/\\1/p')
case "$file" in
  "$CLAUDE_PROJECT_DIR"/*|"") exit 0 ;;
  *) echo "outside of the project: $file" >&2; exit 2 ;;
esac`,
    cases: [
      [call("fs.write", { path: "src/a.ts", content: "" }), PASSES],
      [call("fs.write", { path: "/etc/passwd", content: "" }), { blocked: true, says: "outside of the project" }],
    ],
  },
  {
    name: "protects the main branch",
    program: "bash",
    event: "PreToolUse",
    text: `#!/bin/sh
if grep -q '"command":"git commit'; then
  echo '{"decision": "block", "reason": "commit on a branch"}'
fi`,
    cases: [[bash("git commit -m x"), { blocked: true, says: "commit on a branch" }]],
  },
  {
    name: "stops the session outside of office hours",
    program: "bash",
    event: "PreToolUse",
    text: `cat >/dev/null; echo '{"continue": false, "stopReason": "outside of office hours"}'`,
    cases: [[bash("ls"), { blocked: true, says: "office hours" }]],
  },
  {
    name: "logs every command",
    program: "bash",
    event: "PreToolUse",
    text: `input=$(cat); printf '%s\\n' "$input" >> "$CLAUDE_PROJECT_DIR/commands.log"; exit 0`,
    cases: [[bash("ls"), PASSES]],
  },
  {
    name: "guards calls of an MCP server",
    program: "python3",
    event: "PreToolUse",
    text: `import json, sys
d = json.load(sys.stdin)
if d["tool_name"].startswith("mcp__github__delete"):
    sys.exit("never") if False else (print("deletes are blocked", file=sys.stderr), sys.exit(2))`,
    cases: [[call("mcp.github.delete_repo", { repo: "x" }), { blocked: true, says: "deletes are blocked" }]],
  },
  {
    name: "formats after an edit",
    program: "bash",
    needs: "jq",
    event: "PostToolUse",
    text: `jq -r '.tool_input.file_path' | { read -r file; case "$file" in *.ts) echo "formatted $file";; esac; }`,
    cases: [[done("fs.edit", { path: "a.ts" }), PASSES]],
  },
  {
    name: "reports lint errors after an edit",
    program: "bash",
    event: "PostToolUse",
    text: `cat >/dev/null; echo "a.ts:1 unexpected any" >&2; exit 2`,
    cases: [[done("fs.write", { path: "a.ts" }), { blocked: false, context: "unexpected any" }]],
  },
  {
    name: "blocks with feedback when a type check fails",
    program: "node",
    event: "PostToolUse",
    text: `const fs = require("node:fs"); const d = JSON.parse(fs.readFileSync(0, "utf8"));
if (d.tool_response.success) console.log(JSON.stringify({ decision: "block", reason: "types are wrong in " + require("node:path").basename(d.tool_input.file_path) }));`,
    cases: [[done("fs.edit", { path: "a.ts" }), { blocked: false, context: "types are wrong in a.ts" }]],
  },
  {
    name: "adds context after a test run",
    program: "python3",
    event: "PostToolUse",
    text: `import json, sys
d = json.load(sys.stdin)
if "FAIL" in d["tool_response"]["stdout"]:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "fix the failing test first"}}))`,
    cases: [
      [done("exec", { command: "npm test" }, "1 FAIL"), { blocked: false, context: "fix the failing test first" }],
      [done("exec", { command: "npm test" }, "ok"), PASSES],
    ],
  },
  {
    name: "adds the time to a prompt",
    program: "bash",
    event: "UserPromptSubmit",
    text: `echo "Current time: $(date +%Y)"`,
    cases: [["hello", { blocked: false, context: "Current time: 20" }]],
  },
  {
    name: "refuses prompts with secrets",
    program: "python3",
    event: "UserPromptSubmit",
    text: `import json, re, sys
d = json.load(sys.stdin)
if re.search(r"(?i)\\b(password|secret)\\s*[:=]", d.get("prompt", "")):
    print(json.dumps({"decision": "block", "reason": "Security policy violation: rephrase without secrets"})); sys.exit(0)
print("Team: platform")
sys.exit(0)`,
    cases: [
      ["password: x", { blocked: true, says: "Security policy violation" }],
      ["hello", { blocked: false, context: "Team: platform" }],
    ],
  },
  {
    name: "loads the context of a session",
    program: "python3",
    event: "SessionStart",
    text: `import json, sys
source = json.load(sys.stdin).get("source")
print(json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": f"started by {source}"}}))`,
    cases: [[null, { blocked: false, context: "started by startup" }]],
  },
  {
    name: "notifies when the agent stops",
    program: "bash",
    event: "Stop",
    text: `command -v notify-send >/dev/null && notify-send done; printf '\\a' > /dev/null; exit 0`,
    cases: [[{ text: "done", attempt: 0 }, PASSES]],
  },
  {
    name: "sends the agent back until the tests ran",
    program: "node",
    event: "Stop",
    text: `const d = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
if (d.stop_hook_active) process.exit(0);
console.log(JSON.stringify({ decision: "block", reason: "run the tests" }));`,
    cases: [
      [
        { text: "done", attempt: 0 },
        { blocked: true, says: "run the tests" },
      ],
      [{ text: "done", attempt: 1 }, PASSES],
    ],
  },
  {
    name: "a one-liner with a crash",
    program: "bash",
    event: "PreToolUse",
    text: "exit 1",
    cases: [[bash("ls"), { blocked: true, says: "exit code 1" }]],
  },
];
