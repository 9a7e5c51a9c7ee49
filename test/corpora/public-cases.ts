/** Samples made from what public rule sets describe, and near-misses: texts that resemble them and hold no secret. */
import { fillForm, uuid } from "./fill-form.ts";
import {
  genericForms,
  genericNames,
  type PublicFormat,
  prefixedFormats,
  vendorKeyedFormats,
} from "./public-formats.ts";
import type { SecretCase } from "./secret-case.ts";
import { ALPHABETS, createSeededRandom, type SeededRandom } from "./seeded-random.ts";

export interface PublicCases {
  /** Told by their own form, in places that say nothing about them. */
  readonly prefixed: readonly SecretCase[];
  /** Told by a name that says secret, whatever the value. */
  readonly generic: readonly SecretCase[];
  /** Told by the name of a vendor. */
  readonly vendorKeyed: readonly SecretCase[];
  readonly nearMisses: readonly { readonly family: string; readonly text: string }[];
}

/** `rounds`: how often each format is used. */
export function publicCases(seed: number, rounds: number): PublicCases {
  const random = createSeededRandom(seed);
  const each = <T>(items: readonly T[]): T[] => Array.from({ length: rounds }, () => items).flat();
  return {
    prefixed: each(prefixedFormats).map((format) => prefixedCase(format, random)),
    generic: each(genericForms).flatMap((format) => genericNames.map((name) => genericCase(name, format, random))),
    vendorKeyed: each(vendorKeyedFormats).map((format) => vendorCase(format, random)),
    nearMisses: each([...nearMissFamilies]).map(([family, make]) => ({ family, text: make(random) })),
  };
}

const BARE_PLACES: readonly (readonly [string, (secret: string) => string])[] = [
  ["alone", (s) => s],
  ["line", (s) => `${s}\n`],
  ["string", (s) => `client.connect("${s}", { retries: 3 });`],
  ["yaml", (s) => `staging:\n  value: ${s}\n  region: eu\n`],
  ["prose", (s) => `I used ${s} yesterday and it worked.`],
  ["json", (s) => `{"v":"${s}"}`],
  ["shell", (s) => `$ tool login ${s} --quiet`],
];

function prefixedCase({ name, form }: PublicFormat, random: SeededRandom): SecretCase {
  const secret = fillForm(form, random);
  const [context, write] = random.pick(BARE_PLACES);
  // Of an address, the path is the secret.
  return { kind: name, context, text: write(secret), secret: form.startsWith("https:") ? secret.slice(-20) : secret };
}

const KEYED_PLACES: readonly (readonly [string, (name: string, secret: string) => string])[] = [
  ["assignment", (n, s) => `${n} = "${s}"`],
  ["single quotes", (n, s) => `${n}: '${s}',`],
  ["env", (n, s) => `${n}=${s}\n`],
  ["export", (n, s) => `export ${n}=${s}\nrun\n`],
  ["yaml", (n, s) => `app:\n  ${n}: ${s}\n  debug: false\n`],
  ["json", (n, s) => `{"region": "eu", "${n}": "${s}"}`],
  ["php", (n, s) => `'${n}' => '${s}',`],
  ["query", (n, s) => `https://api.example.test/v1?${n}=${encodeURIComponent(s)}&page=2`],
  ["flag", (n, s) => `tool --${n}=${s} --verbose`],
  ["declaration", (n, s) => `const ${n.replaceAll("-", "_")} = "${s}";`],
];

function genericCase(name: string, { name: kind, form }: PublicFormat, random: SeededRandom): SecretCase {
  const secret = fillForm(form, random);
  const [context, write] = random.pick(KEYED_PLACES);
  const shown = context === "query" ? encodeURIComponent(secret) : secret;
  return { kind: `${kind} ${name}`, context, text: write(name, secret), secret: shown };
}

const VENDOR_NAMES: readonly ((vendor: string) => string)[] = [
  (vendor) => `${vendor}_api_key`,
  (vendor) => `${vendor.toUpperCase()}_API_KEY`,
  (vendor) => `${vendor}_token`,
  (vendor) => `${vendor.toUpperCase()}_TOKEN`,
  (vendor) => `${vendor}Secret`,
  (vendor) => `${vendor}_access_token`,
  (vendor) => `${vendor.toUpperCase()}_SECRET`,
];

function vendorCase({ name: vendor, form }: PublicFormat, random: SeededRandom): SecretCase {
  return genericCase(random.pick(VENDOR_NAMES)(vendor), { name: vendor, form }, random);
}

const WORDS = "alpha river stone market window garden silver network buffer module packet system".split(" ");
const words = (random: SeededRandom, count: number, joint: string): string =>
  Array.from({ length: count }, () => random.pick(WORDS)).join(joint);
const hex = (random: SeededRandom, count: number): string => random.chars(ALPHABETS.hex, count);
const base64 = (random: SeededRandom, count: number): string => random.chars(ALPHABETS.base64, count);

/** The plain text that a form begins with. */
function headOf({ form }: PublicFormat): string {
  return form.slice(0, form.indexOf("{"));
}

