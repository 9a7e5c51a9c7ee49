/** Packages of Python as MCP servers: resolved to hashes and installed by `uv`, from wheels alone, so that nothing of them runs. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defined } from "#base";
import { ReasonError } from "#protocol";
import { realPath } from "#world";
import type { PackageInstaller } from "./server-package.ts";

const WHEELS_ALONE = ["--only-binary", ":all:"];

export const uvPackages: PackageInstaller = {
  launcher: "uvx",
  fromRegistry: /^[a-z0-9][\w.-]*(?:\[[\w.,-]+\])?(?:(?:@|==)[\w.+!-]+)?$/i,
  read(args) {
    const [first, second, third, ...rest] = args;
    if (first === "--from" && second !== undefined && third !== undefined && !third.startsWith("-")) {
      return { spec: second, program: third, args: rest };
    }
    return first === undefined || first.startsWith("-") ? undefined : { spec: first, args: args.slice(1) };
  },
  variables: /^UV_|^PIP_|^SSL_CERT_FILE$/i,
  async install({ spec, program, args }, { folder, run }) {
    const requirement = spec.replace(/@latest$/, "").replace(/(\w|\])@(?=[\w.]+$)/, "$1==");
    const [input, lock, venv] = ["requirements.in", "requirements.txt", "venv"].map((name) => join(folder, name));
    if (input === undefined || lock === undefined || venv === undefined)
      throw new Error("three names give three paths");
    writeFileSync(input, `${requirement}\n`);
    // To resolve a package that has no wheel, uv would run its build.
    const resolved = ["--generate-hashes", ...WHEELS_ALONE, "--no-header", "--output-file", lock];
    await run("uv", ["pip", "compile", ...resolved, input]);
    await run("uv", ["venv", venv]);
    const python = join(venv, "bin/python");
    await run("uv", ["pip", "install", "--python", python, "--require-hashes", ...WHEELS_ALONE, "-r", lock]);
    const name = requirement.replace(/[[=].*$/, "");
    const command = join(venv, "bin", program ?? name);
    if (!existsSync(command)) throw new ReasonError("UsageInvalid", `${spec} has no program ${program ?? name}`);
    const { version, integrity } = lockedAs(readFileSync(lock, "utf8"), name);
    return {
      name,
      version,
      ...defined({ integrity }),
      command,
      args,
      paths: [folder, dirname(dirname(realPath(python)))],
    };
  },
};

/** `name==1.2.3 \` and its hashes on the lines below. */
function lockedAs(lock: string, name: string): { readonly version: string; readonly integrity?: string } {
  const normal = (written: string): string => written.toLowerCase().replaceAll(/[-_.]+/g, "-");
  const lines = lock.split("\n");
  const at = lines.findIndex((line) => normal(/^[\w.-]+(?===|\[)/.exec(line)?.[0] ?? "") === normal(name));
  const version = /==([^\s;\\]+)/.exec(lines[at] ?? "")?.[1];
  if (version === undefined) throw new ReasonError("UsageInvalid", `uv did not say which ${name} it chose`);
  const integrity = /--hash=(\S+)/.exec(lines.slice(at).join("\n"))?.[1];
  return { version, ...defined({ integrity }) };
}
