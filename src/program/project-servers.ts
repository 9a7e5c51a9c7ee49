/**
 * The MCP servers that a project declares: which of them somebody approved as they are, and so may start. Everything else is left out
 * with a notice. Reads answers and files; starts, installs and reaches nothing.
 */
import { hash } from "node:crypto";
import { basename, join } from "node:path";
import { type DeclaredServer, type McpServer, optionalFiles, type Project, type Settings } from "#artifacts";
import { canonicalHash, defined, visibleLine } from "#base";
import { vendors } from "#providers/vendors";
import type { ProjectTrust, ServerAnswer } from "#trust";
import { expandedServer } from "./server-variables.ts";

/** One declaration, as it is on this machine now. */
export interface ServerDeclaration extends DeclaredServer {
  /** With variables expanded where the file asks for that. */
  readonly server: McpServer;
  /** The agent that alone may call it. */
  readonly agent?: string;
  /** Variables of the environment that it gets, by name. */
  readonly variables: readonly string[];
  /** What an answer is about: another hash asks again. */
  readonly hash: string;
  /** Why it can never be approved. */
  readonly problem?: string;
}

export interface UsedServers {
  /** Of the session; those of the user first. */
  readonly mcpServers: readonly McpServer[];
  readonly agentServers: Readonly<Record<string, readonly McpServer[]>>;
  /** Sentences for a person about servers that are left out. */
  readonly notices: readonly string[];
  /** Those that the project declares and the session does not have. */
  readonly unused: readonly {
    readonly name: string;
    readonly file: string;
    readonly why: string;
    readonly isDenied: boolean;
  }[];
}

export type ServerAnswers = Pick<ProjectTrust, "serverAnswers" | "answerServer">;

/** What was said, here or on another machine, in a lock file that was handed on. */
export interface GivenAnswers extends Pick<ServerAnswers, "serverAnswers"> {
  readonly isHandedOn?: true;
}

/** Asks a person about the servers that nobody has answered about as they are. What they say is kept at once. */
export type ReviewServers = (project: Project, settings: Settings, trust: ServerAnswers) => Promise<void>;

type Env = Readonly<Record<string, string | undefined>>;

/** Every declaration of the project, with those that the user's own entries replace. */
export function declaredServers(project: Project, settings: Settings, env: Env): readonly ServerDeclaration[] {
  const written = [...project.config.mcpServers, ...project.agents.flatMap(({ mcpServers = [] }) => mcpServers)];
  const named = new Set(written.map(({ server }) => server.name));
  // What is written for this program wins over what is written for all.
  const foreign = optionalFiles(project, "mcp").flatMap(({ content }) => content.servers);
  const own = [...project.config.mcpServers, ...foreign.filter(({ server }) => !named.has(server.name))].map(
    (declared) => ({ declared }),
  );
  const agents = project.agents.flatMap(({ name: agent, mcpServers = [] }) =>
    mcpServers.map((declared) => ({ declared, agent })),
  );
  const held = heldKeys(settings);
  return [...own, ...agents].map(({ declared, ...where }) => {
    const { server, variables, unset } = expandedServer(declared, env, (name) => !isHeld(name, held));
    const { connection } = server;
    // What is started or reached is part of the answer; values of variables that a server only gets may change.
    const target = connection.kind === "stdio" ? [connection.command, ...connection.args] : [connection.url];
    const taken = variables.find((name) => isHeld(name, held));
    const problem = taken === undefined ? unset : `it asks for the variable ${taken}, which belongs to Harness`;
    return {
      ...declared,
      ...where,
      server,
      variables,
      hash: canonicalHash([server.name, declared.entry, target]),
      ...(problem !== undefined && { problem }),
    };
  });
}

