/**
 * The client scenarios of the MCP specification's own test suite against our real connections, transports and credential helper, each era
 * on its own. Checks are counted, not scenarios: one without a single check would pass.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isRecord } from "#base";
import { launcher } from "../fakes/launcher.ts";

const root = resolve(import.meta.dirname, "../..");
const SUITE = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const CLIENT = join(root, "test/fakes/conformance-client.ts");
const AT_ONCE = 2;
const PATIENCE_MS = 30 * 60_000;

/** Scenarios that are not run, and why. */
const NOT_OURS: readonly (readonly [RegExp, string])[] = [
  [/^sep-2640-/, "skills of servers are not supported"],
  [/^auth\/dpop/, "proof of possession is an extension that we do not have"],
  [/^auth\/(?:wif-|client-credentials-|enterprise-)/, "logins without a person are an extension that we do not have"],
];

interface Tally {
  readonly scenario: string;
  readonly passed: number;
  readonly others: readonly string[];
}

test.each(["2025-11-25", "2026-07-28"])(
  "client scenarios of %s",
  async (version) => {
    const folder = mkdtempSync(join(tmpdir(), "harness-mcp-conformance-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const listed = await suite(["list", "--client", "--spec-version", version]);
    const all = [...listed.matchAll(/^ {2}- (\S+) /gm)].map(([, scenario = ""]) => scenario);
    const ours = all.filter((scenario) => reasonAgainst(scenario) === undefined);
    const tallies: Tally[] = [];
    const waiting = [...ours];
    const worker = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        tallies.push(await run(next, version, join(folder, next.replaceAll("/", "_"))));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
    console.info(`MCP ${version}: ${passed} checks in ${tallies.length} scenarios passed`);
    for (const scenario of all) {
      const why = reasonAgainst(scenario);
      if (why !== undefined) console.info(`  not run: ${scenario}: ${why}`);
    }
    expect(tallies.filter((tally) => tally.passed === 0 || tally.others.length > 0)).toEqual([]);
    expect(ours.length).toBeGreaterThan(15);
  },
  PATIENCE_MS,
);

function reasonAgainst(scenario: string): string | undefined {
  return NOT_OURS.find(([pattern]) => pattern.test(scenario))?.[1];
}

async function run(scenario: string, version: string, folder: string): Promise<Tally> {
  const which = ["--scenario", scenario, "--spec-version", version, "--timeout", "120000", "-o", folder];
  await suite(["client", "--command", `${process.execPath} ${CLIENT}`, ...which]);
  const [file] = readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith("checks.json"));
  const checks: unknown = JSON.parse(readFileSync(join(folder, String(file)), "utf8"));
  if (!Array.isArray(checks)) throw new Error(`${scenario} has no list of checks`);
  const counted = checks.filter(isRecord).filter(({ status }) => status !== "INFO" && status !== "SKIPPED");
  return {
    scenario,
    passed: counted.filter(({ status }) => status === "SUCCESS").length,
    others: counted.flatMap(({ status, id, errorMessage }) =>
      status === "SUCCESS" ? [] : [`${status} ${id}: ${errorMessage}`],
    ),
  };
}

/** What it prints; how it ends is in the checks. */
function suite(args: readonly string[]): Promise<string> {
  const env = { ...process.env, HARNESS_TEST_HELPER: join(dirname(dirname(launcher)), "dist/credential-helper.js") };
  return new Promise((done) => {
    execFile(process.execPath, [SUITE, ...args], { cwd: root, env }, (_error, out) => done(out));
  });
}
