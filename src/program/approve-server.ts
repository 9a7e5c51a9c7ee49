/** The answer of a person about one MCP server of a project: what it would run, and how that is kept. Starts and reaches no server. */
import { randomBytes } from "node:crypto";
import { basename } from "node:path";
import type { PinnedFile } from "#artifacts";
import { defined, messageOf } from "#base";
import { refuseContainers, type ServerProgram, serverProgram } from "#session";
import { serverFolders } from "#stores";
import type { InstalledPackage, ServerAnswer } from "#trust";
import type { ProgramPorts } from "./ports.ts";
import { type ServerAnswers, type ServerDeclaration, serverFolder } from "./project-servers.ts";
import { installPackage, isLauncher, packageOf, removePackage } from "./server-package.ts";

/** One server, as it is now and as it was answered about. */
export interface ServerReview {
  readonly declared: ServerDeclaration;
  /** What would start. Absent for a server on the network, and for a package that is not installed. */
  readonly program?: ServerProgram;
  /** A package that has to be installed before it can be approved. */
  readonly package?: string;
  readonly installed?: InstalledPackage;
  readonly before?: ServerAnswer;
  /** Why it cannot be approved. */
  readonly problem?: string;
}

type Ports = Pick<ProgramPorts, "env" | "cwd">;

/** Reads and hashes files; installs nothing. */
export async function lookAtServer(
  { env }: Ports,
  root: string,
  declared: ServerDeclaration,
  trust: Pick<ServerAnswers, "serverAnswers">,
): Promise<ServerReview> {
  const { name, connection } = declared.server;
  const before = trust.serverAnswers().find((answer) => answer.name === name);
  const found = { declared, ...defined({ before }) };
  if (declared.problem !== undefined) return { ...found, problem: declared.problem };
  if (connection.kind !== "stdio") return found;
  try {
    refuseContainers(name, connection);
    if (!isLauncher(connection.command)) {
      const program = await serverProgram(connection, placeOf(env, root));
      return { ...found, program, ...wrongPin(connection.sha256, program.main) };
    }
    const wanted = packageOf([connection.command, ...connection.args]);
    if (wanted === undefined || !wanted.installer.fromRegistry.test(wanted.request.spec)) {
      const problem = `a project can only ask for "${basename(connection.command)} PACKAGE" with a package of the registry`;
      return { ...found, problem };
    }
    return { ...found, package: wanted.request.spec };
  } catch (error) {
    return { ...found, problem: messageOf(error) };
  }
}

/** The same review with the package installed, in a folder of its own. Rejects with UsageInvalid. */
export async function installForReview(ports: Ports, root: string, review: ServerReview): Promise<ServerReview> {
  const { connection, name } = review.declared.server;
  const wanted = connection.kind === "stdio" ? packageOf([connection.command, ...connection.args]) : undefined;
  if (wanted === undefined || connection.kind !== "stdio") return review;
  const folder = `${serverFolder(root, name)}-${randomBytes(4).toString("hex")}`;
  const installed = await installPackage(ports, folder, wanted);
  const { command, args, paths } = installed;
  const program = await serverProgram({ ...connection, command, args, paths }, placeOf(ports.env, root));
  return { ...review, installed, program, ...wrongPin(connection.sha256, program.main) };
}

/** Keeps what was looked at, not what may lie there meanwhile. */
export function keepAnswer(
  ports: Ports,
  { declared, program, installed, before }: ServerReview,
  { answer, ...reach }: Pick<ServerAnswer, "answer" | "network" | "writable">,
  trust: Pick<ServerAnswers, "answerServer">,
): void {
  const kept = answer === "approved" ? { files: program?.files ?? [], ...defined({ installed }) } : { files: [] };
  trust.answerServer({ name: declared.server.name, entry: declared.hash, answer, ...reach, ...kept });
  removeInstalled(ports, answer === "approved" ? before?.installed : installed);
}

/** Whoever leaves without an answer leaves no package behind. */
export function dropReview(ports: Ports, { installed }: ServerReview): void {
  removeInstalled(ports, installed);
}

function removeInstalled(ports: Ports, installed: InstalledPackage | undefined): void {
  const [folder] = installed?.paths ?? [];
  if (folder !== undefined) removePackage(ports, basename(folder));
}

function placeOf(env: Ports["env"], root: string) {
  return { root, env, packages: serverFolders(env).packages };
}

function wrongPin(expected: string | undefined, { path, sha256 }: PinnedFile): Pick<ServerReview, "problem"> {
  if (expected === undefined || expected === sha256) return {};
  return { problem: `its entry pins sha256 ${expected}, but ${path} has ${sha256}` };
}