const headed = prefixedFormats.filter((format) => headOf(format).length >= 3 && !format.form.startsWith("https:"));

/** The beginning of a token: that, and one part in `parts` of what follows it. */
function cutToken(random: SeededRandom, parts: number): string {
  const format = random.pick(headed);
  const token = fillForm(format.form, random);
  const head = headOf(format).length;
  return token.slice(0, head + Math.floor((token.length - head) / parts));
}

/** The right beginning, and behind it what cannot be a token. */
const nearMissFamilies: ReadonlyMap<string, (random: SeededRandom) => string> = new Map([
  ["too short", (r) => `see ${headOf(r.pick(headed))}${r.chars(ALPHABETS.alnum, 4)} in the log`],
  ["a third of a token", (r) => `see ${cutToken(r, 3)} in the log`],
  ["half a token", (r) => `see ${cutToken(r, 2)} in the log`],
  ["prefix alone", (r) => `Tokens begin with \`${headOf(r.pick(headed))}\`.`],
  ["words behind the prefix", (r) => `${headOf(r.pick(headed))}${words(r, 3, "_")}`],
  ["placeholder", (r) => `${headOf(r.pick(headed))}${"x".repeat(20 + r.integer(20))}`],
  ["your token", (r) => `TOKEN=${headOf(r.pick(headed))}your-token-goes-here`],
  ["wrong alphabet", (r) => `${headOf(r.pick(headed))}${words(r, 4, " ")}`],
  ["git sha", (r) => `commit ${hex(r, 40)}\n\n    rotate keys`],
  ["short sha", (r) => `${hex(r, 7)} fix: reset the password form`],
  ["sha256", (r) => `${hex(r, 64)}  release.tar.gz`],
  ["image digest", (r) => `image: registry.example.test/app@sha256:${hex(r, 64)}`],
  ["npm integrity", (r) => `"integrity": "sha512-${base64(r, 86)}=="`],
  ["go sum", (r) => `example.test/lib v1.2.3 h1:${base64(r, 43)}=`],
  ["cargo checksum", (r) => `checksum = "${hex(r, 64)}"`],
  ["uuid", (r) => `request ${uuid(r)} took 12 ms`],
  ["uuid list", (r) => `{"id": "${uuid(r)}", "parent": "${uuid(r)}"}`],
  ["base64 image", (r) => `url("data:image/png;base64,iVBORw0KGgo${base64(r, 200)}")`],
  ["certificate", (r) => `-----BEGIN CERTIFICATE-----\n${base64(r, 64)}\n-----END CERTIFICATE-----`],
  ["ssh public key", (r) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${base64(r, 43)} ada@host`],
  ["call", (r) => `const ${r.pick(genericNames)} = get${r.pick(["Password", "Secret", "Token"])}(${r.pick(WORDS)});`],
  [
    "annotation",
    (r) => `${r.pick(["password", "secret", "apiKey"])}: ${r.pick(["string", "str", "Optional[str]", "String;"])}`,
  ],
  ["none", (r) => `${r.pick(genericNames)}=${r.pick(["None", "null", "undefined", "false", '""'])}`],
  [
    "keyword argument",
    (r) => `connect(user=user, password=${r.pick(["password", "user_password", "pwd", "args.password"])})`,
  ],
  ["environment", (r) => `${r.pick(genericNames)}=\${${r.pick(["DB_PASSWORD", "API_KEY", "TOKEN"])}}`],
  ["angle brackets", (r) => `${r.pick(genericNames)}: <your-${r.pick(["key", "token", "password"])}>`],
  [
    "member",
    (r) => `${r.pick(["password", "token", "secret"])} = ${r.pick(["config", "options", "this"])}.${r.pick(WORDS)}`,
  ],
  [
    "camel case",
    (r) => `${r.pick(["password", "token", "secret"])}: ${r.pick(WORDS)}${r.pick(["Provider", "Manager", "Store"])},`,
  ],
  [
    "documentation",
    (r) =>
      `The ${r.pick(["password", "token", "API key"])} is required and must be at least ${8 + r.integer(9)} characters long.`,
  ],
  [
    "label",
    (r) =>
      `label: "${r.pick(["Password", "Secret", "Token"])}", placeholder: "Enter your ${r.pick(["password", "token"])}"`,
  ],
  ["secret name", (r) => `secret: ${words(r, 2, "-")}-tls`],
  ["translation", (r) => `"password": "Passwort", "token": "${r.pick(WORDS)}"`],
  ["url without password", (r) => `https://example.test:8080/${words(r, 3, "/")}?page=${r.integer(9)}`],
  ["import", (r) => `import { token, secret } from "./${words(r, 2, "-")}.ts";`],
  ["version", (r) => `pkg-${r.integer(9)}.${r.integer(40)}.${r.integer(9)}-${hex(r, 8)}.tgz`],
  ["trace", (r) => `traceparent: 00-${hex(r, 32)}-${hex(r, 16)}-01`],
]);
