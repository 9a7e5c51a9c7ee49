/**
 * What of the machine every command sees: its programs, libraries and settings, read-only. A list of what is shown: `/run`, `/var`,
 * homes and other mounts are absent. Of `/etc` it hides what other users of the machine cannot read either.
 */
import { accessSync, constants, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { HiddenPath, Mount, SandboxPolicy } from "./sandbox.ts";

const PROGRAM_FOLDERS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const SHOWN_FOLDERS = ["/usr", "/etc", "/nix", "/sys/devices/system"];
/** A program that is installed here has a folder of its own, with its libraries beside its `bin`. */
const PACKAGE_FOLDERS = ["/opt", "/snap"];
const SETTINGS = "/etc";
const MAX_SETTINGS = 20_000;
const MAX_SETTINGS_DEPTH = 8;
const OTHERS_READ = 0o004;
const OTHERS_ENTER = 0o005;

const KERNEL_SWITCHES = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"].map((n) => `/proc/${n}`);

export type SystemView = Pick<SandboxPolicy, "shown" | "links" | "kernel" | "hidden">;

/** `path` is the search path of the commands, `extra` are folders that the user shows them besides. A fact of the machine. */
export function systemView(path: string, extra: readonly string[] = []): SystemView {
  const links = PROGRAM_FOLDERS.filter((folder) => lstatOf(folder)?.isSymbolicLink()).map((folder) => ({
    path: folder,
    target: readlinkSync(folder),
  }));
  const folders = [...SHOWN_FOLDERS, ...PROGRAM_FOLDERS.filter((folder) => lstatOf(folder)?.isDirectory())];
  const shown = [...new Set([...folders, ...packageFolders(path), ...extra.filter(isAbsolute)])]
    .filter((folder) => statOf(folder) !== undefined)
    .map((folder): Mount => ({ from: realpathSync.native(folder), to: folder }));
  return { shown: [...shown, ...resolverFile()], links, kernel: kernelSwitches(), hidden: closedSettings() };
}

/** `/opt/name` for a search path with `/opt/name/bin` in it. */
function packageFolders(path: string): string[] {
  const folders = path.split(":").filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => {
    const above = PACKAGE_FOLDERS.find((parent) => folder.startsWith(`${parent}/`));
    return above === undefined ? [] : [join(above, folder.slice(above.length + 1).split("/")[0] ?? "")];
  });
}

/** Often a link into `/run`, which is not shown; names could not be resolved without it. */
function resolverFile(): Mount[] {
  const path = "/etc/resolv.conf";
  if (!lstatOf(path)?.isSymbolicLink() || statOf(path) === undefined) return [];
  const real = realpathSync.native(path);
  return real.startsWith("/run/") ? [{ from: real, to: real }] : [];
}

/**
 * What this user may read in `/etc` and others may not: password hashes, host keys, logins of the machine. Root reads them without any
 * capability, a member of a group by that.
 */
function closedSettings(): HiddenPath[] {
  const found: HiddenPath[] = [];
  let left = MAX_SETTINGS;
  const walk = (folder: string, depth: number): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isSymbolicLink() || --left < 0) continue;
      const path = join(folder, entry.name);
      const mode = lstatOf(path)?.mode ?? 0;
      const needed = entry.isDirectory() ? OTHERS_ENTER : OTHERS_READ;
      if ((mode & needed) !== needed) {
        if (isReadable(path)) found.push({ path, kind: entry.isDirectory() ? "directory" : "file" });
      } else if (entry.isDirectory() && depth < MAX_SETTINGS_DEPTH) walk(path, depth + 1);
    }
  };
  walk(SETTINGS, 0);
  if (left < 0)
    throw new Error(`${SETTINGS} has more than ${MAX_SETTINGS} files, so Harness cannot tell which of them to hide`);
  return found;
}

/**
 * The file system of the kernel's switches asks for the user only, so root keeps them when all capabilities are gone; and
 * bubblewrap takes their folders for read-only. For everybody else their modes are enough.
 */
function kernelSwitches(): string[] {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return [];
  return KERNEL_SWITCHES.filter((path) => statOf(path) !== undefined);
}

function lstatOf(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

function statOf(path: string) {
  return statSync(path, { throwIfNoEntry: false });
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
