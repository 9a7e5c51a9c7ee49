/** The page about redaction. */
import { ruleFamilies, STREAM_WINDOW_CHARS } from "#redaction";
import { GENERATED, page, table } from "./markdown.ts";

type Rule = (typeof ruleFamilies)[string][number];

export function redactionPage(): string {
  const kinds = Object.values(ruleFamilies).flat();
  const toldBy = (rule: Rule): string => {
    switch (rule.type) {
      case "token":
        return `\`${rule.pattern}\``;
      case "context":
        return `\`${rule.pattern}\` on the same line behind ${rule.near.map((word) => `\`${word.trim()}\``).join(" or ")}`;
      case "field":
        return `a field named ${rule.names.map((name) => `\`${name}\``).join(", ")}`;
      case "url":
        return `the password in ${rule.schemes.map((scheme) => `\`${scheme === "" ? "any" : scheme}://\``).join(", ")}`;
      case "special":
        return SPECIAL_RULES[rule.matcher];
    }
  };
  return page([
    "# Redaction",
    GENERATED,
    "Redaction replaces a secret with `«redacted:KIND»`. The same text always gives the same result, and redacting it again changes " +
      "nothing. `harness redact` lets you try it: [cli.md](cli.md#harness-redact).",
    "## How redaction recognises a secret",
    "One pass over the text looks for keywords. At each keyword redaction tries the keyword's rules. Their patterns match from left to " +
      "right and never backtrack, so the time grows only with the text. A match must then be confirmed: by its entropy, by the name or " +
      "word beside it, or by its check digits. Placeholders (`xxxx`, `your-key-here`), references (`$VAR`, `<token>`, `op://…`, paths), " +
      "expressions of code, hashes, UUIDs and our own ids stay.",
    "Besides the table:",
    [
      "- **Known secrets**: values of the environment and of the credential store, also as base64 at any alignment, base64url, hex, " +
        "URL-encoded, JSON-escaped, and line by line. Redaction also finds the forms that dumps and folds give them: reversed, in base32, " +
        "in hex, octal or decimal numbers, in other case, wrapped at any width, with anything but letters and digits between the " +
        "characters, with terminal sequences among them (colours, links), and in the columns of `od`, `xxd` and `hexdump`. It does not " +
        "search for these forms when they have fewer than 12 letters and digits. It does not search for values with fewer than 8 " +
        "characters or fewer than 4 different ones, because that would destroy ordinary text; `status()` counts these values.",
      "- **User patterns**: RE2 syntax, linear time, at most 100 of at most 1,000 characters; a match of up to 256 characters is always " +
        "found. Together they have 250 ms for one text; beyond that the text is refused.",
      "- **JSON values**: every string and key; names of passwords, phrases and codes decide on the whole value.",
      "- **Strings**: redaction reads a text of up to 64 KiB again without the escapes of its strings, and of the strings in those, three " +
        "levels deep. So a secret that it finds in a file, it also finds when JSON contains the file.",
    ].join("\n"),
    "## Streams",
    `A stream holds back text that cannot be decided yet: usually the last word, at most ${STREAM_WINDOW_CHARS} characters. If a secret ` +
      "is longer, redaction replaces it when the window is full and drops its rest. All pieces together give the same result as the " +
      "whole text, with two exceptions. Where secrets touch each other with nothing in between, redaction reads a text of up to 64 KiB " +
      "again, but not a longer text or a stream. A stream is also not read without its escapes; most notations are known with their " +
      "escapes as well. In the output of a dump or a fold, the first three letters or digits of a known key are not held back. When no " +
      "text arrives for 50 ms, redaction releases text that might begin a secret, but not a secret that has clearly begun. Some tokens " +
      "are recognisable only after their first part, for example the lines of a key whose first line is missing. Up to 20 characters " +
      "of these can have gone out by then. With user patterns, the last 256 characters are held back as well.",
    "## Counters",
    "An event in which secrets were replaced has `redaction` in its payload: `policy_version`, `redacted_count`, and `counts` by kind. " +
      "It counts the markers in the event, whichever step put them there. `GET /v1/health` has the same for everything since the " +
      "program started, under `subsystems.redaction`. `policy_version` changes with the rules, the disabled kinds and the user " +
      "patterns, not with the known secrets.",
    "## When it fails",
    "If the table cannot be loaded, a rule fails, a user pattern is wrong or exceeds its budget, or a value is nested deeper than 256, " +
      "no text comes out: `RedactionFailed`.",
    "Redaction checks the text after every field name and vendor name. For a text over 32 KiB, the number of these checks is limited: " +
      "a fixed number, plus half a check of the cheapest kind for each character. If a text reaches the limit, redaction withholds the rest of it as " +
      "`«redacted:unread»`. Texts of up to 32 KiB and streams have no limit. The limit is five times what the densest of 161 MB of " +
      "system and package files needed, and as much as a pure list of keys needs. So 1 MB takes less than 100 ms, whatever its content.",
    "## What it does not find",
    "- Secrets without a recognisable format and without a field name or a vendor's name beside them, unless they are known secrets.\n" +
      '- Tokens that are partly URL-encoded, encoded in another way (`\\u005f`, `&quot;`, UTF-16), or split by other text: line breaks, `"a" + "b"`, colours inside them. Known secrets are found across line breaks, quotes and colours.\n' +
      "- Known secrets that two programs changed in a row (`xxd -p | rev`), or that were compressed, encrypted or shifted (`tr a-z b-za`).\n" +
      "- Values that are words: behind `password` without quotes in YAML or code, and behind any other name, passphrases of several words without a digit, and passwords in prose without a digit.\n" +
      "- Values whose name is not beside them: columns of a table or a CSV file, `value:` above its `name:`, entries of a YAML list below a name, all but the first of a list in brackets, the second and later lines of a value in quotes.\n" +
      "- Passwords with an unescaped `/`, `?` or `#` in a web URL; passwords that a program takes as a plain argument or from `echo … |`, unless its flag is known; lines from the middle of a key, without its first and last line; card numbers of one or two different digits, IBANs in lowercase.\n" +
      "- Values of a Kubernetes `Secret` under meaningless names.",
    `## Kinds`,
    `${kinds.length} kinds. \`-\` in the name of a field matches \`_\`, \`-\`, \`.\`, a space or nothing, and the name may have a prefix.`,
    ...Object.entries(ruleFamilies).flatMap(([family, rules]) => [
      `### ${family.charAt(0).toUpperCase()}${family.slice(1)}`,
      table(
        ["kind", "identified by"],
        rules.map((rule) => [`\`${rule.kind}\``, toldBy(rule)]),
      ),
    ]),
  ]);
}

const SPECIAL_RULES = {
  "private-key": "a block of key lines behind `-----BEGIN … PRIVATE KEY-----`, also without its end",
  "private-key-tail": "key lines before `-----END … PRIVATE KEY-----`, without their beginning",
  cookie: "all of a `Cookie` header",
  "set-cookie": "the value in a `Set-Cookie` header",
  "password-flag": "the password in `-p…`, `-a …`, `-P …`, `-w …` and `-k …` of commands that take it there",
  "login-call": "the password among the arguments of a call that logs in: `mysqli(…)`, `getConnection(…)`, `auth=(…)`",
  "data-source": "the password in `user:password@tcp(…)`",
  "user-flag": "the password in `-u user:password` of curl and the like",
  card: "13 to 19 digits of an issuer, plain or in groups, with the right check digit",
  iban: "an IBAN of the length of its country, with the right check digits",
} as const;
