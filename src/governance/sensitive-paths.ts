/**
 * Which files hold secrets or steer what runs, judged by their names alone, and whether a path stays in the workspace
 * as written. Looks at no disk: a symlink with a harmless name is the business of the file port.
 */
import { foldedSegments } from "#base";
import { globsMeet, hasGlob } from "./wildcard.ts";

export type Sensitivity =
  | { readonly sensitive: false }
  /** `secret`: what is in the file is sensitive. Otherwise the file decides what runs, and reading it tells nothing. */
  | { readonly sensitive: true; readonly why: string; readonly secret: boolean };

const HARMLESS: Sensitivity = { sensitive: false };

const OWN_FILES = "files of Harness itself";

const SECRET_FOLDERS: ReadonlyMap<string, string> = new Map([
  [".ssh", "SSH keys"],
  [".aws", "AWS credentials"],
  [".azure", "Azure credentials"],
  [".gnupg", "GnuPG keys"],
  [".kube", "Kubernetes credentials"],
  [".docker", "Docker credentials"],
  [".gcloud", "Google Cloud credentials"],
  ["gcloud", "Google Cloud credentials"],
  [".password-store", "a password store"],
  [".harness", OWN_FILES],
  [".harness-secrets", "secrets"],
]);

const SECRET_NAMES: ReadonlyMap<string, string> = new Map([
  [".env", "environment secrets"],
  [".envrc", "environment secrets"],
  [".netrc", "logins"],
  ["_netrc", "logins"],
  [".npmrc", "registry tokens"],
  [".pypirc", "registry tokens"],
  [".yarnrc", "registry tokens"],
  [".pgpass", "database passwords"],
  [".my.cnf", "database passwords"],
  [".git-credentials", "git logins"],
  [".gitconfig", "git configuration, which can run programs"],
  [".htpasswd", "password hashes"],
  [".dockercfg", "Docker credentials"],
  [".vault-token", "a Vault token"],
  ["control.token", "the token of a daemon"],
  [".terraformrc", "Terraform credentials"],
  [".bash_history", "shell history"],
  [".zsh_history", "shell history"],
  ["id_rsa", "a private key"],
  ["id_dsa", "a private key"],
  ["id_ecdsa", "a private key"],
  ["id_ecdsa_sk", "a private key"],
  ["id_ed25519", "a private key"],
  ["id_ed25519_sk", "a private key"],
]);

const SECRET_EXTENSIONS = ["pem", "key", "p12", "pfx", "p8", "jks", "keystore", "kdbx", "ppk", "tfstate"];

/** Only by their exact name: as patterns they would make every `*.json` and `*.yml` a question. */
const SECRET_DOCUMENTS =
  /^(?:credentials|credentials\.json|client_secret.*\.json|service-?account.*\.json|secrets?\.(?:json|ya?ml|toml|ini))$/;

const MAX_GLOB_CHARS = 4096;
const ENV_FILE = /^(?:\.env\..+|.+\.env)$/;
const ENV_SAMPLE = /(?:^|\.)(?:example|sample|template|dist|defaults)(?:\.|$)/;
const GIT_STEERING = new Set(["config", "config.worktree", "hooks", "credentials"]);

/** Of the folders `harness` in a home, as the last two names above them. */
const OWN_PARENTS = new Set([".config", ".local/share", ".local/state"]);

/** Shell globs are held against these: every way in which a short pattern can come to mean a secret file. */
const NAMES_IN_REACH: readonly string[] = [
  ...SECRET_NAMES.keys(),
  ...SECRET_FOLDERS.keys(),
  ...SECRET_EXTENSIONS.map((extension) => `*.${extension}`),
  ...["local", "production", "development", "staging", "test", "prod", "dev"].map((name) => `.env.${name}`),
];

/**
 * Whether reading or changing this file always asks. `relativePath` is relative to the workspace root; the folder of a
 * sensitive tree is sensitive itself.
 */
export function isSensitivePath(relativePath: string): Sensitivity {
  const segments = foldedSegments(relativePath);
  for (const [index, segment] of segments.entries()) {
    // A file of a skill is text that somebody allowed with it; what is sensitive below by its own name stays so.
    if (segment === ".harness" && segments[index + 1] === "skills" && index + 3 < segments.length) continue;
    const folder = SECRET_FOLDERS.get(segment);
    if (folder !== undefined && (segment !== "gcloud" || segments[index - 1] === ".config")) {
      return secret(folder, segment !== ".harness");
    }
    if (segment === "harness" && OWN_PARENTS.has(segments.slice(Math.max(0, index - 2), index).join("/"))) {
      return secret(OWN_FILES);
    }
    if (segment === ".git") {
      const names = segments.slice(index + 1).filter((later) => GIT_STEERING.has(later));
      if (names.length > 0) {
        return secret(
          `git's ${names[0]}, which can run programs`,
          names.some((name) => name !== "hooks"),
        );
      }
    }
  }
  return sensitiveName(segments.at(-1) ?? "");
}

