/**
 * The workspace confinement, measured: commands that developers allow agents to run are run outside, then inside in a fresh copy of the
 * same workspace. Of those that work outside, all must work inside, apart from those that write a file which the sandbox holds.
 * `node bench/workspace-commands.ts [pattern]`; run it as an ordinary user and as root.
 */
import { spawnSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { PACKAGE_ADDRESS, PACKAGE_HOST, startPackageServer } from "../test/fakes/package-server.ts";
import {
  type CommandResult,
  type CommandRun,
  runWorkspaceCommand,
  type WorkspaceCommand,
  workspaceCommands,
} from "../test/fakes/workspace-commands.ts";
import { holds, printFigures } from "./figures.ts";

const MAX_SHOWN_CHARS = 1_500;
const pattern = new RegExp(process.argv[2] ?? "");
const out = (line: string): boolean => process.stdout.write(`${line}\n`);

const server = await startPackageServer();
// Where people have their projects.
const parent = realpathSync(mkdtempSync(join(homedir(), "harness-corpus-")));
const count = { all: 0, notHere: 0, held: 0, works: 0, fails: 0 };
try {
  const registry = await npmRegistry();
  for (const row of workspaceCommands().filter(({ name }) => pattern.test(name))) {
    count.all++;
    const reached = domainsOf(row, registry);
    const why = missing(row, reached);
    const outside = why === undefined ? await runWorkspaceCommand(row, runOf(false)) : undefined;
    if (outside?.works !== true) {
      count.notHere++;
      out(`not here: ${row.name}: ${why ?? brief(outside)}`);
      continue;
    }
    const inside = await runWorkspaceCommand(row, runOf(true, reached));
    report(row, inside);
  }
} finally {
  await server.close();
  rmSync(parent, { recursive: true, force: true });
}
const figures = [
  { name: "commands that work outside and must work inside", unit: "", ours: count.works + count.fails },
  { name: "of these, fail inside", unit: "", ours: count.fails, limit: 0 },
  { name: "write a held file, and say so", unit: "", ours: count.held },
  { name: "do not work on this machine", unit: "", ours: count.notHere },
];
printFigures(`workspace commands (${process.getuid?.() === 0 ? "root" : "ordinary user"})`, figures);
process.exitCode = figures.every(holds) ? 0 : 1;

function report(row: WorkspaceCommand, inside: CommandResult): void {
  const isRefused = row.held !== undefined && new RegExp(row.held, "m").test(inside.output);
  if (isRefused) count.held++;
  else if (inside.works && row.held === undefined) count.works++;
  else {
    count.fails++;
    out(`FAILS inside: ${row.name}: ${brief(inside)}`);
  }
}

function runOf(inside: boolean, domains?: readonly string[]): CommandRun {
  const needsServer = domains?.includes(PACKAGE_HOST) === true;
  return {
    parent,
    inside,
    variables: server.variables(inside),
    setupVariables: server.variables(false),
    ...(domains && { domains }),
    ...(needsServer && { resolve: server.resolve }),
  };
}

interface Registry {
  readonly host: string;
  readonly addresses: readonly string[];
}

/** What npm is configured for, when it can be reached. Its addresses are listed too: here they may be of a mirror that is not public. */
async function npmRegistry(): Promise<Registry | undefined> {
  const url = spawnSync("npm", ["config", "get", "registry"], { encoding: "utf8", cwd: homedir() }).stdout.trim();
  if (!URL.canParse(url)) return undefined;
  const host = new URL(url).hostname;
  const addresses = await lookup(host, { all: true }).catch(() => []);
  const answers = spawnSync("curl", ["-sS", "-m", "10", "-o", "/dev/null", url]).status === 0;
  return answers ? { host, addresses: addresses.map(({ address }) => address) } : undefined;
}

/** Undefined: every public host. Empty: it needs a network that is not here. */
function domainsOf({ network }: WorkspaceCommand, registry: Registry | undefined): readonly string[] | undefined {
  if (network === undefined) return undefined;
  if (network === "packages") return [PACKAGE_HOST, PACKAGE_ADDRESS];
  return registry === undefined ? [] : [registry.host, ...registry.addresses];
}

function missing({ needs = [] }: WorkspaceCommand, domains: readonly string[] | undefined): string | undefined {
  if (domains?.length === 0) return "the npm registry does not answer";
  const absent = needs.filter((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0);
  return absent.length === 0 ? undefined : `${absent.join(", ")} is not installed`;
}

function brief(result: CommandResult | undefined): string {
  return `exit ${result?.code}\n    ${(result?.output ?? "").slice(-MAX_SHOWN_CHARS).trim().replaceAll("\n", "\n    ")}`;
}
