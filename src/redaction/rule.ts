/** What a row of the rule table can be. Rows are data: what they say is compiled in `rule-table.ts` and checked there. */

interface RowBase {
  /** Stands in the marker. */
  readonly kind: string;
  /**
   * A text in which the rule must find something. `<a36>` stands for 36 letters and digits, `h` hex, `H` upper case hex, `u` upper case
   * and digits, `l` lower case and digits, `L` letters, `d` digits, `b` base64, `t` base32, `m` lower case base32, `s` base58, `g`
   * bech32, `<uuid>` for a UUID. So the table holds no text that would itself be taken for a secret.
   */
  readonly example: string;
  /** A text in which it must find nothing, beside those that every rule is checked with. */
  readonly counter?: string;
}

/** A token that is known by how it begins, or by a part in its middle. */
export interface TokenRow extends RowBase {
  readonly type: "token";
  /** Where it does not begin with plain text of its own: the text to look for, and how many characters stand before it. */
  readonly keyword?: string;
  readonly lead?: number;
  /** Notation of `shape.ts`. */
  readonly pattern: string;
  /** The characters in front that say what it is and are not secret; they stay. */
  readonly keeps?: number;
  /** Least entropy, in bits for each character, of what follows the first plain text. */
  readonly entropy?: number;
  /** `mixed`: lowercase letters, capitals and digits, because names in code begin like it. */
  readonly check?: "basic-auth" | "digit" | "mixed" | "after-digit";
  /** It is known by the word before it; what knows the token itself names it. */
  readonly byPlace?: true;
  /** The characters it goes on with when a stream has cut it; default: those of its last repetition. */
  readonly goesOn?: string;
}

/** A value without a mark of its own, that is a secret where its vendor is named before it on the line. */
export interface ContextRow extends RowBase {
  readonly type: "context";
  readonly near: readonly string[];
  readonly pattern: string;
  readonly entropy?: number;
  /** No word such as key or token has to stand between the name and the value: the name says enough. */
  readonly plainly?: true;
  readonly check?: "basic-auth";
}

/** A name that says that its value is a secret, in any notation: JSON, YAML, environment, flags, headers, URLs, XML, prose. */
export interface FieldRow extends RowBase {
  readonly type: "field";
  /** How names may end; case, `_`, `-` and `.` do not count. */
  readonly names: readonly string[];
  /**
   * How much the value itself must look like a secret: `password` hardly (people choose words), `secret` somewhat, `token` a lot.
   * `any`: the name is enough.
   */
  readonly value: "any" | "password" | "secret" | "token";
  /** The name must be a whole one, not the end of a longer one. */
  readonly whole?: true;
}

/** The password between `scheme://user:` and `@host`. */
export interface UrlRow extends RowBase {
  readonly type: "url";
  readonly schemes: readonly string[];
}

/** Found by code of its own. */
export interface SpecialRow extends RowBase {
  readonly type: "special";
  readonly matcher:
    | "private-key"
    | "private-key-tail"
    | "cookie"
    | "set-cookie"
    | "user-flag"
    | "password-flag"
    | "login-call"
    | "data-source"
    | "card"
    | "iban";
  readonly keywords: readonly string[];
}

export type RuleRow = TokenRow | ContextRow | FieldRow | UrlRow | SpecialRow;

type More<T> = Omit<T, "type" | "kind" | "example" | "pattern" | "near" | "names" | "value" | "schemes">;

/** Rows are written with these; `finds` takes the example. */
export function token(kind: string, pattern: string, more: More<TokenRow> = {}) {
  return { finds: (example: string): TokenRow => ({ type: "token", kind, pattern, example, ...more }) };
}

export function context(kind: string, near: readonly string[], pattern: string, more: More<ContextRow> = {}) {
  return { finds: (example: string): ContextRow => ({ type: "context", kind, near, pattern, example, ...more }) };
}

/** `names` has blanks between them. */
export function field(kind: string, value: FieldRow["value"], names: string, more: More<FieldRow> = {}) {
  return {
    finds: (example: string): FieldRow => ({ type: "field", kind, value, names: names.split(" "), example, ...more }),
  };
}

export function url(kind: string, schemes: readonly string[], more: More<UrlRow> = {}) {
  return { finds: (example: string): UrlRow => ({ type: "url", kind, schemes, example, ...more }) };
}

export function special(
  kind: string,
  matcher: SpecialRow["matcher"],
  keywords: readonly string[],
  more: { readonly counter?: string } = {},
) {
  return { finds: (example: string): SpecialRow => ({ type: "special", kind, matcher, keywords, example, ...more }) };
}

export const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
