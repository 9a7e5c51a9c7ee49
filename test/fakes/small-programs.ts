/**
 * Makes programs in the small languages that the judge of shell commands accepts by grammar: from the grammars themselves,
 * changed at random places, and from hostile templates. Judges nothing; the same seed gives the same programs.
 */
import type { SeededRandom } from "../corpora/seeded-random.ts";

export type SmallLanguage = "awk" | "sed" | "jq" | "find" | "git";

/** The words behind the program's name. For awk, sed and jq the first word is the program in that language. */
export function smallProgram(language: SmallLanguage, random: SeededRandom): readonly string[] {
  switch (language) {
    case "awk":
      return [changed(random.integer(4) === 0 ? hostileAwk(random) : awkProgram(random), random), "in.txt"];
    case "sed":
      return [changed(random.integer(4) === 0 ? hostileSed(random) : sedScript(random), random), "in.txt"];
    case "jq":
      return [changed(jqFilter(random, 3), random), "in.json"];
    case "find":
      return words(FIND_WORDS, random, random.pick([".", "sub", "in.txt"]));
    case "git":
      return words(GIT_WORDS, random, random.pick(GIT_COMMANDS));
  }
}

const ALPHABET = "/\"\\[]{}();\n|><&~!$#@,=?: .^*+-%'wre1ax";
const FRAGMENTS = [
  ...`system("touch x") > "x" | "touch x" getline >> "x" /"/ /[]/ /[/]/ [] exit case / /= ++ "\\" \\" #" @f print`.split(
    " ",
  ),
  ..."w x;e touch x;r in.txt;W x;s/a/b/w x;s/a/b/e;\nw x\n;\\\n;$ENV;env;/[[:alpha:]/]/;\\\nw x".split(";"),
];

/** Half of the programs stay as they are; the others get a few changes at random places. */
function changed(program: string, random: SeededRandom): string {
  let text = program;
  for (let left = random.pick([0, 0, 0, 1, 1, 2, 4]); left > 0; left--) {
    const at = random.integer(text.length + 1);
    const cut = random.pick([0, 0, 1, 3]);
    const added = random.pick([random.pick([...ALPHABET]), random.pick([...ALPHABET]), random.pick(FRAGMENTS), ""]);
    text = text.slice(0, at) + added + text.slice(at + cut);
  }
  return text;
}

const EFFECTS = ['system("touch x")', 'print > "x"', 'print | "touch x"', '"touch x" | getline', 'printf "a" >> "x"'];
const AWK_WORDS = [
  ..."exit case default switch return getline print length nextfile next in func x NF FILENAME close and i++ x-- ) ]".split(
    " ",
  ),
];
const AWK_PATTERNS = [
  '/"/',
  '/[]/]"/',
  '/[/]"/',
  '/[^]"/',
  '/[\\]/]"/',
  "/=/",
  "//",
  '/\\"/',
  '/[[:alpha:]"]/',
  "/#/",
  "/[[.].]/]/",
];

/** An effect, hidden behind something that one awk may read differently from another. */
function hostileAwk(random: SeededRandom): string {
  const effect = random.pick(EFFECTS);
  const pattern = random.pick(AWK_PATTERNS);
  const word = random.pick(AWK_WORDS);
  return random.pick([
    `BEGIN { if (0) ${word} ${pattern}; ${effect}; if (0) ${word} ${pattern} }`,
    `BEGIN { x = ${word} / ${effect} / 1 }`,
    `BEGIN { x ${word} ${pattern}; ${effect} }`,
    `${pattern}; ${effect}; #"`,
    `${pattern} { ${effect} } ${pattern}`,
    `{ print ${word} ${pattern}, "${effect.replaceAll('"', '\\"')}" }`,
    `# \\\n{ ${effect} }`,
    `{ print (1)${random.pick(["", "(2)", ",2", " in a"])}${random.pick([" ", "\n", "\\\n"])}> "x" }`,
    `{ print 1 ${random.pick(["||", ">=", "|| 1 >", "? 2 >"])} "touch x" }`,
    `{ a["${random.pick(["\\\\", "\\", '\\"'])}"]; ${effect}; "" }`,
    `{ gsub(${pattern}, "${random.pick(["\\", '"', "&"])}"); ${effect} }`,
  ]);
}

