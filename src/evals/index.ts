/** Evals: cases that an agent has to pass, run in folders of their own and graded by their logs. Each case runs in a program of its own. */
export { createScriptChecker } from "#script";
export { createEvalCases, type EvalFlags, type PreparedCase } from "./eval-cases.ts";
export { evalsXml } from "./junit.ts";
export { filterCases, loadSuite } from "./load-suite.ts";
export { unknownNames } from "./references.ts";
export { type AssertionResult, allPassed, type CaseResult, countOf, type SuiteResult } from "./result.ts";
export { runSuite, type SuiteProgress } from "./run-suite.ts";
export { createSpending } from "./spending.ts";
export { DEFAULT_CASES, requireAckedCases, surveyCases } from "./trusted-cases.ts";
