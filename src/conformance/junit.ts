/** A report as JUnit XML: a test suite for each wire, a test case for each requirement that holds for it. */
import { type RequirementId, requirements } from "./requirements.ts";
import { type Finding, type Report, verdictsOn } from "./run.ts";

export function conformanceXml(report: Report): string {
  const wires = [...new Set(report.findings.map(({ wire }) => wire))];
  const suites = wires.map((wire) => suiteXml(wire, verdictsOn(report, wire)));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="conformance">\n${suites.join("")}</testsuites>\n`;
}

function suiteXml(wire: string, findings: readonly Finding[]): string {
  const count = (wanted: readonly Finding["verdict"][]): number =>
    findings.filter(({ verdict }) => wanted.includes(verdict)).length;
  const head = attributes({
    name: wire,
    tests: findings.length,
    failures: count(["fail"]),
    errors: count(["unknown"]),
    skipped: count(["not applicable"]),
  });
  return `  <testsuite${head}>\n${findings.map((finding) => caseXml(wire, finding)).join("")}  </testsuite>\n`;
}

const ELEMENTS = { fail: "failure", unknown: "error", "not applicable": "skipped" } as const;

function caseXml(wire: string, { requirement, verdict, detail = "", scenario }: Finding): string {
  const open = `    <testcase${attributes({ name: requirement, classname: `conformance.${wire}` })}`;
  if (verdict === "pass") return `${open}/>\n`;
  const where = scenario === undefined ? textOf(requirement) : `${textOf(requirement)} (${scenario})`;
  return `${open}>\n      <${ELEMENTS[verdict]}${attributes({ message: detail })}>${escaped(where)}</${ELEMENTS[verdict]}>\n    </testcase>\n`;
}

function textOf(id: RequirementId): string {
  return requirements[id].text;
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
