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
    "A secret is replaced by `«redacted:KIND»`. The same text always gives the same result, and redacting it again changes " +
      "nothing. `harness redact` shows what it does: [cli.md](cli.md#harness-redact).",
    "## How a secret is told",
    "One pass over the text looks for keywords; where one is found, its rules are tried. Their patterns are matched from left to " +
      "right and never go back, so that the time grows with the text alone. What was found must then bear it out: by its entropy, " +
      "by the name or the word beside it, by its check digits. Placeholders (`xxxx`, `your-key-here`), references (`$VAR`, `<token>`, " +
      "`op://…`, paths), expressions of code, hashes, UUIDs and our own ids stay.",
    "Besides the table:",
    [
      "- **Known secrets**: values of the environment and of the credential store, also as base64 at any alignment, base64url, hex, " +
        "URL-encoded, JSON-escaped, and line by line. Redaction also finds what dumps and folds make of them: reversed, in base32, in " +
        "hex, octal or decimal numbers, in other case, wrapped at any width, with anything but letters and digits between the " +
        "characters, with sequences for terminals among them (colours, links), and in the columns of `od`, `xxd` and `hexdump`. A form of fewer than 12 letters and digits is not looked for " +
        "this way. Values under 8 characters or with fewer than 4 different ones are not looked " +
        "for, because that would destroy ordinary text; `status()` says how many those are.",
      "- **User patterns**: RE2 syntax, linear time, at most 100 of at most 1,000 characters; a match of up to 256 characters is found " +
        "for certain. Together they have 250 ms for one text; beyond that the text is refused.",
      "- **JSON values**: every string and key; names of passwords, phrases and codes decide on the whole value.",
      "- **Strings**: a text of up to 64 KiB is looked at again without the escapes of its strings, and of the strings in those, " +
        "three deep: what is found in a file is found where the file stands in JSON.",
    ].join("\n"),
    "## Streams",
    `What cannot be decided yet is held back: usually the last word, at most ${STREAM_WINDOW_CHARS} characters. A longer secret is ` +
      "replaced when that is full, and its rest is swallowed. All pieces together give what the whole text would have given, but for secrets that touch each other without anything in between: a " +
      "text of up to 64 KiB is looked at again where they do, a longer one or a stream is not. Nor is a stream " +
      "looked at without its escapes; most notations are known with them as well. The first three letters or digits of a known key in " +
      "the output of a dump or a fold hold nothing back. When no " +
      "text comes for 50 ms, what only might begin a secret goes out; a secret that has begun to show stays. If a token shows by its " +
      "form only behind its first part (the lines of a key whose first line is missing, for example), up to 20 characters of it can " +
      "have gone out by then. With user patterns the last 256 characters are held back as well.",
    "## Counters",
    "An event in which secrets were replaced has `redaction` in its payload: `policy_version`, `redacted_count`, and `counts` by kind. " +
      "It counts the markers in the event, whichever step put them there. `GET /v1/health` has the same for everything since the " +
      "program started, under `subsystems.redaction`. `policy_version` changes with the rules, the disabled kinds and the user " +
      "patterns, not with the known secrets.",
    "## When it fails",
    "If the table cannot be loaded, a rule fails, a user pattern is wrong or exceeds its budget, or a value is nested deeper than 256, " +
      "no text comes out: `RedactionFailed`.",
    "Every name of a field or a vendor calls for a look at what is behind it. A long text that is made of little else, as no file is, is " +
      "not read to its end: what is behind the last look that fits is withheld as `«redacted:unread»`. Texts of up to 32 KiB and " +
      "streams are always read; a longer text has half a look of the cheapest kind for each character besides: five times what the " +
      "densest of 161 MB of files of a system and its packages took, and as much as a list of keys takes that has nothing else. So 1 MB " +
      "takes less than 100 ms, whatever it is.",
    "## What it does not find",
    "- Secrets without a form, a telling name or a vendor's name beside them, unless they are known secrets.\n" +
      '- Tokens that are URL-encoded in their middle, encoded otherwise (`\\u005f`, `&quot;`, UTF-16), or split by other text: line breaks, `"a" + "b"`, colours inside of them. Known secrets are found across line breaks, quotes and colours.\n' +
      "- Known secrets that two programs changed in a row (`xxd -p | rev`), or that were compressed, encrypted or shifted (`tr a-z b-za`).\n" +
      "- Values that are words: behind `password` without quotes in YAML or code, and behind any other name, passphrases of several words without a digit, and passwords told in prose without a digit.\n" +
      "- Values whose name is not beside them: columns of a table or a CSV file, `value:` above its `name:`, entries of a YAML list below a name, all but the first of a list in brackets, the second and later lines of a value in quotes.\n" +
      "- Passwords with an unescaped `/`, `?` or `#` in a URL of the web; passwords that a program takes as a plain argument or from `echo … |`, unless its flag is known; lines out of the middle of a key, without its first and its last; card numbers of one or two different digits, IBANs in small letters.\n" +
      "- Values of a Kubernetes `Secret` under names that tell nothing.",
    `## Kinds`,
    `${kinds.length} kinds. \`-\` in the name of a field stands for \`_\`, \`-\`, \`.\`, a space or nothing, and names may have more in front.`,
    ...Object.entries(ruleFamilies).flatMap(([family, rules]) => [
      `### ${family.charAt(0).toUpperCase()}${family.slice(1)}`,
      table(
        ["kind", "told by"],
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
