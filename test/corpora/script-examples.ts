/** Examples of tools, hooks, agents and conditions as people write them, each with what it does or why it is refused. */
import { hookExamples } from "./hook-examples.ts";
import { artifact, type ScriptExample } from "./script-example.ts";

export const scriptExamples: readonly ScriptExample[] = [
  {
    name: "a tool that answers with a dict",
    kind: "tool",
    text: artifact(
      'parameters:\n  guest:\n    type: string\n    required: true\n    description: "Who is welcomed"\ntimeout_ms: 2000\n',
      `
def run(args):
    guest = args.get("guest", "")
    if not guest:
        return {"error": "nobody to welcome"}
    return {"welcomed": True, "line": "Come in, " + guest + "."}`,
    ),
    does: [
      [{ guest: "Mina" }, { welcomed: true, line: "Come in, Mina." }],
      [{ guest: "" }, { failed: errorText("nobody to welcome") }],
    ],
  },
  {
    name: "a tool with a one-line answer",
    kind: "tool",
    text: artifact(
      "timeout_ms: 500\nparameters:\n  town: { type: string, required: true }\n",
      'def run(args):\n    return "Fog for miles in " + args["town"]',
    ),
    does: [[{ town: "Lund" }, "Fog for miles in Lund"]],
  },
  {
    name: "a tool whose parameter is called differently",
    kind: "tool",
    text: artifact(
      "description: Says it again.\ntimeout_ms: 1000\nparameters:\n  line: { type: string, required: true }\n",
      "def run(line):\n    return line",
    ),
    does: [[{ line: "hey" }, { line: "hey" }]],
  },
  {
    name: "a tool that runs a program and cuts its output",
    kind: "tool",
    text: artifact(
      "parameters:\n  line: { type: string, required: true }\n  timeout_ms: { type: number, required: false }\n",
      `
def run(args):
    line = args.get("line", "")
    limit = args.get("timeout_ms", 8000)
    done = exec.run("sh", ["-c", line], limit)
    return {"out": string.truncate(done.get("stdout", ""), 5), "code": done.get("exit_code", 0)}`,
    ),
    does: [[{ line: "printf abc; exit 3" }, { out: "abc", code: 3 }]],
  },
  {
    name: "a tool that fetches a page",
    kind: "tool",
    text: artifact(
      "parameters:\n  page: { type: string, required: true }\n  timeout_ms: { type: number, required: false }\n",
      `
def run(args):
    answer = http.get(args.get("page", ""), {}, args.get("timeout_ms", 4000))
    return {"status": answer.get("status", 0), "start": string.truncate(answer.get("body", ""), 7)}`,
    ),
    does: [[{ page: "https://example.org/x" }, { status: 200, start: "page o…" }]],
  },
  {
    name: "a tool that reads a file line by line",
    kind: "tool",
    text: artifact(
      "parameters:\n  file: { type: string, required: true }\n  skip_empty: { type: boolean, required: false }\ntimeout_ms: 3000\n",
      `
def run(args):
    file = args.get("file", "")
    if not fs.exists(file):
        return {"error": "there is no " + file}
    rows, words = 0, 0
    for row in fs.read(file).split("\\n"):
        if args.get("skip_empty", False) and row.strip() == "":
            continue
        rows += 1
        words += len(row.split())
    return {"rows": rows, "words": words}`,
    ),
    does: [
      [
        { file: "notes.txt", skip_empty: true },
        { rows: 2, words: 3 },
      ],
      [{ file: "notes.txt" }, { rows: 4, words: 3 }],
      [{ file: "gone.txt" }, { failed: errorText("there is no gone.txt") }],
    ],
  },
  {
    name: "a tool that collects matches",
    kind: "tool",
    text: artifact("", 'def run(args):\n    return json.encode(re.find_all(args["what"], args["where"]))'),
    does: [[{ what: "[a-z]+", where: "1ab2c" }, [["ab"], ["c"]]]],
  },
  {
    name: "a tool with a placeholder for its body",
    kind: "tool",
    text: artifact(
      "",
      'def run(args):\n    if not args.get("line"):\n        return {"error": "line is required"}\n    ...',
    ),
    refused: "got '.', want primary expression",
    why: "A placeholder is not a program.",
  },
  {
    name: "a verifier that asks a server",
    kind: "tool",
    text: artifact(
      "",
      `
def run(result):
    answer = http.get("https://example.org/health")
    up = answer["status"] in [200, 204]
    return json.encode({"verified": up, "reason": "" if up else "the server said %d" % answer["status"]})`,
    ),
    does: [[{ response: "it is up" }, { verified: true, reason: "" }]],
  },
  {
    name: "a verifier that reads the answer",
    kind: "tool",
    text: artifact(
      "",
      `
def run(result):
    order = json.decode(result.get("response", ""), default=None)
    if order == None:
        return json.encode({"verified": False, "reason": "no JSON"})
    return json.encode({"verified": "number" in order})`,
    ),
    does: [
      [{ response: '{"number": 7}' }, { verified: true }],
      [{ response: "done!" }, { verified: false, reason: "no JSON" }],
    ],
  },
  {
    name: "a verifier that looks for a file",
    kind: "tool",
    text: artifact(
      "",
      `
def run(result):
    info = fs.stat("notes.txt")
    return json.encode({"verified": info != None, "reason": "" if info else "it is not there"})`,
    ),
    does: [[{}, { verified: true, reason: "" }]],
  },
  {
    name: "a verifier that expects arguments besides the result",
    kind: "tool",
    text: artifact("", 'def run(result):\n    return json.encode({"verified": fs.exists(args["file"])})'),
    refused: "undefined: args",
    why: "A verifier is given the result alone.",
  },
  ...hookExamples,
  {
    name: "an agent with tools of its own",
    kind: "agent",
    text: `---
model: gpt-4o-mini
description: Looks things up
tools:
  - name: fetch
    parameters:
      page: { type: string, required: true }
    script: |
      def run(args):
          return http.get(args["page"], {}, 20)["status"]
  - name: find
    parameters:
      text: { type: string, required: true }
    script: |
      def run(args):
          return json.encode(re.find_all("[0-9]+", args["text"]))
  - count_words
hooks:
  - scout_guard
---

You look things up.
`,
    does: [[{ page: "https://example.org/" }, "200"]],
  },
  {
    name: "a condition on one value",
    kind: "condition",
    text: 'ctx.get("phase") == "night"',
    does: [
      [{ phase: "night" }, true],
      [{}, false],
    ],
  },
  {
    name: "a condition on two values",
    kind: "condition",
    text: 'ctx.get("phase") == "night" and ctx.get("strict") == True',
    does: [
      [{ phase: "night", strict: true }, true],
      [{ phase: "night" }, false],
    ],
  },
  {
    name: "a condition with chained comparisons",
    kind: "condition",
    text: "6 <= time.now() % 86400 / 3600 < 20",
    refused: "<= does not associate with <",
    why: "Starlark does not chain comparisons, and time.now() is a text.",
  },
];

function errorText(error: string): string {
  return JSON.stringify({ error });
}
