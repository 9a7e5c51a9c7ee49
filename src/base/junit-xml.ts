/** JUnit XML, which most CI services can show. Counts what it is given; what a suite and a test are is up to the caller. */
import { defined } from "./defined.ts";

type Attributes = Readonly<Record<string, string | number>>;

export interface JunitTest {
  readonly name: string;
  readonly classname: string;
  readonly file?: string;
  readonly line?: number;
  /** Absent when it passed. */
  readonly problem?: {
    readonly kind: "failure" | "error" | "skipped";
    readonly type?: string;
    readonly message: string;
    readonly text?: string;
  };
}

export interface JunitSuite {
  readonly name: string;
  readonly file?: string;
  readonly durationMs?: number;
  readonly properties?: Readonly<Record<string, string | undefined>>;
  readonly tests: readonly JunitTest[];
}

export function junitXml(name: string, suites: readonly JunitSuite[], durationMs?: number): string {
  const counts = countsOf(suites.flatMap(({ tests }) => tests));
  const head = attributes({ name, ...counts, ...timeOf(durationMs) });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${suites.map(suiteXml).join("")}</testsuites>\n`;
}

function suiteXml({ name, file, durationMs, properties = {}, tests }: JunitSuite): string {
  const head = attributes({
    name,
    ...defined({ file }),
    ...countsOf(tests),
    ...timeOf(durationMs),
  });
  const known = Object.entries(properties).flatMap(([key, value]) =>
    value === undefined ? [] : `      <property${attributes({ name: key, value })}/>\n`,
  );
  const listed = known.length === 0 ? "" : `    <properties>\n${known.join("")}    </properties>\n`;
  return `  <testsuite${head}>\n${listed}${tests.map(testXml).join("")}  </testsuite>\n`;
}

function testXml({ problem, ...test }: JunitTest): string {
  const open = `    <testcase${attributes({ ...test })}`;
  if (problem === undefined) return `${open}/>\n`;
  const { kind, text, ...about } = problem;
  const inner = `      <${kind}${attributes({ ...about })}`;
  const end = text === undefined ? "/>" : `>${escaped(text)}</${kind}>`;
  return `${open}>\n${inner}${end}\n    </testcase>\n`;
}

function countsOf(tests: readonly JunitTest[]): Attributes {
  const count = (kind: string): number => tests.filter(({ problem }) => problem?.kind === kind).length;
  return { tests: tests.length, failures: count("failure"), errors: count("error"), skipped: count("skipped") };
}

function timeOf(durationMs: number | undefined): Attributes {
  return durationMs === undefined ? {} : { time: (durationMs / 1000).toFixed(3) };
}

function attributes(values: Attributes): string {
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
