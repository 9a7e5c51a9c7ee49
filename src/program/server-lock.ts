/**
 * Answers about the MCP servers of a project in lock files that are handed on: what of an answer holds on another machine, and whether
 * what is there now is what was approved. Reads and hashes files; starts and reaches nothing.
 */
import type { Settings } from "#artifacts";
import { messageOf } from "#base";
import { checkProgram } from "#session";
import { serverFolders } from "#stores";
import type { ServerAnswer } from "#trust";
import { handedOn } from "./handed-answers.ts";
import type { ProjectPorts } from "./ports.ts";
import { declaredServers, unansweredServers, usedServers } from "./project-servers.ts";
import { openTrustedProject, type TrustFlags } from "./trusted-project.ts";

export interface PortableAnswers {
  readonly servers: readonly ServerAnswer[];
  /** Sentences for a person about servers that the file does not speak about. */
  readonly notices: readonly string[];
}

/** One server that is not as the answer about it says. */
export interface ServerFinding {
  readonly name: string;
  /** `program`: a file that was approved is another one now. */
  readonly change: "new" | "changed" | "program";
  readonly detail: string;
}

/** The answers of the project as they can be handed on. The project has to be acked. */
export async function portableAnswers(
  ports: ProjectPorts,
  settings: Settings,
  dir: { readonly dir?: string; readonly config?: string },
): Promise<PortableAnswers> {
  const { loaded, answers } = await openTrustedProject(ports, dir, {});
  const { project } = loaded;
  if (project === undefined || answers === undefined) return { servers: [], notices: [] };
  const waiting = unansweredServers(declaredServers(project, settings, ports.env), settings, answers);
  const named = new Set(
    declaredServers(project, settings, ports.env).map(({ server, hash }) => `${server.name} ${hash}`),
  );
  const known = answers.serverAnswers().filter(({ name, entry }) => named.has(`${name} ${entry}`));
  const portable = known.filter(({ installed }) => installed === undefined);
  return {
    servers: portable.map((answer) => handedOn(project.root, answer)),
    notices: [
      ...waiting.map(
        ({ server: { name } }) => `The MCP server '${name}' has no answer yet. To add it: harness mcp approve ${name}`,
      ),
      ...known
        .filter(({ installed }) => installed !== undefined)
        .map(({ name }) => {
          return `The MCP server '${name}' is a package that Harness installed here. On the runner, add it with: harness mcp add`;
        }),
    ],
  };
}

/** Servers that would be left out of a session, or not start, because nobody approved what is there now. */
export async function changedServers(
  ports: ProjectPorts,
  settings: Settings,
  dir: { readonly dir?: string; readonly config?: string },
  flags: TrustFlags,
): Promise<readonly ServerFinding[]> {
  const { loaded, answers } = await openTrustedProject(ports, dir, flags);
  const { project } = loaded;
  if (project === undefined || answers === undefined) return [];
  const { env } = ports;
  const waiting = unansweredServers(declaredServers(project, settings, env), settings, answers);
  const findings = waiting.map(({ server: { name } }): ServerFinding => {
    const isKnown = answers.serverAnswers().some((answer) => answer.name === name);
    return isKnown
      ? { name, change: "changed", detail: "its entry changed since somebody answered" }
      : { name, change: "new", detail: "nobody has answered about it" };
  });
  const { mcpServers, agentServers } = usedServers(project, settings, env, answers);
  const place = { root: project.root, env, packages: serverFolders(env).packages };
  for (const server of [...mcpServers, ...Object.values(agentServers).flat()]) {
    const { connection, name, pin } = server;
    if (connection.kind !== "stdio" || pin === undefined) continue;
    try {
      await checkProgram({ ...server, connection }, place);
    } catch (error) {
      findings.push({ name, change: "program", detail: messageOf(error) });
    }
  }
  return findings;
}
