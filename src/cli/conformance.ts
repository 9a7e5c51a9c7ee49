/** `harness conformance`: holds a server, ours or somebody else's, to the requirements of the protocol. */

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defined, isRecord, jsonIn, messageOf } from "#base";
import {
  conformanceXml,
  conforms,
  documents,
  type HttpTargetOptions,
  httpTarget,
  httpWires,
  isRequirement,
  parseLanAddress,
  parseTargetAddress,
  probe,
  type Report,
  type RequirementId,
  requirements,
  rpcTarget,
  runConformance,
  type Target,
} from "#conformance";
import { isLoopback } from "#daemon/serving";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import { findingText, listText, summaryText } from "./conformance-report.ts";
import type { ExitCode } from "./exit-code.ts";
import { writeNamedFile } from "./named-file.ts";

export interface ConformanceFlags {
  readonly against?: string;
  readonly tokenFile?: string;
  readonly otherTokenFile?: string;
  readonly agentTokenFile?: string;
  readonly lan?: string;
  readonly lanCa?: string;
  readonly wire?: readonly string[];
  readonly only?: readonly string[];
  readonly slow?: boolean;
  readonly wait: number;
  readonly list?: boolean;
  readonly printScenario?: boolean;
  readonly json?: boolean;
  readonly junit?: string;
}

const HTTP_FLAGS = [
  ["tokenFile", "--token-file"],
  ["otherTokenFile", "--other-token-file"],
  ["agentTokenFile", "--agent-token-file"],
  ["lan", "--lan"],
  ["lanCa", "--lan-ca"],
  ["wire", "--wire"],
] as const;

/** 0 when everything that applies holds, 1 when not, 2 when nothing could be tried. */
export async function conformanceCommand(ports: CliPorts, flags: ConformanceFlags): Promise<ExitCode> {
  const { terminal, clock, cwd } = ports;
  const chosen = chosenIds(flags.only);
  if (flags.printScenario) {
    terminal.out(readFileSync(join(ports.scenariosDir, "conformance.yaml"), "utf8"));
    return 0;
  }
  if (flags.list) {
    terminal.out(flags.json ? `${JSON.stringify(chosen.map(described))}\n` : listText(chosen));
    return 0;
  }
  if (flags.against === undefined) {
    throw new ReasonError("UsageInvalid", "name the server to test: --against http://…, unix://… or stdio://…");
  }
  const targets = targetsOf(ports, flags.against, flags);
  const [first] = targets;
  const problem = first === undefined ? "there is no wire left to test" : await probe(first);
  if (problem !== undefined) throw new ReasonError("UsageInvalid", `nothing was tested: ${problem}`);
  const shown = await ports.outward.through(ports, flags.json);
  const report = await runConformance({ targets, clock, only: (id) => chosen.includes(id) });
  if (flags.json) shown.terminal.out(`${JSON.stringify(reportJson(flags.against, report))}\n`);
  else {
    for (const { wire } of targets) shown.terminal.out(findingText(terminal, report, wire));
    shown.terminal.out(summaryText(terminal, report));
  }
  if (flags.junit !== undefined) await writeNamedFile(resolve(cwd, flags.junit), conformanceXml(report));
  return conforms(report) ? 0 : 1;
}

function targetsOf(ports: CliPorts, against: string, flags: ConformanceFlags): readonly Target[] {
  const { clock, cwd, env } = ports;
  const waitMs = flags.wait * 1000;
  const patient = flags.slow === true ? { passTime: (ms: number) => clock.sleep(ms) } : {};
  const address = parseTargetAddress(against);
  if (address.kind === "stdio") {
    const unused = HTTP_FLAGS.filter(([name]) => flags[name] !== undefined).map(([, flag]) => flag);
    if (unused.length > 0) {
      const detail = `--against ${against}: ${unused.join(", ")} ${unused.length === 1 ? "is" : "are"} for a server over HTTP`;
      throw new ReasonError("UsageInvalid", detail);
    }
    // `exec`, so that a kill meets the program and not the shell.
    const args = ["-c", `exec ${address.command}`];
    return [{ ...rpcTarget({ command: "sh", args, cwd, env, clock, waitMs }), ...patient }];
  }
  const tokens = {
    ...tokenFrom(cwd, "human", flags.tokenFile),
    ...tokenFrom(cwd, "other human", flags.otherTokenFile),
    ...tokenFrom(cwd, "agent", flags.agentTokenFile),
  };
  const { place } = address;
  const isHere = place.kind !== "tcp" || place.host === "localhost" || isLoopback(place.host);
  if (!isHere && Object.keys(tokens).length > 0) {
    const detail = `--against ${against}: Harness sends a token only to this machine, because the connection to another one is not encrypted`;
    throw new ReasonError("UsageInvalid", detail);
  }
  const wanted = httpWires.filter((wire) => flags.wire === undefined || flags.wire.includes(wire));
  const lan = lanPlace(cwd, flags);
  const options = { place, clock, waitMs, tokens, ...defined({ lan }) };
  return wanted.map((wire) => ({ ...httpTarget(wire, options), ...patient }));
}

function lanPlace(cwd: string, { lan, lanCa }: ConformanceFlags): HttpTargetOptions["lan"] {
  if (lan === undefined) {
    if (lanCa === undefined) return undefined;
    throw new ReasonError("UsageInvalid", "--lan-ca is for an address in the network: name it with --lan");
  }
  const place = parseLanAddress(lan);
  if (lanCa === undefined) return place;
  try {
    return { ...place, ca: readFileSync(resolve(cwd, lanCa), "utf8") };
  } catch (error) {
    throw new ReasonError("UsageInvalid", `${lanCa}: ${messageOf(error)}`);
  }
}

/** As the daemon writes it, or as `token mint --file` does. */
function tokenFrom(cwd: string, as: string, file: string | undefined): Readonly<Record<string, string>> {
  if (file === undefined) return {};
  const refuse = (detail: string): ReasonError => new ReasonError("UsageInvalid", `${file}: ${detail}`);
  let text: string;
  try {
    text = readFileSync(resolve(cwd, file), "utf8").trim();
  } catch (error) {
    throw refuse(messageOf(error));
  }
  if (!text.startsWith("{")) return { [as]: text };
  const value = jsonIn(text);
  if (value === undefined) throw refuse("it is neither a token nor JSON");
  if (!isRecord(value) || typeof value.token !== "string") throw refuse("it has no token");
  return { [as]: value.token };
}

function chosenIds(only: readonly string[] | undefined): readonly RequirementId[] {
  const ids = Object.keys(requirements).filter(isRequirement);
  if (only === undefined) return ids;
  const unknown = only.find((name) => !ids.some((id) => id === name || id.startsWith(`${name}:`)));
  if (unknown !== undefined) {
    throw new ReasonError("UsageInvalid", `--only ${unknown}: there is no such requirement; --list shows them`);
  }
  return ids.filter((id) => only.some((name) => id === name || id.startsWith(`${name}:`)));
}

function described(id: RequirementId) {
  const { text, document, section, wires } = requirements[id];
  return { id, text, source: { document: documents[document], section }, wires };
}

function reportJson(against: string, report: Report) {
  return {
    target: against,
    conforms: conforms(report),
    findings: report.findings.map((finding) => ({ ...finding, text: requirements[finding.requirement].text })),
    scenarios: report.scenarios.map((one) => ({ ...one, durationMs: Math.round(one.durationMs) })),
  };
}