/** Whether what is in the file is a secret, which a command that nobody was asked about does not get to see. */
export function isSecretFile(relativePath: string): boolean {
  const found = isSensitivePath(relativePath);
  return found.sensitive && found.secret;
}

/**
 * Whether a glob could come to mean a sensitive file. In the `shell` a leading wildcard does not match a leading dot and
 * every key file in reach counts; in a `search`, which walks everything anyway, wildcards match hidden files and a key
 * file counts when the glob spells its ending.
 */
export function isSensitiveGlob(glob: string, reader: "shell" | "search"): Sensitivity {
  if (glob.includes("\\")) return secret(`a backslash in ${glob} can hide a name`);
  if (glob.length > MAX_GLOB_CHARS) return secret("the pattern is too long to check");
  for (const alternative of expandBraces(glob)) {
    const literal = isSensitivePath(alternative);
    if (literal.sensitive) return literal;
    const segments = foldedSegments(alternative);
    for (const [index, segment] of segments.entries()) {
      if (!hasGlob(segment) || (segment === "**" && index < segments.length - 1)) continue;
      if (/^\.env/.test(segment) && !ENV_SAMPLE.test(segment))
        return secret(`${glob} may match files with environment secrets`);
      if (segments.slice(0, index).includes(".git")) return secret(`${glob} may match git's configuration`);
      const name = NAMES_IN_REACH.find((candidate) => reaches(segment, candidate, reader));
      if (name !== undefined) return secret(`${glob} may match ${name}`);
    }
  }
  return HARMLESS;
}

/**
 * The path relative to `root` ("." for the root itself) as it is written, or undefined when it leaves the root. A
 * relative path is taken from `folder`, itself relative to the root.
 */
export function workspaceRelative(root: string, path: string, folder = "."): string | undefined {
  if (path.startsWith("~") || path.includes("\0") || !root.startsWith("/")) return undefined;
  // Most paths are plain ones below the root: nothing in them has to be taken out.
  if (folder === "." && PLAIN_PATH.test(path)) return path;
  const base = normalSegments(root);
  if (base === undefined) return undefined;
  const whole = normalSegments(path.startsWith("/") ? path : `${root}/${folder}/${path}`);
  if (whole === undefined || !base.every((segment, index) => whole[index] === segment)) return undefined;
  return whole.slice(base.length).join("/") || ".";
}

/** Names with single slashes between them, none of which is `.` or `..`. */
const PLAIN_PATH = /^(?!\.\.?(?:\/|$))[^/]+(?:\/(?!\.\.?(?:\/|$))[^/]+)*$/;

function reaches(segment: string, name: string, reader: "shell" | "search"): boolean {
  if (reader === "shell" && name.startsWith(".") && /^[*?[]/.test(segment)) return false;
  if (reader === "search" && name.startsWith("*")) {
    const ending = segment.slice(1 + Math.max(...["*", "?", "]"].map((mark) => segment.lastIndexOf(mark))));
    if (ending === "" || !(name.endsWith(ending) || ending.endsWith(name.slice(1)))) return false;
  }
  return globsMeet(segment, name);
}

function sensitiveName(name: string): Sensitivity {
  const known = SECRET_NAMES.get(name);
  if (known !== undefined) return secret(known);
  if (ENV_FILE.test(name) && !ENV_SAMPLE.test(name)) return secret("environment secrets");
  const extension = name.slice(name.lastIndexOf(".") + 1);
  if (name.includes(".") && SECRET_EXTENSIONS.includes(extension)) return secret(`a .${extension} file`);
  return SECRET_DOCUMENTS.test(name) ? secret("credentials") : HARMLESS;
}

function secret(why: string, isSecret = true): Sensitivity {
  return { sensitive: true, why, secret: isSecret };
}

/** Undefined when `..` would climb above the start. */
function normalSegments(path: string): string[] | undefined {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") {
      if (segments.pop() === undefined) return undefined;
    } else if (segment !== "" && segment !== ".") {
      segments.push(segment);
    }
  }
  return segments;
}

const MAX_BRACE_ALTERNATIVES = 64;

/** `{a,b}` written out. What is too much to write out becomes `*`, which is in reach of everything. */
function expandBraces(glob: string): string[] {
  let pending = [glob];
  for (let round = 0; round < 8; round++) {
    const next = pending.flatMap((text) => {
      const group = /\{([^{}]*)\}/.exec(text);
      if (group === null) return [text];
      return (group[1] ?? "")
        .split(",")
        .map((part) => text.slice(0, group.index) + part + text.slice(group.index + group[0].length));
    });
    if (next.length > MAX_BRACE_ALTERNATIVES) return ["*"];
    if (next.length === pending.length && next.every((text, index) => text === pending[index])) return next;
    pending = next;
  }
  return ["*"];
}
