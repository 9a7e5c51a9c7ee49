/** Which variables of an environment hold secrets, by their names. */
import { SECRET_PREFIX } from "#base";
import { ABOUT_SECRET } from "./field-name.ts";
import type { LiteralSecret } from "./literals.ts";

const SECRET_NAME =
  /(?:(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|CREDS|AUTH|DSN|COOKIE|CONNECTION_STRING)|(?:^|_)(?:PAT|JWT|BEARER|OTP|SAS|WEBHOOK(?:_URL)?))(?:_?\d+)?$/;
/** `API_KEY_PROD`: then the value must have a digit, and the last word must not say that it is something else. */
const SECRET_IN_NAME =
  /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|MASTER)_KEY)_(?:[A-Z0-9]+_)*([A-Z0-9]+)$/;
const NOT_SECRET = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK|.*_(?:KEY|TOKEN|SECRET|PASSWORD)_(?:FILE|PATH|NAME|URL|ID))$/;

/** The values to look for literally. `extraNames`: variables that are known to hold a key whatever their name. */
export function literalsFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  extraNames: readonly string[] = [],
): LiteralSecret[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value === "") return [];
    const isSecret =
      extraNames.includes(name) || name.startsWith(SECRET_PREFIX) || isSecretName(name.toUpperCase(), value);
    const own = isSecret && !isPath(value) ? [value] : [];
    return [...own, ...urlPasswords(value)].map((secret) => ({ value: secret }));
  });
}

/** Variables of an MCP server, as its entry names them. */
export interface ServerVariables {
  readonly kind: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly envVars?: readonly string[];
  /** Of a server on the network: headers as they are, those in variables, and the variable of its bearer token. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly envHeaders?: Readonly<Record<string, string>>;
  readonly bearerVariable?: string;
}

/** Somebody handed these over on purpose, and mostly they are logins: all but short values, paths, addresses, words and numbers. */
export function literalsOfServer(
  { env = {}, envVars = [], headers = {}, envHeaders = {}, bearerVariable }: Omit<ServerVariables, "kind">,
  own: Readonly<Record<string, string | undefined>>,
): LiteralSecret[] {
  const variables = [
    ...envVars,
    ...Object.values(envHeaders),
    ...(bearerVariable === undefined ? [] : [bearerVariable]),
  ];
  // `Bearer SECRET`: the secret stands alone elsewhere.
  const sent = Object.entries(headers).map(([name, value]) => [name, value.replace(/^(?:Bearer|Basic|Token) /i, "")]);
  const given: Record<string, string | undefined> = {
    ...Object.fromEntries(variables.map((name) => [name, own[name]])),
    ...Object.fromEntries(sent),
    ...env,
  };
  const likely = Object.entries(given).filter(
    ([, value = ""]) => value.length >= MIN_SERVER_SECRET_CHARS && !PLAIN_VALUE.test(value),
  );
  return literalsFromEnvironment(
    given,
    likely.map(([name]) => name),
  );
}

const MIN_SERVER_SECRET_CHARS = 8;
/** Words, numbers and addresses: hidden wherever they stand, they would make texts unreadable. */
const PLAIN_VALUE = /^(?:[A-Za-z]+(?:[ ._,:-][A-Za-z]+)*|[\d.,:-]+|[a-z][a-z0-9+.-]*:\/\/[^\s?@]*)$/;

function isSecretName(name: string, value: string): boolean {
  if (NOT_SECRET.test(name)) return false;
  if (SECRET_NAME.test(name)) return true;
  const last = SECRET_IN_NAME.exec(name)?.[1];
  return last !== undefined && !ABOUT_SECRET.has(last) && /\d/.test(value);
}

/** `DATABASE_URL` and the like hold a password that stands alone elsewhere. As it is written there, and as it is meant. */
function urlPasswords(value: string): string[] {
  const written = URL_PASSWORD.exec(value)?.[1];
  if (written === undefined) return [];
  try {
    return [...new Set([written, decodeURIComponent(written)])];
  } catch {
    return [written]; // a percent sign that encodes nothing
  }
}

const URL_PASSWORD = /^[a-z][a-z0-9+.-]{0,31}:\/\/[^\s:/@]{0,128}:([^\s/@]{8,512})@/i;

/** A variable may name the file of a key instead. A key may begin with a slash, too: that is no path with a mixed word in it. */
function isPath(value: string): boolean {
  if (!/^(?:~|\.{1,2})?\//.test(value)) return false;
  return !value.split("/").some((part) => MIXED_WORD.every((kind) => kind.test(part)));
}

const MIXED_WORD = [/[A-Z]/, /[a-z]/, /\d/, /^[\w+=]{12,}$/];
