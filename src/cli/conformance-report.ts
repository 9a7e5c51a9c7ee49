/** The findings of a conformance run, and the requirements, as a person reads them. */
import { paint, visibleLine } from "#base";
import {
  conforms,
  documents,
  type Finding,
  type Report,
  type RequirementId,
  requirements,
  type Verdict,
  verdictsOn,
  type Wire,
} from "#conformance";
import type { Terminal } from "./terminal.ts";

const MARKS = { pass: "✓", fail: "✗", unknown: "?", "not applicable": "–" } as const;
const COLOURS = { pass: "green", fail: "red", unknown: "yellow", "not applicable": "yellow" } as const;

/** Every requirement that holds for the wire, with why where it did not pass. */
export function findingText(terminal: Terminal, report: Report, wire: Wire): string {
  const findings = verdictsOn(report, wire);
  if (findings.length === 0) return "";
  return `${paint(terminal, "bold", wire)}\n${findings.map((finding) => lineOf(terminal, finding)).join("")}`;
}

function lineOf(terminal: Terminal, { requirement, verdict, detail, scenario }: Finding): string {
  const { text, document, section } = requirements[requirement];
  const head = `  ${paint(terminal, COLOURS[verdict], MARKS[verdict])} ${requirement}: ${text}\n`;
  if (verdict === "pass") return head;
  if (verdict === "not applicable") return `${head}      not applicable: ${visibleLine(detail ?? "")}\n`;
  return `${head}      ${visibleLine(detail ?? "")} (scenario: ${scenario})\n      ${documents[document]}, ${section}\n`;
}

export function summaryText(terminal: Terminal, report: Report): string {
  const wires = [...new Set(report.findings.map(({ wire }) => wire))];
  const all = wires.flatMap((wire) => verdictsOn(report, wire));
  const count = (verdict: Verdict): number => all.filter((one) => one.verdict === verdict).length;
  const counts = [
    `${count("pass")} pass`,
    `${count("fail")} fail`,
    ...(count("unknown") > 0 ? [`${count("unknown")} not reached`] : []),
    `${count("not applicable")} not applicable`,
  ].join(", ");
  const verdict = conforms(report) ? paint(terminal, "green", "conforms") : paint(terminal, "red", "does not conform");
  return `${counts} on ${wires.join(", ")}: ${verdict}\n`;
}

export function listText(ids: readonly RequirementId[]): string {
  return ids
    .map((id) => {
      const { wires, document, section, text } = requirements[id];
      return `${id} (${wires.join(", ")})\n    ${text}\n    ${documents[document]}, ${section}\n`;
    })
    .join("");
}