function awkProgram(random: SeededRandom): string {
  const rules = Array.from({ length: 1 + random.integer(2) }, () => {
    const block = `{ ${awkStatements(random, 2)} }`;
    return random.pick([
      block,
      `BEGIN ${block}`,
      `END ${block}`,
      `${awkExpression(random, 2)} ${block}`,
      awkExpression(random, 2),
      `${awkExpression(random, 1)}, ${awkExpression(random, 1)}`,
    ]);
  });
  return rules.join(random.pick(["\n", "; ", "\n# note\n"]));
}

function awkStatements(random: SeededRandom, depth: number): string {
  const statement = (): string => {
    const value = (): string => awkExpression(random, depth);
    const simple = random.pick([
      `print ${value()}`,
      `print ${value()}, (${value()})`,
      "print",
      `printf "%s-%5d\\n", ${value()}, ${value()}`,
      `x = ${value()}`,
      `a[${value()}] += ${value()}`,
      `$${1 + random.integer(3)} = ${value()}`,
      "n++",
      "next",
      `exit ${random.pick(["", "1", "(x)"])}`,
      "delete a[x]",
    ]);
    if (depth === 0) return simple;
    const inner = (): string => awkStatements(random, depth - 1);
    return random.pick([
      simple,
      simple,
      simple,
      `if (${value()}) { ${inner()} } else { ${inner()} }`,
      `if (${value()}) ${simple}`,
      `for (k in a) { ${inner()} }`,
      `for (i = 0; i < 3; i++) { print i }`,
      // A changed loop may never end, and then costs a second.
      random.integer(8) === 0 ? random.pick(["while (n < 3) n++", "do n++; while (n < 3)"]) : simple,
    ]);
  };
  return Array.from({ length: 1 + random.integer(3) }, statement).join(random.pick(["; ", "\n", ";\n"]));
}

function awkExpression(random: SeededRandom, depth: number): string {
  const atom = random.pick([
    ...'$1 $NF $0 NR NF x n a[$1] 1 2.5 "a" "b/c" "\\"" "\\\\" /a/ /b[^c]d/ /x\\/y/ /[[:digit:]]+/ /"/ /[]a]/'.split(
      " ",
    ),
    "length($0)",
    "substr($1, 2, 3)",
    "toupper($2)",
    'gsub(/a/, "b")',
    "split($0, p, /[,;]/)",
    "length",
    "(x)",
    "!x",
    "-1",
    "n++",
  ]);
  if (depth === 0) return atom;
  const other = awkExpression(random, depth - 1);
  const operator = random.pick([..."+ - * / % ^ < <= == != > >= ~ !~ && || in".split(" "), " "]);
  return random.pick([
    atom,
    `${atom} ${operator} ${other}`,
    `(${atom} ${operator} ${other})`,
    `(${atom} ? ${other} : 1)`,
  ]);
}

const SED_PATTERNS = ["a", "^b", "[^,]*", "[[:space:]]", "x\\/y", "\\(c\\)", "[]d]", "[a\\/]", ".", "e$", "\\[", '"'];

function sedScript(random: SeededRandom): string {
  const pattern = (): string => random.pick(SED_PATTERNS);
  const address = (): string =>
    random.pick([
      "",
      "",
      "1",
      "$",
      "2,3",
      "1,+1",
      "0~2",
      "$!",
      `/${pattern()}/`,
      `/${pattern()}/I,/${pattern()}/`,
      "1!",
    ]);
  const mark = random.pick([..."///|#,:@!%~+=_;"]);
  const flags = random.pick(["", "g", "p", "2", "gI", "gp", "w", "e", "M"]);
  const command = (): string =>
    random.pick([
      ..."p d = D g G h H n N P x l q Q z F w r e W R y".split(" "),
      `s${mark}${pattern().replaceAll(mark, "")}${mark}${random.pick(["", "b", "&&", "\\1", "\\n", "[x]", "\\/"])}${mark}${flags}`,
      `s/${pattern()}/${random.pick(["c", "&", "\\&"])}/${flags}`,
      "y/abc/xyz/",
      `{p;${random.pick(["d", "s/a/b/", "n"])}}`,
      ":l;s/aa/a/;tl",
      ":l;N;$!bl",
      "b",
      `${random.pick(["a", "i", "c"])}${random.pick([" ", "\\", ""])}text w x`,
      "# note",
    ]);
  return Array.from({ length: 1 + random.integer(3) }, () => address() + command()).join(
    random.pick([";", "\n", "; "]),
  );
}

