// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell commands
import { describe, expect, test } from "vitest";
import { analyseShell } from "./analysis.ts";
import { MAX_SEGMENTS } from "./build.ts";
import { everyCommand, type SimpleCommand } from "./command.ts";
import { MAX_COMMAND_BYTES } from "./source.ts";

const plain = {
  globbed: [],
  dynamic: [],
  unknown: [],
  split: [],
  feeds: new Map(),
  folders: ["."],
  assignments: [],
  redirects: [],
  hereDocument: false,
  background: false,
  open: false,
  starts: [],
  transparent: false,
} satisfies Omit<SimpleCommand, "words">;

function understood(command: string): readonly SimpleCommand[] {
  const analysis = analyseShell(command);
  if (!analysis.understood) throw new Error(`not understood: ${analysis.why}`);
  return analysis.commands;
}

function allWords(command: string): string[] {
  return [...everyCommand(understood(command))].map((simple) => simple.words.join(" "));
}

describe("simple commands", () => {
  test("words come without their quotes", () => {
    expect(analyseShell(`c\\at 'a b'"c d" e\\ f ''`)).toEqual({
      understood: true,
      commands: [{ ...plain, words: ["cat", "a bc d", "e f", ""] }],
    });
  });

  test("every part of a compound command is listed", () => {
    expect(allWords("a && b || c; d | e |& f & (g; { h; }) ; ! i; if j; then k; elif l; then m; else n; fi")).toEqual([
      ..."abcdefghijklmn",
    ]);
  });

  test("what surrounds a command is told", () => {
    expect(understood("FOO=1 ls *.ts > out 2>&1 &")).toEqual([
      {
        ...plain,
        words: ["ls", "*.ts"],
        globbed: [1],
        assignments: ["FOO=1"],
        redirects: [{ path: "out", writes: true }],
        background: true,
      },
    ]);
    expect(understood("(ls; pwd) >> out")).toEqual([
      { ...plain, words: ["ls"], redirects: [{ path: "out", writes: true }] },
      { ...plain, words: ["pwd"], redirects: [{ path: "out", writes: true }] },
    ]);
    expect(understood("cat <<'EOF'\n$(rm x)\nEOF")).toEqual([
      { ...plain, words: ["cat"], hereDocument: true, hereText: "$(rm x)\n" },
    ]);
    expect(understood("PATH=.")).toEqual([{ ...plain, words: [], assignments: ["PATH=."] }]);
    expect(understood("export PATH=.")).toEqual([{ ...plain, words: ["export", "PATH=."] }]);
  });

  test.each([
    "ls 2>&1",
    "ls >/dev/null",
    "ls 2>/dev/null",
    "ls </dev/null",
    "ls >/dev/null 2>&1",
    "ls &>/dev/null",
    "ls 2>&-",
  ])("%s redirects no file", (command) => {
    expect(understood(command)).toEqual([{ ...plain, words: ["ls"] }]);
  });

  test.each([
    ["ls > a", "a"],
    ["ls >> a", "a"],
    ["ls >| a", "a"],
    ["ls < a", "a"],
    ["ls <> a", "a"],
    ["ls >& a", "a"],
    ["ls &> a", "a"],
    ["ls 2>a", "a"],
    ["ls >&11", "11"],
    ["ls > /dev/null2", "/dev/null2"],
  ])("%s redirects a file", (command, file) => {
    expect(understood(command)[0]?.redirects).toEqual([{ path: file, writes: !command.includes(" < ") }]);
  });
});

