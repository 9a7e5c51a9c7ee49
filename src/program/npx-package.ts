/**
 * `npx -y PACKAGE` as the command of an MCP server: npx fetches whatever is newest when it starts, and needs the network and a home for
 * that. So the package is installed once, without its scripts, into a folder of the program, and is started from there.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { defined, isRecord, jsonIn } from "#base";
import { ReasonError } from "#protocol";
import { serverFolders } from "#stores";
import { createProcesses, makePrivateDirectory, proxyVariables } from "#world";
import type { ProgramPorts } from "./ports.ts";

const INSTALL_MS = 10 * 60_000;
const INSTALL = [
  "install",
  "--ignore-scripts",
  "--save-exact",
  "--install-links",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];
const MAX_SAID_CHARS = 2_000;

export interface StartedPackage {
  readonly command: string;
  readonly args: readonly string[];
  /** What the server must see. */
  readonly paths: readonly string[];
  /** As it was installed, with its version. */
  readonly installed: string;
}

/** Undefined for any other command. */
export function npxPackage([command = "", ...args]: readonly string[]):
  | { readonly spec: string; readonly args: readonly string[] }
  | undefined {
  if (basename(command) !== "npx") return undefined;
  const rest = args[0] === "-y" || args[0] === "--yes" ? args.slice(1) : args;
  const [spec, ...given] = rest;
  // With options of its own, npx does something else than start one package.
  return spec === undefined || spec.startsWith("-") ? undefined : { spec, args: given };
}

/** Rejects with UsageInvalid when it cannot be installed, and leaves nothing behind then. */
export async function installPackage(
  { env, cwd }: Pick<ProgramPorts, "env" | "cwd">,
  server: string,
  { spec: written, args }: { readonly spec: string; readonly args: readonly string[] },
): Promise<StartedPackage> {
  const folder = packageFolder(env, server);
  const spec = /^\.{1,2}\//.test(written) ? resolve(cwd, written) : written;
  rmSync(folder, { recursive: true, force: true });
  makePrivateDirectory(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  try {
    await runNpm(folder, env, spec);
    const { name, version, program } = installedProgram(folder, spec);
    return {
      command: process.execPath,
      args: [program, ...args],
      paths: [folder, dirname(process.execPath)],
      installed: `${name}@${version}`,
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

export function removePackage({ env }: Pick<ProgramPorts, "env">, server: string): void {
  rmSync(packageFolder(env, server), { recursive: true, force: true });
}

function packageFolder(env: ProgramPorts["env"], server: string): string {
  return join(serverFolders(env).packages, server);
}

async function runNpm(folder: string, env: ProgramPorts["env"], spec: string): Promise<void> {
  let said = "";
  const { code } = await createProcesses({ root: folder, env }).run(
    {
      file: "npm",
      args: [...INSTALL, spec],
      env: npmVariables(env),
      timeoutMs: INSTALL_MS,
      onOutput: (_stream, chunk) => {
        said = (said + chunk.toString("utf8")).slice(-MAX_SAID_CHARS);
      },
    },
    new AbortController().signal,
  );
  if (code === 0) return;
  throw new ReasonError("UsageInvalid", {
    detail: `npm could not install ${spec}: ${said.trim() || "it did not end"}`,
  });
}

/** Where the person's npm is configured to get packages from, and how it gets there. */
function npmVariables(env: ProgramPorts["env"]): Record<string, string> {
  const named = Object.entries(env).filter(([name]) =>
    /^npm_config_|^NODE_EXTRA_CA_CERTS$|^SSL_CERT_FILE$/i.test(name),
  );
  return { ...proxyVariables(env), ...defined(Object.fromEntries(named) as Record<string, string>) };
}

function installedProgram(folder: string, spec: string) {
  const [name] = Object.keys(record(join(folder, "package.json")).dependencies ?? {});
  const root = join(folder, "node_modules", name ?? "");
  const { bin, version } = record(join(root, "package.json"));
  const programs = isRecord(bin) ? bin : { [name ?? ""]: bin };
  // As npx chooses: the only one, or the one that is called like the package.
  const own = programs[(name ?? "").replace(/^@[^/]*\//, "")] ?? programs[name ?? ""];
  const file = Object.keys(programs).length === 1 ? Object.values(programs)[0] : own;
  if (name === undefined || typeof file !== "string") {
    throw new ReasonError("UsageInvalid", { detail: `${spec} has no program that could be an MCP server` });
  }
  return { name, version: String(version), program: join(root, file) };
}

function record(file: string): Record<string, unknown> {
  const read = jsonIn(readFileSync(file, "utf8"));
  return isRecord(read) ? read : {};
}
