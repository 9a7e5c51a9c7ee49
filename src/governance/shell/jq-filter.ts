/**
 * A token allowlist for jq filters. Jq itself cannot write, so this keeps out what reads more than the operands: modules,
 * the environment, the search path, and every name that is not known.
 */
import { wordSet } from "#base";

const KEYWORDS = wordSet("if then elif else end and or not as reduce foreach try catch label break true false null");

const FUNCTIONS = wordSet(
  "length utf8bytelength keys keys_unsorted values has in inside map map_values path paths leaf_paths del delpaths getpath " +
    "setpath to_entries from_entries with_entries select empty error add any all flatten range floor sqrt pow log log2 log10 " +
    "exp exp2 exp10 ceil round trunc fabs abs significand tostring tonumber tojson fromjson type infinite nan isinfinite isnan " +
    "isnormal isvalid sort sort_by group_by min max min_by max_by unique unique_by reverse contains startswith endswith " +
    "combinations ltrimstr rtrimstr trimstr trim ltrim rtrim explode implode split splits join ascii ascii_downcase ascii_upcase " +
    "while until repeat recurse recurse_down transpose first last nth limit skip input inputs debug stderr input_filename " +
    "input_line_number test match capture scan sub gsub indices index rindex tostream fromstream truncate_stream now " +
    "todate fromdate date dateadd datesub mktime gmtime localtime strptime strftime strflocaltime arrays objects iterables " +
    "booleans numbers normals finites strings nulls scalars walk halt halt_error toarray pick tojson IN INDEX builtins",
);

const BLANKS = /[ \t\r\n]+/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-z_]\w*/y;
const FIELD = /\.(?:[A-Za-z_]\w*)/y;
const VARIABLE = /\$[a-z][a-zA-Z0-9]*(?:_[a-zA-Z0-9]+)*(?!\w)/y;
const FORMAT = /@[a-z]\w*/y;
const OPERATOR = /\?\/\/|\/\/=?|\.\.|[-+*%/|=!<>]=|[-+*%/|=<>.,:;?]/y;
const STRING_PART = /(?:[^"\\]|\\[^(])*/y;

type Opening = "(" | "[" | "{" | "if" | "string";

/** True when the filter computes from its operands and standard input only. */
export function isHarmlessJq(filter: string): boolean {
  const open: Opening[] = [];
  let at = 0;
  /** The next name is the key of an object, not a function. */
  let key = false;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(filter)?.[0] ?? "";
    at += found.length;
    return found;
  };
  /** From inside a string up to its end, or to the next `\(`, which opens a filter in it. */
  const takeString = (): boolean => {
    take(STRING_PART);
    if (filter[at] === '"') at++;
    else if (filter.startsWith("\\(", at)) {
      open.push("string");
      at += 2;
    } else return false;
    return true;
  };
  const takeBracket = (char: string): boolean => {
    at++;
    if (char === "(" || char === "[" || char === "{") {
      open.push(char);
      return true;
    }
    const opening = open.pop();
    if (char === ")" && opening === "string") return takeString();
    return opening === { ")": "(", "]": "[", "}": "{" }[char];
  };
  const takeName = (name: string): boolean => {
    if (filter.startsWith("::", at)) return false;
    if (key) return true;
    if (name === "if") open.push("if");
    if (name === "end") return open.pop() === "if";
    return KEYWORDS.has(name) || FUNCTIONS.has(name);
  };
  while (at < filter.length) {
    if (take(BLANKS) !== "") continue;
    const char = filter[at] ?? "";
    const before = at;
    if (char === '"') {
      at++;
      if (!takeString()) return false;
    } else if (/[()[\]{}]/.test(char)) {
      if (!takeBracket(char)) return false;
    } else if (take(NUMBER) === "" && take(FIELD) === "" && take(VARIABLE) === "" && take(FORMAT) === "") {
      const name = take(NAME);
      if (name === "" ? take(OPERATOR) === "" : !takeName(name)) return false;
    }
    key = open.at(-1) === "{" && at === before + 1 && (char === "{" || char === ",");
  }
  return open.length === 0;
}
