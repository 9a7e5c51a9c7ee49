/** What `validate` learns about scripts, with the place in the file. */
import { describe, expect, test } from "vitest";
import type { HookArtifact, Problem } from "#artifacts";
import { hookArtifact, source, toolArtifact } from "../../test/fakes/script-rig.ts";
import { createScriptChecker } from "./script-checker.ts";

const checker = createScriptChecker();
const shown = (problems: readonly Problem[]): string[] =>
  problems.map(({ severity, code, place, message, nearest, expected }) =>
    [`${severity} ${code} ${place.line}:${place.column} ${message}`, nearest, expected]
      .filter((part) => part !== undefined)
      .join(" | "),
  );
const tool = (script: string) => shown(checker.tool(toolArtifact(script)));
const hook = (script: string, fields: Partial<HookArtifact> = {}) => shown(checker.hook(hookArtifact(script, fields)));
const allow = "def handle(event, payload):\n    return allow()\n";
const when = (text: string) => hook(allow, { when: source(text, 3) });

describe("a tool", () => {
  test.each<[string, string[]]>([
    ["def run(args):\n    return fs.read(args['p'])\n", []],
    ["run = lambda args: 1\n", []],
    ["def run(args, extra=1):\n    return exec.run('ls')\n", []],
    ["def run(args):\n    return (1\n", ["error script-syntax 7:3 got outdent, want ')'"]],
    ["def main(args):\n    return 1\n", ["error script-entry 5:3 tool probe has no function run | def run(args):"]],
    [
      "def handle(event, payload):\n    return 1\n",
      ["error script-entry 5:7 tool probe has no function run; it has handle | def run(args):"],
    ],
    [
      "def run():\n    return 1\n",
      ["error script-entry 5:7 run of tool probe takes 0 arguments, and is called with 1 | def run(args):"],
    ],
    [
      "def run(a, b):\n    return 1\n",
      ["error script-entry 5:7 run of tool probe takes 2 arguments, and is called with 1 | def run(args):"],
    ],
    [
      "def run(args):\n    if isinstance(args, 'x'):\n        return jsn.encode(1)\n",
      [
        'error script-name 6:10 undefined: isinstance (write type(x) == "string") | type(x) == "string"',
        "error script-name 7:18 undefined: jsn | json",
      ],
    ],
    [
      "def run(args):\n    return time.noww()\n",
      ["error script-name 6:14 time has no function noww | time.now | time.now, time.unix"],
    ],
    [
      "def run(args):\n    import os\n",
      [
        "error script-syntax 6:7 import is not in the language (write the built-in modules, which need no import) | the built-in modules, which need no import",
      ],
    ],
  ])("%j", (script, expected) => {
    expect(tool(script)).toEqual(expected);
  });

  test("without a script has no problem", () => {
    const { script: _, ...declared } = toolArtifact("");
    expect(checker.tool(declared)).toEqual([]);
  });
});

describe("a hook", () => {
  test("may not name what only tools have", () => {
    const found = hook("def handle(event, payload):\n    exec.run('ls')\n    return allow()\n");
    expect(found).toEqual(["error script-name 6:7 exec is not available to hooks"]);
    const writes = hook("def handle(event, payload):\n    fs.write('a', 'b')\n    return allow()\n");
    expect(writes[0]).toMatch(/^error script-name 6:7 fs.write is not available to hooks/);
  });

  test.each<[string, RegExp | null]>([
    ['payload["name"] == "x"', null],
    ["payload[", /script-syntax 3:11/],
    ["payloda['x']", /script-name 3:3 undefined: payloda \| payload/],
    ["cache.get('x')", /cache is not available to when: and condition:/],
    ["payload.agent == 'x'", null],
    ["False", /warning condition-never 3:3/],
    ["payload['a'] == 'x' and payload['a'] == 'y'", /warning condition-never/],
    ["payload.get('a') and False", /warning condition-never/],
    ["payload['a'] in []", /warning condition-never/],
    ["1 == 1", /warning condition-always/],
    ["payload['a'] == 'x' and payload['b'] == 'y'", null],
  ])("when: %s", (text, expected) => {
    const found = when(text);
    if (expected === null) expect(found).toEqual([]);
    else expect(found.join("\n")).toMatch(expected);
  });

  test("condition: is asked without an event", () => {
    expect(shown(checker.condition("bundle x", source('ctx.get("mode") == "review"')))).toEqual([]);
    expect(shown(checker.condition("bundle x", source("None")))[0]).toContain(
      "the condition of bundle x is always false",
    );
    expect(shown(checker.condition("bundle x", source("payload['a'] == 1")))[0]).toContain(
      "evaluated outside of events",
    );
  });
});

describe("examples", () => {
  const guard = [
    "def handle(event, payload):",
    '    metrics.incr("seen")',
    '    if "rm -rf" in payload["args"]["command"]:',
    '        return block("no")',
    "    return allow()",
    "",
  ].join("\n");
  const example = (command: unknown, line: number, name = "run") => ({
    place: { file: ".harness/x.md", line, column: 5 },
    payload: { name, args: { command } },
  });
  const named = { when: source('payload["name"] == "run"', 3) };

  test("that hold are no problem", () => {
    expect(
      hook(guard, {
        ...named,
        match: [example("rm -rf /", 20)],
        notMatch: [example("ls", 21), example("rm -rf /", 22, "other")],
      }),
    ).toEqual([]);
  });

  test("that do not hold are reported where they are written", () => {
    expect(
      hook(guard, {
        ...named,
        match: [example("ls", 20), example("rm -rf", 21, "other"), example(7, 22)],
        notMatch: [example("rm -rf x", 23)],
      }),
    ).toEqual([
      "error example 20:5 hook guard must block or modify this payload, but it answers allow",
      "error example 21:5 hook guard must block or modify this payload, but its when: does not select it",
      expect.stringMatching(
        /^error example 22:5 hook guard must block or modify this payload, but it fails: .harness\/x.md:7:19/,
      ),
      "error example 23:5 hook guard must let this payload pass, but it blocks: no",
    ]);
  });

  test.each([
    "fs.exists('x')",
    "http.get('https://example.com')",
    "sleep(1)",
    "secrets.get('X')",
    "meta.call_tool('x')",
  ])("that need %s say so and have no effect", (effect) => {
    const script = `def handle(event, payload):\n    ${effect}\n    return block("x")\n`;
    const name = effect.slice(0, effect.indexOf("("));
    expect(hook(script, { match: [example("x", 9)] })).toEqual([
      `error example 9:5 hook guard must block or modify this payload, but the example needs an effect: ${name}`,
    ]);
  });

  test("are not tried where the script has an error", () => {
    expect(hook("def handle(event):\n    return allow()\n", { match: [example("x", 9)] })).toHaveLength(1);
  });
});
