/** A suite as JUnit XML, which most CI services can show: a test suite for each run of a case, a test case for each assertion. */
import type { AssertionResult, CaseResult, SuiteResult } from "./result.ts";

export function junitXml({ cases, wallMs }: SuiteResult): string {
  const counts = cases.map(countsOf);
  const sum = (of: "tests" | "failures" | "errors"): number => counts.reduce((total, one) => total + one[of], 0);
  const head = attributes({
    name: "evals",
    tests: sum("tests"),
    failures: sum("failures"),
    errors: sum("errors"),
    time: seconds(wallMs),
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${cases.map(suiteXml).join("")}</testsuites>\n`;
}

/** A run without assertions is one error: it must not look like a suite in which nothing failed. */
function countsOf({ status, assertions }: CaseResult): { tests: number; failures: number; errors: number } {
  if (status === "broken" || status === "not_run") return { tests: 1, failures: 0, errors: 1 };
  return { tests: assertions.length, failures: assertions.filter(({ passed }) => !passed).length, errors: 0 };
}

function suiteXml(result: CaseResult): string {
  const { name, run, file, durationMs, assertions, status, detail, session } = result;
  const suite = run === 1 ? name : `${name} #${run}`;
  const head = attributes({ name: suite, file, ...countsOf(result), time: seconds(durationMs) });
  const body =
    status === "broken" || status === "not_run"
      ? testXml({ name: "run", classname: suite, file }, element("error", { type: status, message: detail ?? status }))
      : assertions.map((one) => assertionXml(suite, one)).join("");
  const properties = Object.entries({ category: result.category, mode: result.mode, model: result.model, session })
    .flatMap(([key, value]) => (value === undefined ? [] : `      <property${attributes({ name: key, value })}/>\n`))
    .join("");
  const known = properties === "" ? "" : `    <properties>\n${properties}    </properties>\n`;
  return `  <testsuite${head}>\n${known}${body}  </testsuite>\n`;
}

function assertionXml(suite: string, { type, label, file, line, passed, reason, at }: AssertionResult): string {
  const place = at === undefined ? "" : ` (${at.session} event ${at.event})`;
  const failure = passed ? "" : element("failure", { type, message: reason }, `${file}:${line}: ${reason}${place}`);
  return testXml({ name: label, classname: suite, file, line }, failure);
}

function testXml(values: Readonly<Record<string, string | number>>, inner: string): string {
  return inner === ""
    ? `    <testcase${attributes(values)}/>\n`
    : `    <testcase${attributes(values)}>\n${inner}    </testcase>\n`;
}

function element(name: string, values: Readonly<Record<string, string>>, text = ""): string {
  const open = `      <${name}${attributes(values)}`;
  return text === "" ? `${open}/>\n` : `${open}>${escaped(text)}</${name}>\n`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join("");
}

/** What XML 1.0 cannot hold at all is left out. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
