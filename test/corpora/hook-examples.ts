/** Examples of hooks as people write them, each with what it does or why it is refused. */
import { artifact, type ScriptExample } from "./script-example.ts";

const allowed = { action: "allow" };
const blocked = (reason: string) => ({ action: "block", reason });

const preCall = (name: string, args: object) => ({
  id: "call_1",
  name,
  args,
  arguments: args,
  arguments_json: JSON.stringify(args),
});

export const hookExamples: readonly ScriptExample[] = [
  {
    name: "a hook that writes a line about each call",
    kind: "hook",
    text: artifact(
      "event: tool.pre\npriority: 2\n",
      `
def handle(event, payload):
    log("about to call " + payload.get("name", "?") + " with " + str(payload.get("arguments", {})))
    return {"action": "allow"}`,
    ),
    does: [[preCall("peek", { at: "x" }), { ...allowed, said: ['about to call peek with {"at": "x"}'] }]],
  },
  {
    name: "a hook that counts calls",
    kind: "hook",
    text: artifact(
      "event: tool.pre\npriority: 2\n",
      `
def handle(event, payload):
    metrics.incr("calls.begun")
    log("[count] " + payload.get("name", "?"))
    return allow()`,
    ),
    does: [[preCall("peek", {}), { ...allowed, said: ["[count] peek"] }]],
  },
  {
    name: "a hook that counts results",
    kind: "hook",
    text: artifact(
      "event: tool.post\npriority: 2\n",
      `
def handle(event, payload):
    metrics.incr("calls.ended")
    log("[count] " + payload.get("name", "?"))
    return allow()`,
    ),
    does: [
      [
        { call_id: "c", name: "peek", content: "", result: "", is_error: false },
        { ...allowed, said: ["[count] peek"] },
      ],
    ],
  },
  {
    name: "a hook that writes a line about each result of one tool",
    kind: "hook",
    text: artifact(
      'event: tool.post\npriority: 60\nwhen: \'payload["name"] == "peek"\'\n',
      `
def handle(event, payload):
    log("peek failed=" + str(payload.get("is_error", False)) +
        " size=" + str(len(payload.get("result", ""))))
    return {"action": "allow"}`,
    ),
    does: [
      [
        { name: "peek", result: "abc", is_error: false },
        { ...allowed, said: ["peek failed=False size=3"] },
      ],
      [{ name: "poke", result: "abc", is_error: false }, "not asked"],
    ],
  },
  {
    name: "a guard with a list of words",
    kind: "hook",
    text: artifact(
      'event: tool.pre\npriority: 11\nwhen: payload["name"] == "run_line"\n',
      `
def handle(event, payload):
    line = payload.get("args", {}).get("line", "")
    for word in ["format c:", "halt", "wipefs"]:
        if word in line:
            metrics.incr("guard.refused")
            return block("not with '" + word + "'")
    return allow()`,
    ),
    does: [
      [preCall("run_line", { line: "halt -f" }), blocked("not with 'halt'")],
      [preCall("run_line", { line: "ls" }), allowed],
      [preCall("peek", { line: "halt" }), "not asked"],
    ],
  },
  {
    name: "a guard over paths of several tools",
    kind: "hook",
    text: artifact(
      'event: tool.pre\npriority: 11\nwhen: payload["name"] in ["fs.read", "fs.search"]\n',
      `
def handle(event, payload):
    args = payload.get("args", {})
    path = args.get("path", "") or args.get("glob", "")
    if ".." in path:
        metrics.incr("guard.refused")
        return block("nothing above this folder")
    if path.startswith("/") or (len(path) > 1 and path[1] == ":"):
        return block("only paths of this folder")
    return allow()`,
    ),
    does: [
      [preCall("fs.read", { path: "../x" }), blocked("nothing above this folder")],
      [preCall("fs.search", { glob: "C:x" }), blocked("only paths of this folder")],
      [preCall("fs.read", { path: "x" }), allowed],
    ],
  },
  {
    name: "a guard that answers with dicts",
    kind: "hook",
    text: artifact(
      'event: tool.pre\npriority: 11\nwhen: \'payload["name"] == "peek"\'\n',
      `
def handle(event, payload):
    path = payload.get("arguments", {}).get("path", "")
    for start in ["/sys/", "/boot/"]:
        if path.startswith(start):
            return {"action": "block", "reason": path + " is not for agents"}
    return {"action": "allow"}`,
    ),
    does: [
      [preCall("peek", { path: "/sys/x" }), blocked("/sys/x is not for agents")],
      [preCall("peek", { path: "x" }), allowed],
    ],
  },
  {
    name: "a guard with the old entry point",
    kind: "hook",
    text: artifact(
      "event: tool.pre\npriority: 11\n",
      `
def run(ctx):
    for key in ("path", "folder"):
        value = ctx.tool.args.get(key, "")
        if not value:
            continue
        if value.startswith("/"):
            return {"decision": "block", "reason": "'%s' is absolute" % value}
    return {"decision": "allow"}`,
    ),
    refused: "has no function handle; it has run",
    why: "The entry point of a hook is handle(event, payload).",
  },
  {
    name: "a guard in the words of another program",
    kind: "hook",
    text: artifact(
      "event: tool.pre\npriority: 11\n",
      `
def handle(event, payload):
    if payload.get("args", {}).get("path", "").startswith("/"):
        return {"decision": "block", "reason": "absolute"}
    return {"decision": "allow"}`,
    ),
    does: [
      [preCall("peek", { path: "/x" }), blocked("absolute")],
      [preCall("peek", { path: "x" }), allowed],
    ],
  },
  {
    name: "a guard with named arguments",
    kind: "hook",
    text: artifact(
      "event: tool.pre\n",
      `
def handle(event, payload):
    if payload.get("name") != "peek":
        return allow()
    if payload.get("arguments", {}).get("path", "").startswith("/proc/"):
        return block(reason="the kernel's")
    return allow()`,
    ),
    does: [
      [preCall("peek", { path: "/proc/1" }), blocked("the kernel's")],
      [preCall("poke", { path: "/proc/1" }), allowed],
    ],
  },
  {
    name: "a hook with functions that nobody wrote",
    kind: "hook",
    text: artifact(
      "event: tool.pre\n",
      `
def handle(event, payload):
    if not _should_inspect(payload):
        return allow()
    reason = _scan(payload)
    return block(reason) if reason else allow()`,
    ),
    refused: "undefined: _should_inspect",
    why: "Every function that a script calls is in it, or built in.",
  },
  {
    name: "a hook whose condition is a placeholder",
    kind: "hook",
    text: artifact(
      'event: tool.pre\nwhen: "<when it matters>"\n',
      'def handle(event, payload):\n    return {"action": "allow"}',
    ),
    refused: "got '<', want primary expression",
    why: "A placeholder is not an expression.",
  },
  {
    name: "a hook of a list in harness.md",
    kind: "hook",
    text: artifact(
      'event: tool.pre\nhandler: count_reads\nwhen: \'payload["name"] == "fs.read"\'\npriority: 90\n',
      'def handle(event, payload):\n    metrics.incr("reads")\n    return {"action": "allow"}',
    ),
    does: [[preCall("fs.read", {}), allowed]],
  },
  {
    name: "a hook that fills in an argument",
    kind: "hook",
    text: artifact(
      'event: tool.pre\npriority: 21\nwhen: \'payload["name"] == "peek"\'\n',
      `
def handle(event, payload):
    args = payload.get("arguments", {})
    if "depth" not in args:
        args["depth"] = 2
        payload["arguments"] = args
        return {"action": "modify", "payload": payload}
    return {"action": "allow"}`,
    ),
    does: [
      [
        { name: "peek", arguments: { at: "x" } },
        { action: "modify", payload: { name: "peek", arguments: { at: "x", depth: 2 } } },
      ],
      [{ name: "peek", arguments: { depth: 1 } }, allowed],
    ],
  },
  {
    name: "a hook that changes one field",
    kind: "hook",
    text: artifact("event: tool.pre\n", 'def handle(event, payload):\n    return modify({"args": {"at": "y"}})'),
    does: [[preCall("peek", { at: "x" }), { action: "modify", payload: { args: { at: "y" } } }]],
  },
  {
    name: "a guard over what is registered",
    kind: "hook",
    text: artifact(
      "event: meta.register_tool\npriority: 6\n",
      `
def handle(event, payload):
    name = payload.get("name", "")
    for start in ["sh", "net."]:
        if name == start or name.startswith(start + "_"):
            metrics.incr("meta.refused")
            return block("no tool '" + name + "'")
    log("registered " + name)
    return allow()`,
    ),
    does: [
      [{ name: "sh_run" }, blocked("no tool 'sh_run'")],
      [{ name: "count" }, { ...allowed, said: ["registered count"] }],
    ],
  },
  {
    name: "a guard over what is said to the model",
    kind: "hook",
    text: artifact(
      "event: completion.pre\npriority: 51\n",
      `
def handle(event, payload):
    if len(payload.get("messages", [])) > 2:
        metrics.incr("guard.refused")
        return block("too much was said")
    return allow()`,
    ),
    does: [
      [{ messages: [1, 2, 3] }, blocked("too much was said")],
      [{ messages: [] }, allowed],
    ],
  },
  {
    name: "a guard over delegates",
    kind: "hook",
    text: artifact(
      'event: delegation.pre\npriority: 11\nwhen: payload.agent == "scout"\n',
      `
def handle(event, payload):
    if "salary" in payload.get("task", "").lower():
        return block("scouts know no salaries")
    return allow()`,
    ),
    does: [
      [{ agent: "scout", task: "The SALARY list" }, blocked("scouts know no salaries")],
      [{ agent: "clerk", task: "The salary list" }, "not asked"],
    ],
  },
  {
    name: "a hook that writes a line with fields about a delegate",
    kind: "hook",
    text: artifact(
      'event: delegation.post\npriority: 51\nwhen: payload.agent == "scout"\n',
      `
def handle(event, payload):
    log.info("scout is back", {"chars": len(payload.get("result", ""))})
    return allow()`,
    ),
    does: [
      [
        { agent: "scout", result: "abc" },
        { ...allowed, said: ['scout is back {"chars":3}'] },
      ],
    ],
  },
  {
    name: "a hook that does not believe a claim",
    kind: "hook",
    text: artifact(
      "event: delegation.post_verify\npriority: 11\n",
      `
def handle(event, payload):
    if "all tests pass" in payload.get("response", ""):
        return {"action": "block", "reason": "show the output"}
    return {"action": "allow"}`,
    ),
    does: [
      [{ response: "all tests pass" }, blocked("show the output")],
      [{ response: "2 fail" }, allowed],
    ],
  },
  {
    name: "a hook that notes what a turn cost",
    kind: "hook",
    text: artifact(
      'event: turn.end\nwhen: event == "turn.end"\n',
      `
def handle(event, payload):
    cents = payload.get("total_tokens", 0) * 50 / 1000000
    return {"action": "annotate", "attributes": {"turn.cents": cents}}`,
    ),
    does: [[{ total_tokens: 2000 }, { ...allowed, annotated: [{ "turn.cents": 0.1 }] }]],
  },
  {
    name: "a hook that names no event",
    kind: "hook",
    text: artifact('when: event == "turn.end"\n', "def handle(event, payload):\n    return allow()"),
    refused: '"event" is missing',
    why: "A hook is asked at one event, which it names.",
  },
  {
    name: "a number with digit separators",
    kind: "hook",
    text: artifact("event: turn.end\n", "def handle(event, payload):\n    log(str(1 / 1_000))\n    return allow()"),
    refused: "Starlark has no digit separators: write 1000",
    why: "Starlark writes a number without them.",
  },
  {
    name: "a hook for large results",
    kind: "hook",
    text: artifact(
      'event: tool.pre\nwhen: len(payload.get("content", "")) > 3\n',
      "def handle(event, payload):\n    return allow()",
    ),
    does: [
      [{ content: "abcd" }, allowed],
      [{ content: "abc" }, "not asked"],
    ],
  },
  {
    name: "a hook for errors alone",
    kind: "hook",
    text: artifact(
      'event: tool.post\nwhen: payload["is_error"] == True\n',
      "def handle(event, payload):\n    return allow()",
    ),
    does: [
      [{ is_error: true }, allowed],
      [{ is_error: false }, "not asked"],
    ],
  },
];