describe("commands inside other things", () => {
  test.each([
    ["for f in a b; do rm $f; done", ["rm a", "rm b"]],
    ["for f in $(ls); do cat $f; done", ["ls", "cat $f"]],
    ["while read f; do rm $f; done < list", ["read f", "rm $f"]],
    ["until a; do b; done", ["a", "b"]],
    ["case $(a) in b) c;; d) e;; esac", ["a", "c", "e"]],
    ["for ((i=0;i<$(a);i++)); do b; done", ["a", "b"]],
    ["f() { a; b | c; }", ["a", "b", "c"]],
    ["coproc a", ["a"]],
    ["[[ -n $(a) ]]", ["a", "[ ]"]],
    ["(( $(a) ))", ["a", "[ ]"]],
    ["ls $(a) `b` <(c) >(d)", ["a", "b", "c", "d", "ls $(a) `b` /dev/null /dev/null"]],
    ['echo "x $(a "$(b)")"', ["b", "a $(b)", 'echo x $(a "$(b)")']],
    ["x=$(a) y=${z:-$(b)} c", ["a", "b", "c"]],
    ["cat <<E\n$(a)\nE", ["a", "cat"]],
    ["ls > $(a)", ["a", "ls"]],
    ["ls ( # \nrm x", ["ls", "rm x"]],
    ["ls 'a; rm x", ["ls a; rm x"]],
    ["trap 'a' EXIT", ["trap a EXIT", "a"]],
    ["alias x='a b'", ["alias x=a b", "a b"]],
    ["eval a b", ["eval a b", "a b"]],
    ["bash <<'E'\na\nE", ["bash", "a"]],
    ["env -S 'a b'", ["env -S a b", "a b"]],
    ["sudo --odd a b", ["sudo --odd a b", "a b", "b"]],
  ])("%j: %j", (command, words) => {
    expect([...everyCommand(analyseShell(command).commands)].map((simple) => simple.words.join(" "))).toEqual(words);
  });

  test("a variable is followed where its value is certain, and only there", () => {
    expect([
      allWords('x=src; ls $x "$x/a"'),
      allWords("false && x=src; ls $x"),
      allWords("x=src & ls $x"),
      allWords("x=a; x=b; ls $x"),
      allWords("if a; then x=src; fi; ls $x"),
      allWords("x=src; read x; ls $x"),
      allWords("x='a b'; ls $x"),
    ]).toEqual([
      ["", "ls src src/a"],
      ["false", "", "ls $x"],
      ["", "ls $x"],
      ["", "", "ls $x"],
      ["a", "", "ls $x"],
      ["", "read x", "ls $x"],
      ["", "ls a b"],
    ]);
    expect(understood("x='a b'; ls $x")[1]).toMatchObject({ unknown: [1], split: [1], globbed: [1] });
  });

  test("the folder a command may run in is followed", () => {
    const folders = (command: string): unknown[] => understood(command).map((simple) => simple.folders);
    expect([
      folders("cd a && ls"),
      folders("cd a; ls"),
      folders("cd a && cd /b && ls"),
      folders("(cd a); ls"),
      folders("cd a | ls"),
      folders("cd a || ls"),
      folders("git -C a -C b status"),
    ]).toEqual([
      [["."], ["a"]],
      [["."], [".", "a"]],
      [["."], ["a"], ["/b"]],
      [["."], ["."]],
      [["."], ["."]],
      [["."], [".", "a"]],
      [["."]],
    ]);
    expect(understood("git -C a -C b status")[0]?.starts[0]?.folders).toEqual(["a/b"]);
  });

  test("the names that a listing hands on are told", () => {
    const feed = { roots: ["src"], names: "*.ts", hidden: true, links: false, prefixed: true, split: true };
    const listing = "find src -name '*.ts' -type f";
    const last = (command: string): SimpleCommand | undefined => [...everyCommand(understood(command))].at(-1);
    expect([
      last(`${listing} | xargs cat`)?.openFeed,
      last(`${listing} | sort | head -3 | xargs cat`)?.openFeed,
      last(`${listing} -exec cat {} +`)?.openFeed,
      last(`cat $(${listing})`)?.feeds.get(1),
      last(`for f in $(${listing}); do cat $f; done`)?.feeds.get(1),
      last(`${listing} | while read -r f; do cat "$f"; done`)?.feeds.get(1),
    ]).toEqual([feed, feed, { ...feed, split: false }, feed, feed, feed]);
    expect([
      last(`${listing} | xargs cat < x`)?.openFeed,
      last(`${listing} | cat <<< x | xargs cat`)?.openFeed,
      last(`${listing} | sort x | xargs cat`)?.openFeed,
      last(`${listing} -execdir cat {} +`)?.openFeed,
      last(`cat $(${listing})x`)?.feeds.get(1),
    ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  test("what changes the meaning of later words is told with each command", () => {
    expect(understood("export PATH=.; ls").map((simple) => simple.poisoned)).toEqual([
      "export changes what later commands do",
      "export changes what later commands do",
    ]);
    expect(understood("PATH=.; ls")[1]?.poisoned).toBe("PATH may change what later commands do");
    expect(understood("set -euo pipefail; ls")[1]?.poisoned).toBeUndefined();
    expect(understood("export PATH=.")[0]?.poisoned).toBeUndefined();
  });
});

describe("not understood", () => {
  test.each([
    ["ls 'a", "unterminated single quote at character 4"],
    ["ls (", "the parser did not read all of it"],
    ["ls ( # \nrm x", "the parser did not read all of it"],
    ["echo $(ls ( ) )", "expected compound command as function body at character 15"],
    ["$X a", "$X is in the place of a program name"],
    ["l? x", "l? is in the place of a program name"],
    ["{ls,-a}", "{ls,-a} is in the place of a program name"],
    ["\u0433m x", "the program's name contains letters that look like other letters"],
    ["ls {a..z}", "{a..z} expands to other words"],
    ["ls @(a|b)", "@(a|b) expands to other words"],
    ["ls $'\\x61'", "$'\\x61' hides its characters"],
    ['ls $"a"', '$"a" means different things to different shells'],
    ["ls ~bob/x", "~bob/x is the home of another user"],
    ["echo ${!x}", "${!x} is only known at run time"],
    ["echo ${x:=a}", "${x:=a} changes a variable"],
    ["echo $((x))", "arithmetic can run code hidden in its operands"],
    ["echo ${x:-$((y))}", "arithmetic can run code hidden in its operands"],
    ["cat <<E\n$((x))\nE", "arithmetic can run code hidden in its operands"],
    ["[[ $x -eq 1 ]]", "arithmetic can run code hidden in its operands"],
    ["[[ -v x ]]", "arithmetic can run code hidden in its operands"],
    ["f() { ls; }", "it defines a function"],
    ["coproc ls", "it starts a coprocess"],
    ["case a in b) ls;; esac", "Harness does not analyse case statements"],
    ["for PATH in a; do ls; done", "a loop sets PATH, which may change what its commands do"],
    ["a=(b) ls", "it assigns an array"],
    ["ls {fd}>x", "it opens a descriptor into a variable"],
    ["ls > *", "a redirect goes to a pattern"],
    ["cat <<E\nx", "its here-document is not closed"],
    [". x", ". changes what the shell runs"],
    ["trap ls EXIT", "trap runs text later"],
    ["alias a=b", "alias changes what the shell runs"],
    ["cd $X; ls", "Harness cannot tell which folder it runs in"],
    ["python3 <<'E'\nx\nE", "python3 gets its program from a here-document"],
    ["ls | sh", "sh gets its program from standard input"],
    ["ls | python3 -", "python3 gets its program from standard input"],
    ["fish -c ls", "fish has a language of its own"],
    ["env -S 'ls x'", "env runs text"],
    ["sudo -i", "sudo starts a shell"],
    ["xargs env", "what env starts is only known at run time"],
    ["xargs sh -c ls", "sh gets words at run time"],
    ["find . -exec {} +", "find runs what it finds"],
    ["ls\u00a0x", "it contains control characters or unusual spaces"],
    ["ls\rx", "it contains control characters or unusual spaces"],
    ["  # nothing", "it is empty"],
    [`${"nice ".repeat(9)}ls`, "wrappers are nested too deeply"],
  ])("%j: %s", (command, why) => {
    expect(analyseShell(command)).toMatchObject({ understood: false, why });
  });

  test("at most 50 commands, wrapped ones counted", () => {
    const list = (count: number): string => Array.from({ length: count }, () => "ls").join(";");
    expect(analyseShell(list(MAX_SEGMENTS)).understood).toBe(true);
    const tooMany = { understood: false, why: "it has more than 50 commands" };
    expect(analyseShell(list(MAX_SEGMENTS + 1))).toMatchObject(tooMany);
    expect(analyseShell(`sh -c '${list(MAX_SEGMENTS)}'`)).toMatchObject(tooMany);
  });

  test("at most 32 KB", () => {
    expect(analyseShell(`echo ${"a".repeat(MAX_COMMAND_BYTES - 5)}`).understood).toBe(true);
    expect(analyseShell(`echo ${"a".repeat(MAX_COMMAND_BYTES)}`)).toEqual({
      understood: false,
      why: "it is longer than 32 KB",
      commands: [],
    });
  });

  test("deep nesting is refused, not followed to the end of the stack", () => {
    expect(analyseShell(`${"(".repeat(10_000)}ls${")".repeat(10_000)}`).understood).toBe(false);
  });
});

describe("wrappers", () => {
  test("the program behind a wrapper is part of the tree", () => {
    expect(understood("timeout -k 1 5 env LC_ALL=C rm -f *.o")).toEqual([
      {
        ...plain,
        words: ["timeout", "-k", "1", "5", "env", "LC_ALL=C", "rm", "-f", "*.o"],
        globbed: [8],
        transparent: true,
        starts: [
          {
            ...plain,
            words: ["env", "LC_ALL=C", "rm", "-f", "*.o"],
            globbed: [4],
            transparent: true,
            starts: [{ ...plain, words: ["rm", "-f", "*.o"], globbed: [2], assignments: ["LC_ALL=C"] }],
          },
        ],
      },
    ]);
  });

  test.each([
    ["nice -n 5 a", "a"],
    ["nice -5 a", "a"],
    ["nohup a", "a"],
    ["exec -a x a", "a"],
    ["chrt -f 1 a", "a"],
    ["taskset -c 0 a", "a"],
    ["unshare -r --fork a", "a"],
    ["flock -n lock a", "a"],
    ["chroot x a", "a"],
    ["strace -o out a", "a"],
    ["npx -y a", "a"],
    ["npm exec -- a b", "a b"],
    ["docker exec -it box a", "a"],
    ["command -p a", "a"],
    ["builtin a", "a"],
    ["\\time -p a", "a"],
    ["stdbuf -oL -e 0 a", "a"],
    ["setsid -f a", "a"],
    ["ionice -c3 a", "a"],
    ["sudo -u root -n X=1 a b", "a b"],
    ["doas -u root a", "a"],
    ["env - X=1 a", "a"],
    ["/usr/bin/env -u X a", "a"],
    ["xargs -0 -n1 a -b", "a -b"],
    ["busybox a", "a"],
    ["git -C x a", "git a"],
    ["git --git-dir=x --work-tree y a", "git a"],
    ["sh -c a", "a"],
    ["bash -eo pipefail -c 'a b'", "a b"],
    ["find . -name x -exec a {} ';'", "a {}"],
  ])("%s starts %s", (command, inner) => {
    expect(allWords(command).slice(1)).toEqual([inner]);
  });

  test("several programs of one find are all listed", () => {
    expect(allWords("find . -exec a {} \\; -o -execdir b {} +").slice(1)).toEqual(["a {}", "b {}"]);
  });

  test("words that arrive at run time are told, through further wrappers too", () => {
    expect([...everyCommand(understood("xargs env a"))].map((simple) => simple.open)).toEqual([false, true, true]);
  });

  test("what git can be told to run is told", () => {
    expect(understood("git -c core.pager=x log")[0]?.unseen).toBe("git -c can name programs to run");
  });

  test.each([
    ["timeout 5 ls", true],
    ["./timeout 5 ls", false],
    ["env -i ls", false],
    ["sudo ls", false],
    ["nohup ls", false],
    ["sh -c ls", true],
    ["bash -lc ls", false],
    ["zsh -c ls", false],
    ["git --no-pager log", true],
    ["git -C x log", true],
    ["git --git-dir=x log", false],
    ["git -c a=b log", false],
  ])("%s passes on without effect of its own: %j", (command, transparent) => {
    expect(understood(command)[0]?.transparent).toBe(transparent);
  });

  test.each(["env", "command -v ls", "bash x.sh", "python3 x.py", "node --test", "sudo -l", "git --version"])(
    "%s is an ordinary command",
    (command) => {
      expect(understood(command)).toEqual([{ ...plain, words: command.split(" ") }]);
    },
  );
});

test("loops in loops do not multiply the work", () => {
  const loops = 18;
  const command = `${"for a in 1 2 3 4 5 6 7 8 9 0; do ".repeat(loops)}ls${"; done".repeat(loops)}`;
  const analysis = analyseShell(command);
  expect(analysis.understood).toBe(false);
});
