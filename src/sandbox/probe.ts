/**
 * Finds out what this machine offers, by trying it with a policy that no file of a workspace has a say in. Each step says what was found
 * and what a person can do.
 */

import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { defined, messageOf, type ProcessPort } from "#base";
import { type BubblewrapOptions, createBubblewrap } from "./bubblewrap.ts";
import { planReader } from "./policy.ts";
import type { Probe, ProbeStep } from "./sandbox.ts";
import { createSeatbelt } from "./seatbelt.ts";
import { isFilteredProcessor } from "./seccomp.ts";
import type { SystemView } from "./system-view.ts";

const PROBE_TIMEOUT_MS = 10_000;
const MAX_COMPLAINT_CHARS = 500;
const SYSTEM_FOLDERS = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];
const SEATBELT = "/usr/bin/sandbox-exec";

export interface ProbeOptions {
  readonly platform: NodeJS.Platform;
  readonly processor: string;
  /** Searched for `bwrap` after the folders of the system. */
  readonly path: string;
  /** Starts programs outside any sandbox. */
  readonly processes: ProcessPort;
  readonly system: SystemView;
  /** An empty folder of this program that stands for a workspace, and an empty file. */
  readonly emptyFolder: string;
  readonly emptyFile: string;
}

export async function probeSandbox(options: ProbeOptions): Promise<Probe> {
  if (options.platform === "linux") return probeBubblewrap(options);
  if (options.platform === "darwin") return probeSeatbelt();
  const detail = `Harness has no sandbox for ${options.platform}`;
  return { available: false, why: detail, steps: [{ name: "platform", ok: false, detail }] };
}

async function probeBubblewrap(options: ProbeOptions): Promise<Probe> {
  const { processor } = options;
  const bwrap = findProgram("bwrap", options.path);
  if (bwrap === undefined) {
    return unavailable({
      name: "bubblewrap",
      ok: false,
      detail: "bwrap was not found",
      remedy: "Install it: apt-get install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap.",
    });
  }
  if (!isFilteredProcessor(processor)) {
    const detail = `Harness has no system call filter for the processor ${processor}`;
    return unavailable({ name: "system call filter", ok: false, detail });
  }
  const prlimit = findProgram("prlimit", options.path);
  const base = { bwrap, processor, ...defined({ prlimit }) };
  const limits: ProbeStep =
    prlimit === undefined
      ? {
          name: "prlimit",
          ok: false,
          detail: "not found; commands run without resource limits",
          remedy: "Install util-linux.",
        }
      : { name: "prlimit", ok: true, detail: prlimit };
  const steps: ProbeStep[] = [{ name: "bubblewrap", ok: true, detail: bwrap }, nsenterStep(options.path)];
  let why = "";
  // Without a user namespace only root can mount; everybody else needs one.
  const isRoot = process.getuid?.() === 0;
  for (const userNamespace of ["closed", "own", ...(isRoot ? (["none"] as const) : [])] as const) {
    const complaint = await complaintOf({ ...base, userNamespace }, options);
    if (complaint === undefined) {
      steps.push(
        { name: "sandbox", ok: true, detail: `a command runs in it (user namespace: ${userNamespace})` },
        limits,
      );
      return { available: true, sandbox: createBubblewrap({ ...base, userNamespace }), steps };
    }
    why = complaint;
  }
  steps.push({ name: "sandbox", ok: false, detail: why, remedy: remedyFor(why) }, limits);
  return { available: false, why, steps };
}

/** Commands that nobody was asked about do without it. */
function nsenterStep(path: string): ProbeStep {
  const found = findProgram("nsenter", path);
  if (found !== undefined) return { name: "nsenter", ok: true, detail: found };
  const detail = "not found; allowed commands need it to use the network of their session";
  return { name: "nsenter", ok: false, detail, remedy: 'Install util-linux, or set network.mode = "direct".' };
}

function unavailable(step: ProbeStep): Probe {
  return { available: false, why: step.detail, steps: [step] };
}

/** Undefined when `true` ran inside. */
async function complaintOf(candidate: BubblewrapOptions, options: ProbeOptions): Promise<string | undefined> {
  const { emptyFolder, emptyFile, system } = options;
  const policy = planReader({
    root: emptyFolder,
    cwd: emptyFolder,
    home: "/home/harness",
    system,
    toolchains: [],
    around: [],
    ownPaths: [],
    deniedPrograms: [],
    emptyFile,
    sessionFolder: dirname(emptyFolder),
    masked: [],
    settings: [],
  });
  if (typeof policy === "string") return policy;
  const file = findProgram("true", options.path) ?? "/bin/true";
  const { file: bwrap, ...wrapped } = createBubblewrap(candidate).wrap({ file, args: [] }, policy);
  let said = "";
  try {
    const exit = await options.processes.run(
      {
        file: bwrap,
        ...wrapped,
        timeoutMs: PROBE_TIMEOUT_MS,
        onOutput: (_stream, chunk) => {
          said = (said + chunk.toString("utf8")).slice(0, MAX_COMPLAINT_CHARS);
        },
      },
      new AbortController().signal,
    );
    if (exit.ended === "exit" && exit.code === 0) return undefined;
    return said.trim() || `bwrap ended with ${exit.signal ?? `code ${exit.code}`} (${exit.ended})`;
  } catch (error) {
    return said.trim() || messageOf(error);
  }
}

/** What usually stands in the way, and the switch for it. */
function remedyFor(complaint: string): string {
  const off = (name: string, value: string): boolean => readSwitch(`/proc/sys/${name.replaceAll(".", "/")}`) === value;
  if (off("kernel.apparmor_restrict_unprivileged_userns", "1")) {
    return "AppArmor does not let bwrap create user namespaces. Add a profile for bwrap that allows userns, or run: sysctl kernel.apparmor_restrict_unprivileged_userns=0";
  }
  if (off("kernel.unprivileged_userns_clone", "0")) {
    return "User namespaces are disabled for ordinary users. Enable them with: sysctl kernel.unprivileged_userns_clone=1";
  }
  if (off("user.max_user_namespaces", "0")) {
    return "User namespaces are disabled. Enable them with: sysctl user.max_user_namespaces=15000";
  }
  if (/unknown option/i.test(complaint)) return "This version of bubblewrap is too old. Install 0.8 or later.";
  return "In a container, allow user namespaces and mounts, for example with --security-opt seccomp=unconfined or a privileged container.";
}

function readSwitch(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

function probeSeatbelt(): Probe {
  if (statSync(SEATBELT, { throwIfNoEntry: false }) === undefined) {
    return unavailable({ name: "sandbox-exec", ok: false, detail: `${SEATBELT} was not found` });
  }
  const steps = [{ name: "sandbox-exec", ok: true, detail: `${SEATBELT}; this backend is untested` }];
  return { available: true, sandbox: createSeatbelt(SEATBELT), steps };
}

/** In the folders of the system first, so that nothing in a home folder can stand in for it. */
export function findProgram(name: string, path: string): string | undefined {
  const folders = [...SYSTEM_FOLDERS, ...path.split(delimiter).filter((folder) => isAbsolute(folder))];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