/** What a session of the project may use. Without `trust` nothing of the project counts as approved. */
export function usedServers(
  project: Project,
  settings: Settings,
  env: Env,
  trust: GivenAnswers | undefined,
): UsedServers {
  const declared = declaredServers(project, settings, env);
  if (declared.length === 0) return { mcpServers: settings.mcpServers, agentServers: {}, notices: [], unused: [] };
  const answers = new Map(trust?.serverAnswers().map((answer) => [answer.name, answer]));
  const users = new Set(settings.mcpServers.map(({ name }) => name));
  const mcpServers = [...settings.mcpServers];
  const agentServers: Record<string, McpServer[]> = {};
  const unused: UsedServers["unused"][number][] = [];
  for (const one of declared) {
    const { name } = one.server;
    const answer = answers.get(name);
    const why = users.has(name)
      ? "your own entry of the same name in config.toml is used instead"
      : leftOut(one, answer);
    if (answer === undefined || why !== undefined) {
      if (why !== undefined) unused.push({ name, file: one.place.file, why, isDenied: answer?.answer === "denied" });
      continue;
    }
    const server = approvedServer(one, answer, project.root, trust?.isHandedOn);
    if (one.agent === undefined) mcpServers.push(server);
    else agentServers[one.agent] = [...(agentServers[one.agent] ?? []), server];
  }
  // Who denied a server need not read that at every start.
  const notices = unused.flatMap(({ name, file, why, isDenied }) =>
    isDenied ? [] : [`The MCP server '${name}' of ${visibleLine(file)} is not used: ${why}.`],
  );
  return { mcpServers, agentServers, notices, unused };
}

/** Undefined when it was approved as it is. */
function leftOut(declared: ServerDeclaration, answer: ServerAnswer | undefined): string | undefined {
  if (declared.problem !== undefined) return declared.problem;
  const { name } = declared.server;
  if (answer === undefined) return `it needs your approval. Run: harness mcp approve ${name}`;
  if (answer.entry !== declared.hash) return `its entry changed since you answered. Run: harness mcp approve ${name}`;
  return answer.answer === "denied" ? "you denied it" : undefined;
}

/** Those that a person has not answered about as they are. */
export function unansweredServers(
  declared: readonly ServerDeclaration[],
  settings: Settings,
  trust: Pick<ServerAnswers, "serverAnswers">,
): readonly ServerDeclaration[] {
  const answers = trust.serverAnswers();
  return declared.filter(({ server: { name }, hash: entry, problem }) => {
    const isAnswered = answers.some((answer) => answer.name === name && answer.entry === entry);
    return problem === undefined && !isAnswered && !settings.mcpServers.some((own) => own.name === name);
  });
}

function approvedServer(
  { server, place }: ServerDeclaration,
  answer: ServerAnswer,
  root: string,
  leavesInterpreter: true | undefined,
): McpServer {
  const { connection } = server;
  const own = { ...server, folder: serverFolder(root, server.name) };
  if (connection.kind !== "stdio") return own;
  const { files, network, writable = [], installed } = answer;
  const started = installed && { command: installed.command, args: installed.args, paths: installed.paths };
  const declaredIn = place.file.startsWith("/") ? place.file : join(root, place.file);
  return {
    ...own,
    connection: { ...connection, ...started, network, writable },
    pin: { files, declaredIn, ...defined({ leavesInterpreter }) },
  };
}

/** Where a project's server keeps its files and its package: two projects may use one name. */
export function serverFolder(root: string, name: string): string {
  return `${basename(root)
    .replaceAll(/[^\w-]/g, "_")
    .slice(0, 32)}-${hash("sha256", root, "hex").slice(0, 16)}-${name}`;
}

/** Keys of models are bound to the hosts of their vendors; one that people set for other things, too, is not. */
function heldKeys({ models }: Settings): ReadonlySet<string> {
  const keys = vendors.filter(({ keyIsShared }) => keyIsShared !== true).flatMap(({ keyVariables }) => keyVariables);
  return new Set([...keys, ...models.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? [])]);
}

function isHeld(name: string, held: ReadonlySet<string>): boolean {
  return held.has(name) || /^HARNESS_/i.test(name);
}
