import { describe, expect, test } from "vitest";
import { analyseShell, everyCommand, MAX_COMMAND_BYTES, MAX_SEGMENTS, type SimpleCommand } from "./shell.ts";

const plain = {
  globbed: [],
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
      { ...plain, words: ["ls", "*.ts"], globbed: [1], assignments: ["FOO=1"], redirects: ["out"], background: true },
    ]);
    expect(understood("(ls; pwd) >> out")).toEqual([
      { ...plain, words: ["ls"], redirects: ["out"] },
      { ...plain, words: ["pwd"], redirects: ["out"] },
    ]);
    expect(understood("cat <<'EOF'\n$(rm x)\nEOF")).toEqual([{ ...plain, words: ["cat"], hereDocument: true }]);
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
    expect(understood(command)[0]?.redirects).toEqual([file]);
  });
});

describe("not understood", () => {
  test.each([
    ["ls 'a", "unterminated single quote at character 4"],
    ["ls (", "a part of it was not read by the parser"],
    ["ls ( # \nrm x", "a part of it was not read by the parser"],
    ["ls $HOME", "$HOME is only known at run time"],
    ['ls "a $HOME"', "$HOME is only known at run time"],
    ["ls $(pwd)", "$(pwd) is only known at run time"],
    ["ls `pwd`", "`pwd` is only known at run time"],
    ["echo $((1+1))", "$((1+1)) is only known at run time"],
    ["cat <(ls)", "<(ls) is only known at run time"],
    ["l? x", "the program's name is a pattern"],
    ["ls {a,b}", "{a,b} expands to other words"],
    ["ls @(a|b)", "@(a|b) expands to other words"],
    ["ls $'a'", "$'a' means different things to different shells"],
    ['ls $"a"', '$"a" means different things to different shells'],
    ["ls ~bob/x", "~bob/x is the home of another user"],
    ["f() { ls; }", "it defines a function"],
    ["coproc ls", "it starts a coprocess"],
    ["for a in b; do ls; done", "loops, case and select are not followed"],
    ["[[ a ]]", "[[ … ]] and (( … )) can run code hidden in their operands"],
    ["a=(b) ls", "it assigns an array"],
    ["ls {fd}>x", "it opens a descriptor into a variable"],
    ["ls > *", "a redirect goes to a pattern"],
    ["cat <<E\n$X\nE", "its here-document is expanded"],
    ["cat <<E\nx", "its here-document is not closed"],
    ["eval ls", "eval changes what the shell runs"],
    [". x", ". changes what the shell runs"],
    ["source x", "source changes what the shell runs"],
    ["exec ls", "exec changes what the shell runs"],
    ["trap ls EXIT", "trap changes what the shell runs"],
    ["alias a=b", "alias changes what the shell runs"],
    ["python3 <<'E'\nx\nE", "python3 gets its program from a here-document"],
    ["ls | sh", "sh gets its program from standard input"],
    ["ls | python3 -", "python3 gets its program from standard input"],
    ["fish -c ls", "fish has a language of its own"],
    ["env -S 'ls x'", "env has the option -S, which is not followed"],
    ["sudo -i", "sudo starts a shell"],
    ["xargs env", "what env starts is only known at run time"],
    ["xargs sh -c ls", "sh gets words at run time"],
    ["find . -exec {} +", "find runs what it finds"],
    ["ls\u00a0x", "it contains control characters or unusual spaces"],
    ["ls\rx", "it contains control characters or unusual spaces"],
    ["  # nothing", "it is empty"],
    ["nice nice nice nice nice ls", "wrappers are nested too deeply"],
  ])("%j: %s", (command, why) => {
    expect(analyseShell(command)).toEqual({ understood: false, why });
  });

  test("at most 50 commands, wrapped ones counted", () => {
    const list = (count: number): string => Array.from({ length: count }, () => "ls").join(";");
    expect(analyseShell(list(MAX_SEGMENTS)).understood).toBe(true);
    const tooMany = { understood: false, why: "it has more than 50 commands" };
    expect(analyseShell(list(MAX_SEGMENTS + 1))).toEqual(tooMany);
    expect(analyseShell(`sh -c '${list(MAX_SEGMENTS)}'`)).toEqual(tooMany);
  });

  test("at most 32 KB", () => {
    expect(analyseShell(`echo ${"a".repeat(MAX_COMMAND_BYTES - 5)}`).understood).toBe(true);
    expect(analyseShell(`echo ${"a".repeat(MAX_COMMAND_BYTES)}`)).toEqual({
      understood: false,
      why: "it is longer than 32 KB",
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
    ["git -C x log", false],
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
