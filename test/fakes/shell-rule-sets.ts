/** The rules that generated shell commands are held against, and what each set of them must never let start. */
import type { RuleEffect } from "../../src/governance/rules.ts";

export interface DeniedSet {
  /** Beside `allow Bash`. */
  readonly denied: readonly string[];
}

export interface AllowedSet {
  readonly allowed: readonly string[];
  /** Programs of these rules that run for real; the others are recorded. */
  readonly real: readonly string[];
  /** Commands that the rules allow, for the generator to begin with. */
  readonly bases: readonly string[];
}

export const DENIED_SETS: readonly DeniedSet[] = [
  { denied: ["touch *"] },
  { denied: ["curl *", "rm *"] },
  { denied: ["curl", "touch", "git push *", "rm -rf *"] },
];

export const ALLOWED_SETS: readonly AllowedSet[] = [
  {
    allowed: ["cat *", "ls -* *", "echo **", "git log *", "python *.py"],
    real: ["cat", "ls", "git"],
    bases: [
      ...["cat notes.txt", "cat src/index.ts README.md", "ls -la src", "ls -l", "echo a b", "echo $x 'a b'", "git log"],
      ...["git log main", "git log HEAD src", "python src/main.py", "cat *.md", "cat src/*.ts", 'echo "$(ls -l src)"'],
      ...["cat notes.txt | cat", "ls -a . && cat other.txt", "timeout 5 cat notes.txt", "env cat notes.txt"],
    ],
  },
  {
    allowed: [
      "grep -n * src",
      "sort *",
      "wc -l *.txt",
      "find src -name *",
      "git diff --stat *",
      "git show *",
      "head -n* *",
    ],
    real: ["grep", "sort", "wc", "find", "git", "head"],
    bases: [
      ...["grep -n TODO src", "grep -n a b src", "sort notes.txt", "sort notes.txt other.txt", "wc -l notes.txt"],
      ...[
        "find src -name x",
        "find src -name index.ts",
        "git diff --stat HEAD",
        "git diff --stat main src",
        "git show",
      ],
      ...["git show HEAD", "git show v1.0.0", "head -n2 notes.txt", "head -n 2 notes.txt", "sort notes.txt | head -n2"],
      ...["find src -name a | sort", "git show HEAD | wc -l notes.txt", "nice sort data/orders.csv"],
    ],
  },
  {
    allowed: [
      "npm run build",
      "make -* build",
      "./scripts/*.sh",
      "node src/**",
      "tar -tf *.tar",
      "cargo test *",
      "mkdir -p dist/*",
    ],
    real: [],
    bases: [
      ...["npm run build", "make build", "make -s build", "./scripts/build.sh", "node src/index.ts", "node src/a/b.ts"],
      ...[
        "tar -tf a.tar",
        "cargo test",
        "cargo test cart user",
        "mkdir -p dist/a",
        "npm run build && node src/index.ts",
      ],
      ...["time make build", "env make build", "npm run build; ./scripts/build.sh", "bash -c 'npm run build'"],
    ],
  },
];

export function denyRules({ denied }: DeniedSet): [RuleEffect, string][] {
  return [["allow", "Bash"], ...denied.map((pattern): [RuleEffect, string] => ["deny", `Bash(${pattern})`])];
}

export function allowRules({ allowed }: AllowedSet): [RuleEffect, string][] {
  return allowed.map((pattern) => ["allow", `Bash(${pattern})`]);
}

/** A word of every canary, by which commands are found that hold one in whatever spelling. */
export const CANARY_WORD = "zz9";

/** Ways to write a command that starts the program of a pattern. */
export function spellings(pattern: string): string[] {
  const [program = "", ...rest] = pattern.replace(/ \*$/, "").split(" ");
  const tail = [...rest, CANARY_WORD].join(" ");
  const [first = "", second = "", ...others] = program;
  const end = second + others.join("");
  return [
    ...Array.from({ length: 12 }, () => `${program} ${tail}`),
    `/usr/bin/${program} ${tail}`,
    `\\${program} ${tail}`,
    `${first}''${end} ${tail}`,
    `${first}\\${end} ${tail}`,
    `"${program}" ${tail}`,
    `$'${program}' ${tail}`,
    `$'\\x${first.charCodeAt(0).toString(16)}'${end} ${tail}`,
    `{${program},${tail.replaceAll(" ", ",")}}`,
    `/usr/bin/${first}?${others.join("")} ${tail}`,
    `${program}\t${tail}`,
    `${program} ${tail} x`,
    `${program}`,
  ];
}
