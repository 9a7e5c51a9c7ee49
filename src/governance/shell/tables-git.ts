/** The subcommands of git that may run without a question, with the options under which each still only reads. */
import type { ProgramTable } from "./tables.ts";

const REVISION_LONG =
  "oneline graph all decorate[=] no-decorate stat[=] shortstat numstat name-only name-status patch no-patch raw summary " +
  "since= after= until= before= author= committer= grep= all-match invert-grep regexp-ignore-case extended-regexp " +
  "fixed-strings max-count= skip= pretty[=] format[=] abbrev-commit no-abbrev-commit abbrev[=] date= relative-date follow " +
  "first-parent merges no-merges reverse topo-order date-order author-date-order color[=] no-color word-diff[=] " +
  "color-words[=] ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines unified[=] diff-filter= " +
  "find-renames[=] find-copies[=] minimal histogram patience diff-algorithm= full-index exit-code quiet check " +
  "compact-summary dirstat[=] no-ext-diff no-textconv no-renames function-context patch-with-stat branches[=] tags[=] " +
  "remotes[=] left-right cherry cherry-pick cherry-mark simplify-by-decoration walk-reflogs full-history ancestry-path " +
  "boundary source parents children no-prefix inter-hunk-context= pickaxe-regex pickaxe-all decorate-refs= " +
  "no-notes expand-tabs[=] no-expand-tabs no-color-moved color-moved[=] ignore-submodules[=] clear-decorations";

const revisions: ProgramTable = {
  flags: "pusmczwbRaiEFPgrtqW",
  valued: "nSGL",
  attached: "UMCBl",
  numeric: true,
  long: REVISION_LONG,
  operands: "revisions",
  formats: "commits",
};

const reflog: ProgramTable = { ...revisions, operands: "reference", maxOperands: 1 };

/** With a second word, even one that looks like an option, it sets the key. */
const setting: ProgramTable = { long: "global local get", operands: "setting", expression: true, maxOperands: 1 };

export const QUIET_GIT: Readonly<Record<string, ProgramTable>> = {
  status: {
    flags: "sbvz",
    attached: "u",
    long:
      "short branch porcelain[=] long verbose untracked-files[=] ignored[=] ignore-submodules[=] column[=] no-column " +
      "ahead-behind no-ahead-behind renames no-renames show-stash",
    operands: "paths",
  },
  log: revisions,
  show: revisions,
  diff: { ...revisions, long: `${REVISION_LONG} cached staged merge-base` },
  branch: {
    flags: "avr",
    long:
      "all remotes list verbose show-current contains= no-contains= merged= no-merged= sort= format= points-at= " +
      "column[=] no-column color[=] no-color abbrev[=] no-abbrev ignore-case",
    operands: "text",
    operandsNeed: "--list",
    formats: "refs",
  },
  "rev-parse": {
    flags: "q",
    long:
      "show-toplevel abbrev-ref[=] short[=] verify git-dir git-common-dir is-inside-work-tree is-inside-git-dir " +
      "is-bare-repository show-prefix show-cdup symbolic-full-name symbolic all branches[=] tags[=] remotes[=] quiet " +
      "absolute-git-dir show-superproject-working-tree revs-only no-revs show-object-format[=]",
    operands: "revisions",
  },
  "ls-files": {
    flags: "cdmosuktvzfi",
    valued: "x",
    long:
      "cached deleted modified others ignored stage unmerged killed exclude-standard full-name error-unmatch abbrev[=] " +
      "directory no-empty-directory exclude= eol deduplicate",
    operands: "paths",
  },
  blame: {
    flags: "lswetfnpcb",
    valued: "L",
    attached: "MC",
    long: "porcelain line-porcelain show-name show-number show-email root date= since= color-lines color-by-age abbrev[=]",
    operands: "revisions",
  },
  shortlog: {
    flags: "snec",
    long: `${REVISION_LONG} summary numbered email group=`,
    operands: "revisions",
    formats: "commits",
    // Without a revision and without a terminal it reads standard input, which is empty.
  },
  "show-ref": {
    flags: "dsq",
    long: "heads branches tags head dereference hash[=] verify quiet abbrev[=] exists",
    operands: "text",
  },
  "for-each-ref": {
    long: "count= sort= format= points-at= merged[=] no-merged[=] contains[=] no-contains[=] ignore-case",
    operands: "text",
    formats: "refs",
  },
  "rev-list": { ...revisions, long: `${REVISION_LONG} count objects max-parents= min-parents= disk-usage[=]` },
  "merge-base": { flags: "a", long: "all is-ancestor octopus independent fork-point", operands: "text" },
  // Not `--dirty`, which may refresh the index.
  describe: {
    long: "all tags contains abbrev[=] candidates= exact-match long match= exclude= always first-parent",
    operands: "text",
  },
  "name-rev": { long: "tags refs= exclude= all name-only always undefined", operands: "text" },
  "cat-file": { flags: "tspe", operands: "revisions" },
  "ls-tree": {
    flags: "drtlz",
    long: "long name-only name-status object-only full-name full-tree abbrev[=] format=",
    operands: "revisions",
    formats: "refs",
  },
  // It tells which pattern ignores a name and opens no file by that name.
  "check-ignore": { flags: "qvnz", long: "quiet verbose non-matching no-index", operands: "text" },
  "count-objects": { flags: "vH", long: "verbose human-readable", operands: "none" },
  "diff-tree": { ...revisions, long: `${REVISION_LONG} root stdin no-commit-id always cc` },
  "diff-index": { ...revisions, long: `${REVISION_LONG} cached merge-base` },
  "diff-files": revisions,
  "range-diff": { ...revisions, long: `${REVISION_LONG} creation-factor= no-dual-color left-only right-only` },
  grep: {
    flags: "niwlLcvEFGPopqhHaIW",
    valued: "eABCm",
    numeric: true,
    long:
      "line-number ignore-case word-regexp files-with-matches name-only files-without-match count invert-match " +
      "extended-regexp fixed-strings perl-regexp only-matching color[=] heading break show-function function-context " +
      "max-depth= and or not all-match quiet cached text after-context= before-context= context= max-count= column",
    operands: "pattern",
    patternOptions: "-e",
  },
  cherry: { flags: "v", long: "abbrev[=]", operands: "text" },
  whatchanged: revisions,
  version: { long: "build-options", operands: "none" },
};

/**
 * Subcommands that read with some words behind them and change something with others, by the first of these words. The
 * empty word is the table for every other beginning.
 */
export const QUIET_GIT_VERBS: Readonly<Record<string, Readonly<Record<string, ProgramTable>>>> = {
  stash: {
    list: { ...revisions, operands: "none" },
    show: {
      flags: "pu",
      long: "stat patch name-only name-status numstat shortstat",
      operands: "reference",
      maxOperands: 1,
    },
  },
  // With `-v` it shows addresses, which may hold tokens.
  remote: { "": { operands: "none" } },
  tag: {
    "": {
      flags: "li",
      attached: "n",
      numbers: "-n",
      long:
        "list sort= contains= no-contains= merged= no-merged= points-at= format= column[=] no-column color[=] " +
        "ignore-case",
      operands: "text",
      operandsNeed: "-l --list",
      maxOperands: 1,
      formats: "refs",
    },
  },
  worktree: { list: { flags: "vz", long: "porcelain verbose", operands: "none" } },
  reflog: { "": { ...revisions, operands: "none" }, show: reflog, HEAD: { ...revisions, operands: "none" } },
  notes: { list: { operands: "none" }, show: { operands: "reference", maxOperands: 1 } },
  config: { "": setting, get: setting },
};
