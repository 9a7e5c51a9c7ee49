/** Packages of npm as MCP servers: installed without their scripts, and started by Node. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { defined, isRecord, jsonIn } from "#base";
import { ReasonError } from "#protocol";
import type { InstalledPackage } from "#trust";
import type { PackageInstaller } from "./server-package.ts";

const INSTALL = [
  "install",
  "--ignore-scripts",
  "--save-exact",
  "--install-links",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];

export const npmPackages: PackageInstaller = {
  launcher: "npx",
  fromRegistry: /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*(?:@[\w.^~<>=*+-]+)?$/i,
  read(args) {
    const rest = args[0] === "-y" || args[0] === "--yes" ? args.slice(1) : args;
    const [spec, ...given] = rest;
    // With options of its own, npx does something else than start one package.
    return spec === undefined || spec.startsWith("-") ? undefined : { spec, args: given };
  },
  variables: /^npm_config_|^NODE_EXTRA_CA_CERTS$|^SSL_CERT_FILE$/i,
  async install({ spec: written, args }, { folder, cwd, run }) {
    const spec = /^\.{1,2}\//.test(written) ? resolve(cwd, written) : written;
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    await run("npm", [...INSTALL, spec]);
    return installed(folder, spec, args);
  },
};

function installed(folder: string, spec: string, args: readonly string[]): InstalledPackage {
  const [name = ""] = Object.keys(record(join(folder, "package.json")).dependencies ?? {});
  const root = join(folder, "node_modules", name);
  const { bin, version } = record(join(root, "package.json"));
  const programs = isRecord(bin) ? bin : { [name]: bin };
  // As npx chooses: the only one, or the one that is called like the package.
  const own = programs[name.replace(/^@[^/]*\//, "")] ?? programs[name];
  const file = Object.keys(programs).length === 1 ? Object.values(programs)[0] : own;
  if (name === "" || typeof file !== "string") {
    throw new ReasonError("UsageInvalid", `${spec} contains no program to run as an MCP server`);
  }
  const { packages } = record(join(folder, "package-lock.json"));
  const locked = isRecord(packages) ? packages[`node_modules/${name}`] : undefined;
  const integrity = isRecord(locked) && typeof locked.integrity === "string" ? locked.integrity : undefined;
  return {
    name,
    version: String(version),
    ...defined({ integrity }),
    command: process.execPath,
    args: [join(root, file), ...args],
    paths: [folder, dirname(process.execPath)],
  };
}

function record(file: string): Record<string, unknown> {
  const read = jsonIn(readFileSync(file, "utf8"));
  return isRecord(read) ? read : {};
}
