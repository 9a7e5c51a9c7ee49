/** `harness doctor`: looks at everything that a session or a daemon needs here, says what is wrong and what to do. Changes nothing. */
import { existsSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { McpServer } from "#artifacts";
import { counted, messageOf, paint, visibleLine } from "#base";
import { daemonPlaces, describeState, lookForDaemon } from "#daemon";
import { parseListenAddress } from "#daemon/serving";
import {
  createCredentialStore,
  createSandboxes,
  git,
  headsOf,
  isSecretFile,
  keyState,
  knownServers,
  loadConfig,
  logFolder,
  mayHaveProject,
  pluginFacts,
  programProblem,
  userTrust,
  vendors,
  waitingTools,
} from "#program";
import { ReasonError } from "#protocol";
import { deriveKey, diagnoseStore, harnessPaths, machineKey, machineKeychain, ownFolders } from "#stores";
import { USER_LOG } from "#stores/kinds";
import { createProcesses } from "#world";
import { soundSurvey } from "./ack.ts";
import type { CliPorts } from "./cli-ports.ts";
import { type Finding, ok, warning, wrong } from "./doctor-finding.ts";
import { checkFolder, checkRuntimeFolder } from "./doctor-folders.ts";
import type { ExitCode } from "./exit-code.ts";
import { probeRedaction } from "./redaction-probe.ts";

const MIN_NODE_MAJOR = 24;

export interface DoctorFlags {
  readonly cwd?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** Several findings where there is more to say; a check that throws has found an error. */
interface Check {
  readonly name: string;
  run(ports: CliPorts, flags: DoctorFlags): Promise<readonly Finding[]>;
}

const checks: readonly Check[] = [
  {
    name: "node",
    async run() {
      const { node } = process.versions;
      if (Number(node.split(".")[0]) >= MIN_NODE_MAJOR) return [ok(node)];
      return [wrong(`Node ${node}`, `Install Node ${MIN_NODE_MAJOR} or newer.`)];
    },
  },
  {
    name: "folders",
    async run({ env }) {
      const { dataDir, stateDir, configDir } = harnessPaths(env);
      const found = [
        ...[dataDir, stateDir, configDir].flatMap(checkFolder),
        ...checkRuntimeFolder(env.XDG_RUNTIME_DIR),
      ];
      // What is around them can be the same for several.
      return found.filter(({ detail }, at) => found.findIndex((other) => other.detail === detail) === at);
    },
  },
  {
    name: "configuration",
    async run(ports, { config }) {
      const { warnings } = await loadConfig(ports, config);
      return warnings.length === 0
        ? [ok("read")]
        : warnings.map((text) => warning(text, "Correct it, or remove it from the file."));
    },
  },
  {
    name: "plugins",
    async run(ports, { config }) {
      const facts = await pluginFacts((await loadConfig(ports, config)).settings);
      const bad = facts.flatMap(({ name, state, problem }) =>
        problem === undefined ? [] : [wrong(`${name} is ${state}`, problem)],
      );
      return bad.length > 0 ? bad : [ok(facts.length === 0 ? "none" : facts.map(({ name }) => name).join(", "))];
    },
  },
  {
    name: "MCP servers",
    async run(ports, flags) {
      const { servers, notices } = await knownServers(ports, flags);
      const left = notices.map((text) => warning(text, "Or remove its entry."));
      if (servers.length + left.length === 0) return [ok("none")];
      return [...(await Promise.all(servers.map((server) => checkServer(ports, flags, server)))), ...left];
    },
  },
  { name: "machine key", run: async ({ env }) => [checkMachineKey(env)] },
  {
    name: "session log",
    async run(ports) {
      const { env, clock } = ports;
      const path = harnessPaths(env).sessionsDb;
      const heads = await headsOf(ports, { store: USER_LOG });
      if (!existsSync(path) && heads.list().length === 0) return [ok("none yet")];
      const found = diagnoseStore({ path, clock, key: machineKey(env), heads });
      if (found.length === 0) return [ok(path)];
      return found.map(({ level, what, remedy }) => (level === "error" ? wrong : warning)(what, remedy));
    },
  },
  {
    name: "redaction",
    run: async ({ outward }) => [ok(`loaded: a made-up token becomes ${await probeRedaction(outward)}`)],
  },
  {
    name: "credentials",
    async run({ env, clock, credentials }) {
      const { configDir } = harnessPaths(env);
      const key = (): Uint8Array => deriveKey(machineKey(env), "credentials");
      const store = createCredentialStore({ directory: configDir, clock, key });
      const stored = store.list();
      if (stored.length > 0) store.check();
      const problem = await credentials.check();
      if (problem !== undefined) {
        return [wrong(`the process that holds keys does not work: ${problem}`, "Run: harness creds test")];
      }
      return [ok(`${stored.length} stored; the credential helper starts and answers`)];
    },
  },
  {
    name: "keys",
    async run({ credentials }) {
      const set = vendors.filter(({ name, keyVariables }) => keyState(credentials, name, keyVariables) === "set");
      if (set.length > 0) return [ok(set.map(({ name }) => name).join(", "))];
      const fix = "Store one with harness creds add, or set ANTHROPIC_API_KEY or another variable.";
      return [warning("no provider has a key: only the offline scripted model can answer", fix)];
    },
  },
  { name: "sandbox", run: async (ports, flags) => [await checkSandbox(ports, flags)] },
  { name: "daemon", run: checkDaemon },
  { name: "project", run: async (ports, flags) => [await checkProject(ports, flags)] },
  {
    name: "git",
    async run(ports, flags) {
      const failed = (detail: string): ReasonError => new ReasonError("UsageInvalid", detail);
      try {
        return [ok((await git(resolve(ports.cwd, flags.cwd ?? "."), ["--version"], failed)).trim())];
      } catch (error) {
        return [warning(messageOf(error), "Install git to use anchors in git notes and policy diffs between commits.")];
      }
    },
  },
  {
    name: "log",
    run: async ({ env }) => checkFolder(logFolder(env)),
  },
];

/** 0 when nothing is wrong; warnings alone are 0. */
export async function doctorCommand(ports: CliPorts, flags: DoctorFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const results: (Finding & { readonly check: string })[] = [];
  for (const { name, run } of checks) {
    const found = await run(ports, flags).catch(async (error: unknown) => [
      wrong(await ports.outward.messageOf(error), "See docs/reference/cli.md for what it needs."),
    ]);
    results.push(...found.map((finding) => ({ check: name, ...finding })));
  }
  const isGood = results.every(({ state }) => state !== "error");
  if (flags.json) terminal.out(`${JSON.stringify({ ok: isGood, checks: results })}\n`);
  else {
    for (const { check, state, detail, fix } of results) {
      const mark = { ok: "✓", warning: "!", error: "✗" }[state];
      const colour = { ok: "green", warning: "yellow", error: "red" } as const;
      terminal.out(`${paint(terminal, colour[state], mark)} ${check}: ${visibleLine(detail)}\n`);
      if (fix !== undefined) terminal.out(`    ${visibleLine(fix)}\n`);
    }
  }
  return isGood ? 0 : 1;
}

/** Asks for the key only where there is one: asking makes one. */
function checkMachineKey(env: CliPorts["env"]): Finding {
  const isGiven = env.HARNESS_MACHINE_KEY !== undefined || env.HARNESS_PASSPHRASE !== undefined;
  const { configDir } = harnessPaths(env);
  const isThere = ["machine.key", "creds.enc"].some((name) => existsSync(join(configDir, name)));
  if (!isGiven && !isThere) return ok("it will be created with the first session");
  const { source } = machineKey(env);
  const canMove = source.startsWith("/") && machineKeychain(env)?.takesNew === true;
  return ok(`from ${source}${canMove ? "; harness sessions rekey makes a new one in the keychain of the system" : ""}`);
}

/** By what is known of it: nothing is started. */
async function checkServer(ports: CliPorts, flags: DoctorFlags, server: McpServer): Promise<Finding> {
  const { name, connection } = server;
  if (connection.kind === "stdio" && !isThere(connection.command, ports.env.PATH)) {
    return wrong(`${name}: the program ${connection.command} does not exist`, "Correct its entry in config.toml.");
  }
  const changed = await programProblem(ports, flags, server);
  if (changed !== undefined) return wrong(`${name}: ${changed}`, `Look at it, then run: harness mcp approve ${name}`);
  const problems: string[] = [];
  const known = await waitingTools(ports, server, (text) => void problems.push(text));
  if (known === undefined) return ok(`${name}: not connected yet`);
  const [problem] = problems;
  if (problem !== undefined) return wrong(problem, `Remove that file; the tools of ${name} are then approved anew.`);
  const { tools, changes } = known;
  if (changes.length === 0) return ok(`${name}: ${counted(tools.length, "tool")}`);
  const what = `${name}: ${counted(tools.length, "tool")}, and ${changes.length} new or changed ones wait for approval`;
  return warning(what, `Run: harness mcp approve ${name}`);
}

function isThere(program: string, path = ""): boolean {
  if (program.includes("/")) return existsSync(program);
  return path.split(delimiter).some((folder) => existsSync(join(folder, program)));
}

async function checkSandbox(ports: CliPorts, { cwd, config }: DoctorFlags): Promise<Finding> {
  const { env, clock } = ports;
  const { settings } = await loadConfig(ports, config);
  const root = resolve(ports.cwd, cwd ?? ".");
  const mode = settings.sandbox;
  const sandbox = createSandboxes({
    env,
    clock,
    ownPaths: ownFolders(env),
    isSecret: isSecretFile,
  }).open({
    mode,
    root,
    processes: createProcesses({ root, env }),
  });
  try {
    const { active, detail } = await sandbox.status();
    if (active) return ok(detail);
    const fix =
      mode === "off" ? 'Remove sandbox = "off" from config.toml.' : "harness sandbox check says what is missing.";
    return (mode === "required" ? wrong : warning)(`commands run without one: ${detail}`, fix);
  } finally {
    await sandbox.close();
  }
}

function unusableSocket(socket: string): string | undefined {
  try {
    parseListenAddress(`unix:${socket}`);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function checkDaemon(ports: CliPorts): Promise<readonly Finding[]> {
  const state = await lookForDaemon(ports);
  const detail = describeState(state);
  const { socket } = daemonPlaces(ports.env);
  const open = [socket, "tokenFile" in state ? state.tokenFile : ""].flatMap((path) => {
    const info = statSync(path, { throwIfNoEntry: false });
    return info === undefined || (info.mode & 0o077) === 0
      ? []
      : [wrong(`others can use ${path} (${(info.mode & 0o777).toString(8)})`, `Run: chmod 600 ${path}`)];
  });
  switch (state.kind) {
    case "none": {
      const why = unusableSocket(socket);
      if (why === undefined) return [ok(detail), ...open];
      return [
        warning(`${detail}, and none can: ${why}`, "Set XDG_DATA_HOME to a folder with a shorter path."),
        ...open,
      ];
    }
    case "starting":
    case "ending":
      return [ok(detail), ...open];
    case "running":
      if (state.isOtherBuild)
        return [warning(`${detail}; this is ${ports.build.version}`, "Run: harness daemon restart"), ...open];
      return [ok(detail), ...open];
    case "hung":
      return [wrong(detail, "Run: harness daemon restart"), ...open];
    case "foreign":
      return [wrong(detail, `End the program that has ${socket} open.`), ...open];
  }
}

async function checkProject(ports: CliPorts, { cwd }: DoctorFlags): Promise<Finding> {
  const place = cwd === undefined ? {} : { dir: cwd };
  if (!mayHaveProject(ports, place)) return ok("none here");
  const survey = await soundSurvey(ports, place);
  const trust = userTrust(ports, survey.root);
  const problem = trust.problem();
  if (problem !== undefined) return warning(problem, "Run: harness ack");
  const { awaiting: waiting } = trust.judge(survey.files);
  if (waiting.length === 0) return ok(`${counted(survey.files.length, "file")} acked in ${survey.root}`);
  return warning(`not acked in ${survey.root}: ${counted(waiting.length, "file")}`, "Run: harness ack");
}
