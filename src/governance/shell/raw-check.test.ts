import { parse } from "unbash";
import { describe, expect, test } from "vitest";
import { quietDecision } from "../quiet-preset.ts";
import { evaluateRules, parseRule } from "../rules.ts";
import { rawProblem } from "./raw-check.ts";
import { scanSource } from "./raw-scan.ts";

const problem = (source: string): string | undefined => rawProblem(parse(source), source, scanSource(source));

/** Bash runs `CMD` in each of these; the parser sees no command there. */
const HIDDEN = [
  `echo "\${x:-$'$(CMD)'}"`,
  `echo "\${x-$'$(CMD)'}"`,
  `echo "\${x:+$'$(CMD)'}"`,
  `echo "\${x:-$'\`CMD\`'}"`,
  `cat <<E\n\${x:-'$(CMD)'}\nE`,
  `cat <<E\n\${x-'\`CMD\`'}\nE`,
  `cat <<-E\n\t\${x:-'$(CMD)'}\n\tE`,
  "ls 1<(CMD)",
  "ls a<(CMD)",
  "echo 1>(CMD)",
  "x=($(CMD))a",
  "x=(a)`CMD`",
  "x=(a)$(CMD)",
  "x+=($(CMD))a",
];

describe("code that the parser does not see", () => {
  test.each(HIDDEN)("%j is not quiet and does not pass a deny", (hidden) => {
    const command = hidden.replace("CMD", "touch x");
    const deny = [parseRule("Bash", "allow", "a"), parseRule("Bash(touch *)", "deny", "b")];
    const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
    expect(quietDecision({ tool: "exec", args: { command } }, "/w").quiet).toBe(false);
    expect(evaluateRules(deny, call).effect).not.toBe("allow");
  });

  test.each([
    ["echo a$\\\n(x)", "Harness does not analyse a continued line at character 7"],
    ["ec\\\nho x", "Harness does not analyse a continued line at character 3"],
    ['echo "$[1]"', "Harness does not analyse $[ at character 7"],
    ["echo $(echo '$(a)')", "Harness does not analyse code in quotes at character 13"],
    ["echo $(ls # )\n)", "Harness does not analyse a comment at character 11"],
    ["ls # `a`", "Harness does not analyse a comment at character 4"],
    ["echo `a \\`b\\``", "Harness does not analyse a quote in backticks at character 6"],
    ["echo $(cat <<E\nx\nE\n)", "Harness does not analyse << at character 12"],
    ["cat <<E\nx", "Harness does not analyse an open here-document at character 9"],
    [`${"$(".repeat(9)}ls${")".repeat(9)}`, "Harness does not analyse deep nesting at character 19"],
  ])("%j: %s", (source, why) => {
    expect(problem(source)).toBe(why);
  });

  test("a tree that knows more or less than the text is not trusted", () => {
    const source = "ls $(pwd) 'a'";
    expect(rawProblem(parse("ls aaaaaa 'a'"), source, scanSource(source))).toBe(
      "the parser misreads the word at character 6",
    );
    expect(rawProblem(parse("ls $(pwd)"), source, scanSource(source))).toBe(
      "the parser misreads the quotes at character 11",
    );
  });
});

test.each([
  "ls -la src 2>/dev/null | head -3",
  `echo 'a $(b) \`c\` <(d)' "e \\$(f)" g\\ h`,
  'for f in $(ls *.ts); do echo "$f: $(wc -l < "$f")"; done',
  `diff <(sort a) <(sort b) && echo \${#x} \${x%.ts} \${x:-none}`,
  "cat <<'E' | grep x\n$(a) `b`\nE",
  "cat <<E\n$(date) $HOME\nE",
  "if [[ -f a && $x == y* ]]; then ls; else time -p ls; fi # done",
  "x=1 y='a b' ls \\\n  -l",
  "echo `pwd` $'a\\tb' $((1 + 2)) \"cost: 5$\"",
  "{ ls; (pwd); } 2>&1 && ! false",
])("%j is read the same way twice", (source) => {
  expect(problem(source)).toBeUndefined();
});