/** A write, hidden behind something that one sed may read differently from another. */
function hostileSed(random: SeededRandom): string {
  const effect = random.pick(["w x", "s/./b/w x", "s/.*/touch x/e", "e touch x", "W x"]);
  const mark = random.pick([..."/|#,:;"]);
  return random.pick([
    `s${mark}[${random.pick(["]", "^]", "[:alpha:]", "\\]", "a"])}${mark}]${mark};${mark}${effect}${mark}p`,
    `:a;s/a/b\\\n${effect}\n/`,
    `${random.pick(["a", "i", "c"])}\\\n${effect}`,
    `${random.pick(["a", "i", "c"])} x\\\n${effect}\n${effect}`,
    `${random.pick(["b", "t", ":"])}${effect}`,
    `p${random.pick(["", " ", ";", "}", "\n"])}${effect}`,
    `y/a/b\\/\n${effect}`,
    `s/a/b/${random.pick(["g", "p", "1"])}${effect}`,
    `# \\\n${effect}`,
    `/a/${random.pick(["I", "M", "!", ","])}${effect}`,
  ]);
}

function jqFilter(random: SeededRandom, depth: number): string {
  const atom = random.pick([
    ...'. .a .env .["b"] .a? .. keys length type tostring now 1 "x" null true @json @sh empty $x env input_filename'.split(
      " ",
    ),
    "map(.)",
    'has("a")',
    '"y\\(.a)"',
    '"\\($ENV)"',
    "{a, env}",
    "{a: env}",
    "inputs",
    "debug",
    "[limit(2; repeat(1))]",
  ]);
  if (depth === 0) return atom;
  const other = jqFilter(random, depth - 1);
  return random.pick([
    atom,
    `${atom} | ${other}`,
    `[${atom}, ${other}]`,
    `{a: ${atom}, b: (${other})}`,
    `if ${atom} then ${other} else . end`,
    `(${other}) as $x | ${atom}`,
    `reduce .[]? as $x (0; ${other})`,
    `select(${other})`,
    `try (${other}) catch .`,
    `${atom} ${random.pick(["+", "-", "//", "==", "and", "/"])} ${other}`,
  ]);
}

const FIND_WORDS = [
  ..."-name -iname -path -type -size -mtime -newer -maxdepth -perm -user -printf -regex -samefile -newermt".split(" "),
  ..."-print -print0 -ls -empty -prune -quit -depth -true -o -a ! ( ) , -not".split(" "),
  ..."f d l *.txt +1k -1 1 in.txt 0644 root %p\\n %s now sub . x".split(" "),
  ..."-delete -fprint -fprint0 -fprintf -fls -exec -execdir -ok touch {} ; + -files0-from -L -H -P -D -O3".split(" "),
  ..."-fpri -del -follow -noleaf -exec\u0020 --help -regextype posix-extended".split(" "),
];

const GIT_COMMANDS = [
  ..."status log show diff branch rev-parse ls-files blame shortlog show-ref for-each-ref rev-list merge-base".split(
    " ",
  ),
  ..."describe name-rev cat-file ls-tree check-ignore count-objects diff-tree diff-index diff-files range-diff grep".split(
    " ",
  ),
  ..."cherry whatchanged version stash remote tag worktree reflog notes config".split(" "),
  ..."commit checkout reset gc push fetch clean rm mv update-index".split(" "),
];
const GIT_WORDS = [
  ..."HEAD main HEAD~1 v1 x in.txt sub -- . HEAD:in.txt main..HEAD stash@{0} refs/heads user.name list show get".split(
    " ",
  ),
  ..."-l -n -n1 -1 -5 -p -s -v -a -r -d -D -m -q -z -t -i -w -c -u -e -L1,2:in.txt -S -G -M -C -U1 -O -O/x -o".split(
    " ",
  ),
  ..."--oneline --stat --all --list --name-only --format=%h --format=%G? --format=%(refname) --pretty=raw".split(" "),
  ..."--sort=refname --sort=signature --contains --merged --cached --graph --patch --raw --tags --count --verify".split(
    " ",
  ),
  ..."--output=x --outp=x --output --ext-diff --textconv --show-signature --no-index --exec=x --upload-pack=x".split(
    " ",
  ),
  ..."--edit --unset --global --local --get --porcelain --short --abbrev-ref --git-dir --show-current --date=iso".split(
    " ",
  ),
  ..."add drop clear pop expire delete prune --dirty --always --points-at --format=%(signature) --follow --reverse".split(
    " ",
  ),
  ..."-f -b -x -X --force --delete --move --copy --create-reflog --track --batch --filters --contents=x --stdin".split(
    " ",
  ),
];

function words(pool: readonly string[], random: SeededRandom, first: string): readonly string[] {
  return [first, ...Array.from({ length: random.integer(5) }, () => random.pick(pool))];
}
