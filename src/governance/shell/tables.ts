/**
 * The programs that may run without a question and, for each, the options with which it still only reads. Pure data: an
 * option that is not in a table is not quiet, and the full spelling counts, never an abbreviation. What writes, runs
 * programs, follows symlinks out of the workspace, reads lists of file names or waits forever is left out.
 */

import { SYSTEM_PROGRAMS } from "./tables-system.ts";
import { TEXT_PROGRAMS } from "./tables-text.ts";

export interface ProgramTable {
  /** Short options without a value. */
  readonly flags?: string;
  /** Short options that take a value, attached or as the next word. */
  readonly valued?: string;
  /** Short options with a value that can only be attached. */
  readonly attached?: string;
  /** Long options: `name`, `name=` (value attached or next word), `name[=]` (value only attached). */
  readonly long?: string;
  /** `-5` is a number, not options. */
  readonly numeric?: boolean;
  /**
   * What the operands are. `pattern` is a text first (unless an option of `patternOptions` gave it), then paths;
   * `revisions` are git revisions or paths; `format` is a date's `+…`; `script` is a program in a language of its own
   * first (unless an option gave it), then paths; `number` is a short time; `reference` is the name of a commit or a
   * note; `setting` is a key of git's configuration that holds no secret.
   */
  readonly operands:
    | "none"
    | "text"
    | "paths"
    | "pattern"
    | "revisions"
    | "format"
    | "script"
    | "number"
    | "reference"
    | "setting";
  /** It takes operands only together with one of these options. */
  readonly operandsNeed?: string;
  /** Options with two values, each a word of its own: a name and a text. */
  readonly pairs?: string;
  /** What the values of git's `--format`, `--pretty` and `--sort` are about. */
  readonly formats?: "commits" | "refs";
  readonly patternOptions?: string;
  readonly maxOperands?: number;
  /** Short or long options that make it walk folders and read what is there; `*` when it always does. */
  readonly recursive?: string;
  /** It walks folders without being told to, leaving out hidden and ignored files. */
  readonly walks?: boolean;
  /** Options whose value is a glob of files to read, held against the sensitive paths. */
  readonly globOptions?: string;
  /** No option it has can do harm, so a file whose name looks like one may turn up in `*`. */
  readonly anyOption?: boolean;
  /** It shows names, sizes or counts, never content, so its globs need not stay clear of secret files. */
  readonly namesOnly?: boolean;
  /** The words are no options at all. */
  readonly plainWords?: boolean;
  /** Options with one dash and several letters, such as `-version`. */
  readonly words?: string;
  /** Short options are not read as clusters: `-pc` is `-p`, and what follows it is no value. */
  readonly noClusters?: boolean;
  /** Options whose value is a number or nothing; in some versions they take none, and the word would be a file. */
  readonly numbers?: string;
  /** Options whose value is any text, also one that looks like a path. */
  readonly texts?: string;
  /** `@FILE` stands for the words in that file. */
  readonly responseFiles?: boolean;
  /** Without one of these it does something else than what is listed here. */
  readonly needs?: string;
  /** After the first operand nothing is an option any more. */
  readonly expression?: boolean;
  /** A value may begin with a dash. */
  readonly dashValues?: boolean;
  /** Which little language a `script` operand is written in. */
  readonly language?: "sed" | "awk" | "jq";
  /** Variables in front of it that are part of how it is used. */
  readonly variables?: RegExp;
}

const grep: ProgramTable = {
  flags: "EFGPivwxcoqslLnHhZbTuazIryU",
  valued: "eABCm",
  numeric: true,
  long:
    "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case word-regexp line-regexp count " +
    "color[=] colour[=] files-with-matches files-without-match max-count= only-matching quiet silent no-messages " +
    "line-number with-filename no-filename null null-data after-context= before-context= context= include= exclude= " +
    "exclude-dir= recursive invert-match regexp= text binary-files= line-buffered initial-tab byte-offset",
  operands: "pattern",
  patternOptions: "-e --regexp",
  texts: "-e --regexp --exclude-dir --exclude",
  recursive: "-r --recursive",
  globOptions: "--include",
  anyOption: true,
};

