import { describe, expect, test } from "vitest";
import type { Judgement } from "#engine";
import { confined, confinementText, QUIET } from "./confinement.ts";
import { builtinFacts } from "./known-tools.ts";
import type { Verdict } from "./verdict.ts";

const call = (args: Record<string, unknown>) => ({ tool: builtinFacts("exec"), args: { command: "x", ...args } });
const judged = (effect: Judgement["effect"], by: string): Judgement => ({ effect, by, why: "", trail: [] });
const quiet: Verdict = { effect: "allow", judged: judged("allow", QUIET), quiet: [] };
const byRule: Verdict = { effect: "allow", judged: judged("allow", "rule Bash"), quiet: [] };
const asks: Verdict = { effect: "ask", judged: judged("ask", QUIET) };
const denied: Verdict = {
  effect: "deny",
  judged: judged("deny", "rule Bash"),
  result: { content: [], outcome: "denied" },
};

function seen(verdict: Verdict) {
  const isPersonOnly = verdict.effect === "ask" && verdict.personOnly !== undefined;
  return [verdict.effect, verdict.judged.confinement, isPersonOnly];
}

describe("who allowed a command decides where it runs", () => {
  test.each([
    ["nobody was asked", quiet, ["allow", "reader", false]],
    ["a rule", byRule, ["allow", "workspace", false]],
    ["a person will", asks, ["ask", "workspace", false]],
    ["nobody may", denied, ["deny", undefined, false]],
  ] as const)("in a sandbox: %s", (_name, verdict, expected) => {
    expect(seen(confined(call({}), verdict, "sandbox"))).toEqual(expected);
  });

  test.each([
    ["what seems to read asks", quiet, ["ask", "outside", false]],
    ["a rule allows", byRule, ["allow", "outside", false]],
    ["a person allows", asks, ["ask", "outside", false]],
    ["a deny stays", denied, ["deny", undefined, false]],
  ] as const)("with the sandbox off: %s", (_name, verdict, expected) => {
    expect(seen(confined(call({}), verdict, "off"))).toEqual(expected);
  });

  test.each([quiet, byRule, asks])("without a sandbox only a person allows, for this one call", (verdict) => {
    const found = confined(call({}), verdict, "none");
    expect(seen(found)).toEqual(["ask", "outside", true]);
    expect(found.judged.why).toContain("this machine has no sandbox");
  });

  test.each([quiet, byRule, asks])("what asks to run outside is put to a person, whatever a rule says", (verdict) => {
    expect(seen(confined(call({ outside: true }), verdict, "sandbox"))).toEqual(["ask", "outside", true]);
  });

  test("what writes git's configuration is a change of steering files", () => {
    const found = confined(call({ command: "git remote add a b" }), byRule, "sandbox");
    expect(seen(found)).toEqual(["ask", "workspace", true]);
    expect(found).toMatchObject({ personOnly: { steering: [".git/config"] } });
  });
});

test("a question says where the command would run", () => {
  const text = (confinement: "workspace" | "outside", hold: "sandbox" | "off" | "none") =>
    confinementText({ confinement }, hold, "public hosts");
  expect(text("workspace", "sandbox")).toContain("network: public hosts");
  expect(text("outside", "sandbox")).toContain("OUTSIDE the sandbox");
  expect(text("outside", "none")).toContain("No sandbox on this machine");
  expect(text("outside", "off")).toContain("No sandbox (switched off)");
  expect(confinementText({}, "sandbox", "none")).toBeUndefined();
});
