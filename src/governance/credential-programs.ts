/**
 * Programs that hand out stored credentials. They are refused whoever asks and whatever the rules say. Pure data, and
 * one question about it.
 */
import { wordSet } from "#base";
import type { SimpleCommand } from "./shell/command.ts";
import { programName } from "./shell/wrappers.ts";

/** How the decision names its rule. */
export const CREDENTIAL_RULE = "built-in: credential-programs";

/** Key rings and password stores. The first four are the standing blocklist. */
export const CREDENTIAL_PROGRAMS: ReadonlySet<string> = wordSet(
  "security secret-tool keyctl kwalletcli kwalletcli_getpin kwallet-query kwalletmanager5 gnome-keyring " +
    "gnome-keyring-daemon lssecret keyring pass gopass rbw bw lpass 1password-cli keepassxc-cli kpcli aws-vault " +
    "git-credential git-credential-store git-credential-cache git-credential-libsecret git-credential-osxkeychain " +
    "git-credential-manager docker-credential-secretservice docker-credential-osxkeychain docker-credential-pass " +
    "docker-credential-wincred cmdkey vaultcmd",
);

/** Those whose name means nothing else, so that it counts wherever it turns up. */
export const UNMISTAKABLE_PROGRAMS: ReadonlySet<string> = new Set(
  [...CREDENTIAL_PROGRAMS].filter((name) => !/^(?:pass|keyring|bw|rbw|lpass)$/.test(name)),
);

/** Subcommands that print a token or a password, by program; the words stand in this order behind it. */
const CREDENTIAL_WORDS: ReadonlyArray<readonly [program: string, ...words: string[]]> = [
  ["git", "credential"],
  ["git", "credential-store"],
  ["git", "credential-cache"],
  ["git", "credential-libsecret"],
  ["git", "credential-osxkeychain"],
  ["git", "credential-manager"],
  ["gh", "auth", "token"],
  ["glab", "auth", "token"],
  ["gcloud", "auth", "print-access-token"],
  ["gcloud", "auth", "print-identity-token"],
  ["gcloud", "auth", "application-default", "print-access-token"],
  ["az", "account", "get-access-token"],
  ["aws", "configure", "export-credentials"],
  ["aws", "configure", "get"],
  ["aws", "sts", "get-session-token"],
  ["aws", "ecr", "get-login-password"],
  ["heroku", "auth:token"],
  ["npm", "token"],
  ["op", "read"],
  ["op", "item"],
  ["op", "inject"],
  ["op", "signin"],
  ["vault", "print"],
  ["vault", "read"],
  ["vault", "kv"],
  ["doctl", "auth"],
  ["flyctl", "auth", "token"],
  ["fly", "auth", "token"],
];

/** What the command would hand out credentials with, such as `gh auth token`; undefined when it does not. */
export function credentialProgram({ words }: Pick<SimpleCommand, "words">): string | undefined {
  const name = programName(words).replace(/\.exe$/, "");
  if (CREDENTIAL_PROGRAMS.has(name)) return name;
  const rest = words.slice(1).filter((word) => !word.startsWith("-"));
  const found = CREDENTIAL_WORDS.find(
    ([program, ...wanted]) => program === name && wanted.every((word, index) => rest[index]?.toLowerCase() === word),
  );
  return found?.join(" ");
}
