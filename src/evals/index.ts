/** Evals: cases that an agent has to pass, run in folders of their own and graded by their logs. Each case runs in a program of its own. */
export { createScriptChecker } from "#script";
export { type CaseMode, chooseMode, type ModeChoice, type ModeFacts } from "./case-mode.ts";
export { createEvalCases, type EvalFlags, type PreparedCase } from "./eval-cases.ts";
export { evalsXml } from "./junit.ts";
export { type CaseFile, filterCases, type LoadedCase, loadSuite } from "./load-suite.ts";
export { type KnownNames, unknownNames } from "./references.ts";
export { type AssertionResult, allPassed, type CaseResult, countOf, type SuiteResult } from "./result.ts";
export type { CaseOpening, CaseProgram, OpenCase } from "./run-case.ts";
export { type PlannedCase, runSuite, type SuiteProgress } from "./run-suite.ts";
export { createSpending } from "./spending.ts";
export { DEFAULT_CASES, requireAckedCases, surveyCases } from "./trusted-cases.ts";
