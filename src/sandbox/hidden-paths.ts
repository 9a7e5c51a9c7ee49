/** What a command never gets to see: logins of the person, sockets of the machine, and the harness's own files. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { HiddenPath } from "./sandbox.ts";

/** In every home folder: what holds keys, tokens, passwords or what was typed. */
const HOME_SECRETS = [
  ".ssh .gnupg .aws .azure .gcloud .config/gcloud .kube .docker .dockercfg .oci .s3cfg .boto .config/rclone .config/doctl",
  ".netrc _netrc .npmrc .yarnrc .yarnrc.yml .pypirc .config/pip/pip.conf .gem/credentials .cargo/credentials",
  ".cargo/credentials.toml .m2/settings.xml .gradle/gradle.properties .composer/auth.json .config/composer/auth.json",
  ".nuget/NuGet .terraformrc .terraform.d .vault-token .pgpass .my.cnf .git-credentials .config/git/credentials",
  ".config/gh .config/glab-cli .config/hub .config/github-copilot .config/op .config/sops .age .config/age .fly",
  ".password-store .local/share/keyrings .local/share/kwalletd .pki .Xauthority .ICEauthority .config/wireguard",
  ".mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge",
  ".config/vivaldi .config/opera snap/firefox snap/chromium .var/app Library/Keychains Library/Cookies",
  ".bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history",
  ".local/share/fish/fish_history .claude .claude.json .codex .gemini .harness-secrets .bitcoin .ethereum .electrum",
].flatMap((line) => line.split(" "));

/** Of the machine; a program that runs as root could read them without any capability. */
const SYSTEM_SECRETS = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/ssl/private",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssh",
  "/var/lib/docker",
  "/var/lib/containerd",
  "/var/lib/kubelet",
  "/var/spool/cron",
];

const KERNEL_SWITCHES = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"].map((n) => `/proc/${n}`);

/** Sockets of daemons that would act for whoever connects: Docker, the session bus, agents. A read-only mount does not close them. */
const SOCKET_FOLDERS = ["/run", "/var/run"];

/** Looked up on every run, so that what a person creates meanwhile is hidden too. Nothing that is missing is listed. */
export function hiddenPaths(options: {
  readonly homes: readonly string[];
  readonly ownPaths: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}): HiddenPath[] {
  const agent = options.env.SSH_AUTH_SOCK;
  const candidates = [
    ...SOCKET_FOLDERS,
    // What this user cannot read the command cannot either, and every mount costs time.
    ...SYSTEM_SECRETS.filter(isReadable),
    ...options.homes.flatMap((home) => HOME_SECRETS.map((name) => join(home, name))),
    ...(agent !== undefined && isAbsolute(agent) ? [agent] : []),
    ...options.ownPaths,
  ];
  const found = new Map<string, HiddenPath>();
  for (const path of candidates) {
    const info = statSync(path, { throwIfNoEntry: false });
    if (info === undefined) continue;
    const real = realpathSync.native(path);
    found.set(real, { path: real, kind: info.isDirectory() ? "directory" : "file" });
  }
  // What lies below a hidden folder is gone with it, and could not be mounted over any more.
  return [...found.values()].filter(
    ({ path }) => !hasAncestor(path, (above) => found.get(above)?.kind === "directory"),
  );
}

/**
 * The file system of the kernel's switches asks for the user only, so root keeps them when all capabilities are gone; and
 * bubblewrap takes their folders for read-only. For everybody else their modes are enough.
 */
export function kernelSwitches(): string[] {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return [];
  return KERNEL_SWITCHES.filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined);
}

/** Files below hidden folders without which programs misbehave: names could not be resolved. */
export function shownFiles(hidden: readonly HiddenPath[]): string[] {
  const path = "/etc/resolv.conf";
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const real = realpathSync.native(path);
  const isHidden = hidden.some(({ path: above }) => real.startsWith(`${above}/`));
  return isHidden ? [real] : [];
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function hasAncestor(path: string, test: (above: string) => boolean): boolean {
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    if (test(above)) return true;
  }
  return false;
}