export const QUIET_PROGRAMS: Readonly<Record<string, ProgramTable>> = {
  ls: {
    flags: "aAlhrtRSs1dFGnogUXxCcmpQkiBNqvfZ",
    valued: "Iw",
    long:
      "all almost-all human-readable recursive reverse size sort= time= time-style= color[=] classify[=] directory " +
      "inode no-group numeric-uid-gid full-time group-directories-first hide= ignore= si format= author escape file-type",
    operands: "paths",
    anyOption: true,
    namesOnly: true,
  },
  pwd: { flags: "LP", operands: "none" },
  cat: {
    flags: "nbsAevtTEu",
    long: "number number-nonblank show-all show-ends show-tabs show-nonprinting squeeze-blank",
    operands: "paths",
    anyOption: true,
  },
  head: {
    flags: "qvz",
    valued: "nc",
    numeric: true,
    long: "lines= bytes= quiet silent verbose",
    operands: "paths",
    anyOption: true,
    dashValues: true,
  },
  tail: {
    flags: "qvzfF",
    valued: "nc",
    numeric: true,
    long: "lines= bytes= quiet silent verbose",
    operands: "paths",
    anyOption: true,
  },
  wc: {
    flags: "lwcmL",
    long: "lines words bytes chars max-line-length",
    operands: "paths",
    anyOption: true,
    namesOnly: true,
  },
  grep,
  egrep: grep,
  fgrep: grep,
  rg: {
    flags: "iSsvwxcolnNHhFPUaq0pIb",
    valued: "eABCmtTgMdjr",
    long:
      "ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches only-matching " +
      "files-with-matches files-without-match line-number no-line-number with-filename no-filename fixed-strings pcre2 " +
      "multiline multiline-dotall text quiet null pretty regexp= after-context= before-context= context= max-count= type= " +
      "type-not= type-list glob= max-columns= max-columns-preview max-depth= threads= replace= color= colors= heading " +
      "no-heading column no-column vimgrep json stats trim files sort= sortr= max-filesize= byte-offset passthru " +
      "no-messages no-config one-file-system line-buffered version crlf",
    operands: "pattern",
    patternOptions: "-e --regexp --files --type-list",
    texts: "-e --regexp -r --replace -g --glob",
    walks: true,
    globOptions: "-g --glob",
  },
  echo: { operands: "text", plainWords: true, anyOption: true },
  printf: { operands: "text", plainWords: true, anyOption: true },
  true: { operands: "text", plainWords: true, anyOption: true },
  false: { operands: "text", plainWords: true, anyOption: true },
  ":": { operands: "text", plainWords: true, anyOption: true },
  which: { flags: "as", operands: "text", anyOption: true },
  sort: {
    flags: "bdfghiMnRrVuszcCm",
    valued: "kt",
    texts: "-t --field-separator",
    long:
      "reverse numeric-sort unique key= field-separator= human-numeric-sort version-sort general-numeric-sort ignore-case " +
      "ignore-leading-blanks dictionary-order stable zero-terminated month-sort check[=] merge",
    operands: "paths",
  },
  uniq: {
    flags: "cdDuiz",
    valued: "fsw",
    long: "count repeated unique ignore-case skip-fields= skip-chars= check-chars= zero-terminated all-repeated[=] group[=]",
    operands: "paths",
    // It writes its second operand; some versions take options only before the first.
    expression: true,
    maxOperands: 1,
  },
  cut: {
    flags: "snz",
    valued: "bcdf",
    texts: "-d --delimiter --output-delimiter",
    long: "delimiter= fields= characters= bytes= complement only-delimited output-delimiter= zero-terminated",
    operands: "paths",
  },
  tr: { flags: "cCdst", long: "complement delete squeeze-repeats truncate-set1", operands: "text" },
  basename: { flags: "az", valued: "s", long: "multiple suffix= zero", operands: "text", anyOption: true },
  dirname: { flags: "z", long: "zero", operands: "text", anyOption: true },
  date: {
    flags: "uR",
    valued: "d",
    attached: "I",
    long: "utc universal date= rfc-3339= iso-8601[=] rfc-email",
    operands: "format",
  },
  diff: {
    flags: "uqrNbBwiyatEZscpedn",
    valued: "UCxIWL",
    texts: "-x --exclude -I -L --label",
    long:
      "unified[=] brief recursive new-file ignore-all-space ignore-space-change ignore-blank-lines ignore-case " +
      "side-by-side width= color[=] text exclude= report-identical-files context[=] suppress-common-lines " +
      "strip-trailing-cr label= minimal ignore-trailing-space ignore-tab-expansion",
    operands: "paths",
    recursive: "*",
  },
  stat: {
    flags: "Lt",
    valued: "c",
    texts: "-c --format --printf",
    long: "format= printf= terse dereference",
    operands: "paths",
    anyOption: true,
    namesOnly: true,
  },
  file: {
    flags: "bikhNL",
    long: "brief mime mime-type mime-encoding dereference no-dereference keep-going",
    operands: "paths",
    namesOnly: true,
  },
  du: {
    flags: "shackmbxSlH0",
    valued: "dtB",
    texts: "--exclude",
    long:
      "summarize human-readable max-depth= apparent-size total bytes all si exclude= one-file-system threshold= " +
      "block-size= separate-dirs time",
    operands: "paths",
    anyOption: true,
    namesOnly: true,
  },
  nl: { flags: "p", valued: "bdfhilnsvw", texts: "-d -s", operands: "paths" },
  ...TEXT_PROGRAMS,
  ...SYSTEM_PROGRAMS,
};
