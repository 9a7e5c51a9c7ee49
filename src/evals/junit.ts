/** A suite as JUnit XML: a test suite for each run of a case, a test case for each assertion. */
import { type JunitSuite, type JunitTest, junitXml } from "#base";
import type { AssertionResult, CaseResult, SuiteResult } from "./result.ts";

export function evalsXml({ cases, wallMs }: SuiteResult): string {
  return junitXml("evals", cases.map(suiteOf), wallMs);
}

function suiteOf(result: CaseResult): JunitSuite {
  const { name: caseName, run, file, durationMs, category, mode, model, session } = result;
  const name = run === 1 ? caseName : `${caseName} #${run}`;
  return { name, file, durationMs, properties: { category, mode, model, session }, tests: testsOf(result, name) };
}

/** A run without assertions is one error: it must not look like a suite in which nothing failed. */
function testsOf({ status, detail, file, assertions }: CaseResult, classname: string): readonly JunitTest[] {
  if (status !== "broken" && status !== "not_run") return assertions.map((one) => assertionTest(one, classname));
  return [{ name: "run", classname, file, problem: { kind: "error", type: status, message: detail ?? status } }];
}

function assertionTest({ type, label, file, line, passed, reason, at }: AssertionResult, classname: string): JunitTest {
  const test = { name: label, classname, file, line };
  if (passed) return test;
  const place = at === undefined ? "" : ` (${at.session} event ${at.event})`;
  const text = `${file}:${line}: ${reason}${place}`;
  return { ...test, problem: { kind: "failure", type, message: reason, text } };
}
