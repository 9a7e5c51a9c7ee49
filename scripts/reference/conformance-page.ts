/** The page of requirements, from the table that the scenarios are held against. */
import { citedOn, documents, type RequirementId, requirements, scenarios, wires } from "#conformance";
import { GENERATED, page, plain, table } from "./markdown.ts";

const AREAS: Readonly<Record<string, string>> = {
  handshake: "Handshake",
  turn: "Turns",
  permission: "Permissions",
  stream: "Streams",
  input: "Bad input",
  auth: "Access",
  session: "Sessions",
  catalog: "What the server says about itself",
  plain: "The small surface",
  rpc: "JSON-RPC",
};

export function conformancePage(): string {
  const ids = Object.keys(requirements) as RequirementId[];
  const unnamed = ids.find((id) => AREAS[areaOf(id)] === undefined);
  if (unnamed !== undefined) throw new Error(`the area of ${unnamed} has no title`);
  return page([
    "# Conformance",
    GENERATED,
    "The requirements for a server of the protocol: on which wires they apply, and where they are specified. `harness conformance` tests a server against them; the [guide](../guide/conformance.md) shows how. Every requirement has a scenario on each of its wires.",
    "Wires: `in-process`, `rest` (REST with server-sent events), `ws` (web sockets), `plain` (the small surface) and `rpc` (JSON-RPC " +
      "on the pipes of a program).",
    ...Object.entries(AREAS).flatMap(([area, title]) => [
      `## ${title}`,
      table(["requirement", "text", "wires", "source"], ids.filter((id) => areaOf(id) === area).map(rowOf)),
    ]),
    "## Scenarios",
    `${scenarios.length} scenarios. Each one runs on every wire in its row.`,
    table(
      ["scenario", "wires", "checks"],
      scenarios.map((scenario) => [
        plain(scenario.name),
        scenario.wires.length === wires.length ? "all" : scenario.wires.join(", "),
        [...new Set(scenario.wires.flatMap((wire) => citedOn(scenario, wire)))].map((id) => `\`${id}\``).join(", "),
      ]),
    ),
  ]);
}

function areaOf(id: RequirementId): string {
  return id.split(":")[0] ?? "";
}

function rowOf(id: RequirementId): string[] {
  const { text, wires: own, document, section } = requirements[id];
  const where = own.length === wires.length ? "all" : own.join(", ");
  return [`\`${id}\``, plain(text), where, plain(`${documents[document]}, ${section}`)];
}
