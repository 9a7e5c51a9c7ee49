/**
 * `npx PACKAGE` and `uvx PACKAGE` as the command of an MCP server: both fetch whatever is newest when they start, and need the network
 * and a home for that. So the package is installed once into a folder of the program, and is started from there.
 */
import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { defined } from "#base";
import { ReasonError } from "#protocol";
import { serverFolders } from "#stores";
import type { InstalledPackage } from "#trust";
import { createProcesses, makePrivateDirectory, proxyVariables } from "#world";
import { npmPackages } from "./npm-package.ts";
import type { ProgramPorts } from "./ports.ts";
import { uvPackages } from "./uv-package.ts";

const INSTALL_MS = 10 * 60_000;
const MAX_SAID_CHARS = 2_000;

export interface PackageRequest {
  readonly spec: string;
  /** Its program, where it is not called like the package. */
  readonly program?: string;
  readonly args: readonly string[];
}

export interface PackageInstaller {
  /** The program that would fetch and start it. */
  readonly launcher: string;
  /** Specifications that name a package of the configured registry and no other place. */
  readonly fromRegistry: RegExp;
  /** Undefined when the launcher is asked for something else. */
  read(args: readonly string[]): PackageRequest | undefined;
  /** Where the person's own tool is configured to get packages from. */
  readonly variables: RegExp;
  install(
    request: PackageRequest,
    place: {
      readonly folder: string;
      readonly cwd: string;
      readonly run: (file: string, args: readonly string[]) => Promise<void>;
    },
  ): Promise<InstalledPackage>;
}

const INSTALLERS = [npmPackages, uvPackages];

/** Undefined for any other command. */
export function packageOf([command = "", ...args]: readonly string[]):
  | { readonly request: PackageRequest; readonly installer: PackageInstaller }
  | undefined {
  const installer = INSTALLERS.find(({ launcher }) => launcher === basename(command));
  const request = installer?.read(args);
  return installer === undefined || request === undefined ? undefined : { request, installer };
}

/** Whether the command is one that fetches packages, whatever it is asked for. */
export function isLauncher(command: string): boolean {
  return INSTALLERS.some(({ launcher }) => launcher === basename(command));
}

/** Rejects with UsageInvalid when it cannot be installed, and leaves nothing behind then. */
export async function installPackage(
  { env, cwd }: Pick<ProgramPorts, "env" | "cwd">,
  server: string,
  { request, installer }: NonNullable<ReturnType<typeof packageOf>>,
): Promise<InstalledPackage> {
  const folder = packageFolder(env, server);
  rmSync(folder, { recursive: true, force: true });
  makePrivateDirectory(folder);
  const run = (file: string, args: readonly string[]): Promise<void> =>
    runInstaller(folder, env, { file, args, variables: installer.variables, spec: request.spec });
  try {
    return await installer.install(request, { folder, cwd, run });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

export function removePackage({ env }: Pick<ProgramPorts, "env">, server: string): void {
  if (server === "") return; // the folder of all of them
  rmSync(packageFolder(env, server), { recursive: true, force: true });
}

function packageFolder(env: ProgramPorts["env"], server: string): string {
  return join(serverFolders(env).packages, server);
}

async function runInstaller(
  folder: string,
  env: ProgramPorts["env"],
  {
    file,
    args,
    variables,
    spec,
  }: Pick<PackageInstaller, "variables"> & { file: string; args: readonly string[]; spec: string },
): Promise<void> {
  let said = "";
  const named = Object.entries(env).filter(([name]) => variables.test(name));
  const { code } = await createProcesses({ root: folder, env }).run(
    {
      file,
      args,
      env: { ...proxyVariables(env), ...defined(Object.fromEntries(named) as Record<string, string>) },
      timeoutMs: INSTALL_MS,
      onOutput: (_stream, chunk) => {
        said = (said + chunk.toString("utf8")).slice(-MAX_SAID_CHARS);
      },
    },
    new AbortController().signal,
  );
  if (code === 0) return;
  throw new ReasonError("UsageInvalid", `${file} could not install ${spec}: ${said.trim() || "it did not finish"}`);
}
