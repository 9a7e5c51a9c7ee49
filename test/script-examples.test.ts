/**
 * Examples of tools, hooks, agents and conditions: each runs and does what stands beside it, or is refused for the reason that does.
 * With `HARNESS_SPEC=FILE` the examples that a specification prints are tried as they are printed; nothing of it is kept here.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { scriptExamples } from "./corpora/script-examples.ts";
import { printedExamples } from "./fakes/printed-examples.ts";
import { constructsOf, type ExampleText, outcomeOf, refusalsOf } from "./fakes/script-example.ts";

describe("an example of ours", () => {
  test.each(scriptExamples.map((example) => [example.name, example] as const))("%s", async (_name, example) => {
    const refusals = refusalsOf(example);
    if ("refused" in example) return expect(refusals.join("\n")).toContain(example.refused);
    expect(refusals).toEqual([]);
    for (const [given, expected] of example.does) expect(await outcomeOf(example, given)).toEqual(expected);
    return undefined;
  });
});

const specification = process.env.HARNESS_SPEC;
const call = { command: "true", path: "notes.txt" };
const payloads: Readonly<Record<string, unknown>> = {
  "turn.end": { text: "done", tool_calls: [], usage: {}, total_tokens: 1000, outcome: "answered" },
  "completion.pre": { model: "m", system: [], messages: [], tools: [], max_tokens: null, temperature: null },
  "tool.post": {
    call_id: "c",
    name: "word_count",
    args: call,
    arguments: call,
    content: "{}",
    result: {},
    is_error: false,
  },
  "tool.pre": {
    id: "c",
    name: "word_count",
    args: call,
    arguments: call,
    arguments_json: "{}",
    content: "",
    is_error: false,
  },
  "meta.register_tool": { name: "count" },
};
const delegation = { agent: "researcher", task: "look", depth: 0, response: "done", result: "done", tool_calls: [] };
const given = {
  ...call,
  name: "Ada",
  url: "https://example.org/",
  text: "a1",
  pattern: "[0-9]",
  city: "Rome",
  response: '{"id": 1}',
};

describe.runIf(specification !== undefined)("an example of the specification", () => {
  const printed = specification === undefined ? [] : printedExamples(readFileSync(specification, "utf8"));

  test.each(printed.map((example) => [example.line, example] as const))("line %d", async (_line, example) => {
    expect(missingFromOurs(example)).toEqual([]);
    const refusals = refusalsOf(example);
    const why = refusals.length > 0 ? refusals.join("\n") : await failureOf(example);
    // What is refused is refused for a reason that stands beside an example of ours.
    const isExpected = scriptExamples.some((one) => "refused" in one && why?.includes(one.refused));
    if (why !== undefined && !isExpected) throw new Error(why);
  });
});

async function failureOf(example: ExampleText): Promise<string | undefined> {
  const event = /^event: *"?([a-z_.]+)/m.exec(example.text)?.[1] ?? "";
  const outcome = await outcomeOf(example, example.kind === "hook" ? (payloads[event] ?? delegation) : given);
  return typeof outcome === "object" && outcome !== null && "failed" in outcome ? String(outcome.failed) : undefined;
}

/** What the example of ours that is most like it lacks. */
function missingFromOurs(example: ExampleText): readonly string[] {
  const wanted = constructsOf(example);
  const missing = scriptExamples.map((one) => [...wanted.difference(constructsOf(one))]);
  return missing.reduce((best, next) => (next.length < best.length ? next : best), [...wanted]);
}
