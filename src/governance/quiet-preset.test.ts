import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { everydayCommands, hostileCommands } from "../../test/fakes/shell-corpora.ts";
import { blockedProgram, quietDecision, suggestArgvGlob } from "./quiet-preset.ts";
import { evaluateRules, parseRule } from "./rules.ts";

const ROOT = "/w/repo";

const everyday = everydayCommands();
const bypasses = hostileCommands().filter(({ rules, cwd }) => rules.length === 0 && cwd === undefined);

function isQuiet(command: string): boolean {
  return quietDecision({ tool: "exec", args: { command } }, ROOT).quiet;
}

describe("commands", () => {
  test("a quiet command does not make what is joined to it quiet", () => {
    // Not from another folder, where `../x` is another file.
    const quiet = everyday
      .map((row) => row.command)
      .filter((command) => !/[\n#]|\bcd\b/.test(command) && isQuiet(command));
    // Some are loud only for what is on the disk, or for what is there when they run alone.
    const loud = bypasses
      .map((row) => row.command)
      .filter((command) => !isQuiet(command) && !/[\n\\]|<<|^\s*#/.test(command));
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...quiet), { maxLength: 4 }),
        fc.constantFrom(" && ", " ; ", " | ", " || ", "\n"),
        fc.constantFrom(...loud.filter((command) => !/^\s*$|[|&]\s*$/.test(command))),
        fc.boolean(),
        (before, joint, command, quietAfter) => {
          const parts = [...before.map(withoutComment), command, ...(quietAfter ? ["ls"] : [])];
          expect(isQuiet(parts.join(joint))).toBe(false);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("text around quiet commands is never both read and dropped", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ls cat rm ;&|()<>$`'\"\\\n#{}*~=") }), (text) => {
        const decision = quietDecision({ tool: "exec", args: { command: `ls ${text}; rm x` } }, ROOT);
        const swallowed = /['"#\\]|<</.test(text);
        expect(decision.quiet && !swallowed).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("says why", () => {
    const why = (command: string): string => quietDecision({ tool: "exec", args: { command } }, ROOT).why;
    expect([why("ls"), why("rm x"), why("cat .env"), why("ls $X"), why("sort -o x"), why("cat ../x")]).toEqual([
      "all its commands only read inside the workspace",
      "rm is not in the list of quiet programs",
      ".env is sensitive: environment secrets",
      "$X is only known at run time",
      "sort -o is not in the list of quiet options",
      "../x is outside the workspace",
    ]);
  });

  test("a folder to run in moves the paths; whether git may run there is seen on the disk", () => {
    const quiet = (args: Record<string, unknown>): boolean => quietDecision({ tool: "exec", args }, ROOT).quiet;
    expect([
      quiet({ command: "cat ../a", cwd: "src" }),
      quiet({ command: "cat ../.env", cwd: "src" }),
      quiet({ command: "cat a", cwd: "/etc" }),
      quiet({ command: "git status", cwd: "vendor/x" }),
      quiet({ command: "git status", cwd: "." }),
      quiet({ command: "ls", timeout_ms: 1000 }),
      quiet({ command: "ls", env: { PATH: "." } }),
      quiet({ command: ["ls"] }),
      quiet({}),
    ]).toEqual([true, false, false, true, true, true, false, false, false]);
  });
});

describe("files", () => {
  test.each([
    ["fs.read", { path: "src/a.ts" }, true],
    ["fs.read", { path: "/w/repo/src/a.ts", offset: 1, limit: 10 }, true],
    ["fs.read", { path: "/etc/passwd" }, false],
    ["fs.read", { path: "../x" }, false],
    ["fs.read", { path: ".env" }, false],
    ["fs.read", { path: ".env.example" }, true],
    ["fs.read", { path: ".git/config" }, false],
    ["fs.read", { path: ".harness/x" }, false],
    ["fs.read", { path: { a: 1 } }, false],
    ["fs.list", {}, true],
    ["fs.list", { path: "src" }, true],
    ["fs.list", { path: ".ssh" }, false],
    ["fs.glob", { pattern: "**/*.ts" }, true],
    ["fs.glob", { pattern: "**/*" }, true],
    ["fs.glob", { pattern: "**/.env*" }, false],
    ["fs.glob", { pattern: "*.pem", path: "certs" }, false],
    ["fs.glob", { pattern: "config", path: ".git" }, false],
    ["fs.glob", { pattern: "../**" }, false],
    ["fs.search", { pattern: "/etc/passwd|.env" }, true],
    ["fs.search", { pattern: "KEY", path: "src", ignore_case: true, output: "content" }, true],
    ["fs.search", { pattern: "KEY", path: ".env" }, false],
    ["fs.search", { pattern: "KEY", path: ".git" }, false],
    ["fs.search", { pattern: "KEY", glob: "*.ts" }, true],
    ["fs.search", { pattern: "KEY", glob: "!*.md" }, true],
    ["fs.search", { pattern: "KEY", glob: "*" }, false],
    ["fs.search", { pattern: "KEY", glob: "*.{ts,key}" }, false],
    ["fs.search", { pattern: "KEY", hidden: true }, false],
    ["fs.write", { path: "src/a.ts" }, false],
    ["web.fetch", { url: "https://example.com" }, false],
    ["ask_user", { question: ".env?" }, true],
    ["mcp.x.read", { path: "src" }, false],
  ])("%s %j: %j", (tool, args, quiet) => {
    expect(quietDecision({ tool, args }, ROOT).quiet).toBe(quiet);
  });
});

describe("blocked programs", () => {
  test.each([
    ["security find-generic-password", "deny"],
    ["/usr/bin/secret-tool lookup a b", "deny"],
    ['k\\ey"ctl" show', "deny"],
    ["env X=1 timeout 5 kwalletcli", "deny"],
    ["sh -c 'sudo keyctl show'", "deny"],
    ["echo 1 | xargs keyctl print", "deny"],
    ["$X 'sec'urity", "ask"],
    ["watch 'keyctl show'", "deny"],
    ["for i in 1; do keyctl show; done", "deny"],
    ["echo $(gh auth token)", "deny"],
    ["git -C x credential fill", "deny"],
    ["$(echo key)ctl show", "ask"],
    ["script-that-takes keyctl", "ask"],
    ["git -c core.pager=keyctl log", "deny"],
    ["grep -r security src", undefined],
    ["git commit -m 'fix: security'", undefined],
    ["cd security", undefined],
    ["ls $HOME", undefined],
    ["npm audit", undefined],
  ])("%s: %s", (command, effect) => {
    expect(blockedProgram(command)?.effect).toBe(effect);
  });
});

describe("suggestArgvGlob", () => {
  test.each([
    ["git push origin main", "git push *"],
    ["npm run build", "npm run *"],
    ["cargo test --all", "cargo test --all *"],
    ["cargo test --release a b", "cargo test --release *"],
    ["git commit -m 'fix: a' -- src/a.ts", "git commit -m * -- *"],
    ["touch /tmp/a b", "touch /tmp/a *"],
    ["cp -r ../a b", "cp -r ../a *"],
    ['gh issue create --title="a b"', 'gh issue * "--title=a b" *'],
    ["prettier *.ts", "prettier *.ts *"],
    ["curl -s https://example.com/a -o a", "curl -s * -o *"],
    ["docker ps", "docker ps *"],
    ["go test ./...", "go test *"],
    ["git", "git"],
    ["mkdir -p a/b", "mkdir -p *"],
    ["'jq' . a.json 2>/dev/null", "jq *"],
    ["./scripts/check.sh --all", "./scripts/check.sh --all *"],
  ])("%s: %s", (command, expected) => {
    expect(suggestArgvGlob(command)).toBe(expected);
    const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
    const offered = parseRule(`Bash(${expected})`, "allow", "session");
    expect(evaluateRules([offered], call).effect).toBe("allow");
  });

  test.each([
    "ls && rm x",
    "ls | wc",
    "ls $X",
    "ls > x",
    "X=1 ls",
    "ls &",
    "sh x.sh",
    "sed -i s/a/b/ x",
    "bash -c ls",
    "python3 x.py",
    "python3.12 x.py",
    "node x.js",
    "perl x",
    "sudo ls",
    "env ls",
    "env",
    "xargs ls",
    "timeout 5 ls",
    "find . -delete",
    "ssh host ls",
    "npx x",
    "npm exec x",
    "docker exec c x",
    "docker --host x ps",
    "git -C x log",
    "git -c a=b log",
    "keyctl show",
    "PATH=.",
    "'a b' c",
    "tar czf x.tgz *",
    "echo '-(a)'",
    "",
  ])("nothing for %j", (command) => {
    expect(suggestArgvGlob(command)).toBeUndefined();
  });
});

function withoutComment(command: string): string {
  return command.replace(/ #.*$/, "");
}
