/** Which variables of an environment hold secrets, by their names. */
import type { LiteralSecret } from "./literals.ts";

const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|AUTH|DSN|COOKIE)(?:_?\d+)?$/;
const NOT_SECRET = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK|.*_(?:KEY|TOKEN|SECRET|PASSWORD)_(?:FILE|PATH|NAME|URL|ID))$/;

/** The values to look for literally. `extraNames`: variables that are known to hold a key whatever their name. */
export function literalsFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  extraNames: readonly string[] = [],
): LiteralSecret[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value === "") return [];
    const upper = name.toUpperCase();
    const isSecret = extraNames.includes(name) || (SECRET_NAME.test(upper) && !NOT_SECRET.test(upper));
    return isSecret && !isPath(value) ? [{ value }] : [];
  });
}

/** A variable may name the file of a key instead. A key may begin with a slash, too: that is no path with a mixed word in it. */
function isPath(value: string): boolean {
  if (!/^(?:~|\.{1,2})?\//.test(value)) return false;
  return !value.split("/").some((part) => MIXED_WORD.every((kind) => kind.test(part)));
}

const MIXED_WORD = [/[A-Z]/, /[a-z]/, /\d/, /^[\w+=]{12,}$/];
