/** A report as JUnit XML: a test suite for each wire, a test case for each requirement that holds for it. */
import { type JunitTest, junitXml } from "#base";
import { requirements } from "./requirements.ts";
import { type Finding, type Report, verdictsOn } from "./run.ts";

export function conformanceXml(report: Report): string {
  const wires = [...new Set(report.findings.map(({ wire }) => wire))];
  const suites = wires.map((wire) => ({ name: wire, tests: verdictsOn(report, wire).map(testOf) }));
  return junitXml("conformance", suites);
}

const KINDS = { fail: "failure", unknown: "error", "not applicable": "skipped" } as const;

function testOf({ requirement, wire, verdict, detail = "", scenario }: Finding): JunitTest {
  const test = { name: requirement, classname: `conformance.${wire}` };
  if (verdict === "pass") return test;
  const { text } = requirements[requirement];
  const where = scenario === undefined ? text : `${text} (${scenario})`;
  return { ...test, problem: { kind: KINDS[verdict], message: detail, text: where } };
}
