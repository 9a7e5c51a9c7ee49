// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell commands
import { describe, expect, test } from "vitest";
import { evaluateRules, parseRule, type Rule, type RuleCall, type RuleEffect } from "./rules.ts";

const ROOT = "/w/repo";

/** `"-x"` is a deny rule, `"?x"` an ask rule, anything else an allow rule; the source is its place in the list. */
function rules(...texts: string[]): Rule[] {
  const effects: Record<string, RuleEffect> = { "-": "deny", "?": "ask" };
  return texts.map((text, index) => {
    const effect = effects[text[0] ?? ""];
    return parseRule(effect === undefined ? text : text.slice(1), effect ?? "allow", `config.toml:${index + 1}`);
  });
}

function call(tool: string, args: Record<string, unknown>, subject = ""): RuleCall {
  return { tool, label: tool, class: "mutating", args, subject };
}

function bash(command: string, ...texts: string[]): string {
  return evaluateRules(rules(...texts), call("exec", { command }, command), { root: ROOT }).effect;
}

describe("parseRule", () => {
  test("keeps what was written and where", () => {
    expect(parseRule(" Bash(npm run *) ", "allow", "config.toml:12")).toEqual({
      effect: "allow",
      source: "config.toml:12",
      text: "Bash(npm run *)",
      tool: "Bash",
      pattern: "npm run *",
    });
    expect(parseRule("fs.*", "deny", "session")).toEqual({
      effect: "deny",
      source: "session",
      text: "fs.*",
      tool: "fs.*",
    });
    expect(parseRule("Bash(*)", "ask", "s")).toEqual({ effect: "ask", source: "s", text: "Bash(*)", tool: "Bash" });
    expect(parseRule("Read(app/(group)/*.ts)", "allow", "s").pattern).toBe("app/(group)/*.ts");
  });

  test.each([
    ["", "s: the allow rule '' is empty. Example: Bash(git status)"],
    ["(x)", "s: the allow rule '(x)' does not begin with a tool name. Example: fs.read, Read or fs.*"],
    ["Bash(x", "s: the allow rule 'Bash(x' needs its pattern in one pair of parentheses. Example: Bash(pattern)"],
    ["Bash x", "s: the allow rule 'Bash x' needs its pattern in one pair of parentheses. Example: Bash(pattern)"],
    ["Read()", "s: the allow rule 'Read()' has an empty pattern. Example: Read alone for every call, or Read(pattern)"],
    [
      "Read(!a)",
      "s: the allow rule 'Read(!a)' negates its pattern, which rules do not support. Example: a deny rule for Read(a)",
    ],
    [
      'Bash(a "b)',
      's: the allow rule \'Bash(a "b)\' has a quote that is not closed. Example: Bash(git commit -m "a b")',
    ],
    ["Read(a\u0007b)", "s: the allow rule 'Read(a\u0007b)' contains control characters. Example: Read(src/**)"],
    [
      "WebFetch(domain:*.x)",
      "s: the allow rule 'WebFetch(domain:*.x)' is neither a domain nor a URL. Example: WebFetch(domain:example.com) or WebFetch(https://example.com/docs/*)",
    ],
  ])("%j: %s", (text, message) => {
    expect(() => parseRule(text, "allow", "s")).toThrow(expect.objectContaining({ reason: "ConfigInvalid", message }));
  });

  test("a rule has a longest length", () => {
    expect(() => parseRule(`Bash(${"a".repeat(1000)})`, "deny", "s")).toThrow(/is longer than 1000 characters/);
  });
});

describe("verdicts", () => {
  test("the strictest rule wins, wherever it stands, and the trail holds all", () => {
    const [allow, ask, deny, other] = rules("fs.*", "?Read(src/**)", "-fs.read(src/secret/*)", "Bash");
    const all = [allow, ask, deny, other] as Rule[];
    const verdict = (path: string) => evaluateRules(all, call("fs.read", { path }, path), { root: ROOT });
    expect(verdict("src/secret/a")).toEqual({
      effect: "deny",
      rule: deny,
      trail: [
        { rule: allow, matched: "src/secret/a" },
        { rule: ask, matched: "src/secret/a" },
        { rule: deny, matched: "src/secret/a" },
      ],
    });
    expect(verdict("src/a")).toMatchObject({ effect: "ask", rule: ask });
    expect(verdict("a")).toEqual({ effect: "allow", rule: allow, trail: [{ rule: allow, matched: "a" }] });
    expect(evaluateRules(all, call("web.fetch", {}, "https://x"))).toEqual({ effect: "none", trail: [] });
  });

  test.each(["sed '1etouch y' notes.txt", "sed -n '$!etouch y' notes.txt", "sed '/a/etouch y' - notes.txt"])(
    "a deny rule sees the program that sed starts in %s",
    (command) => {
      const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
      expect(evaluateRules(rules("Bash", "-Bash(touch *)"), call).effect).not.toBe("allow");
    },
  );

  test.each([
    ..."sed '1et\\ouch y' notes.txt|sed -n '1e/usr/bin/t?uch y' notes.txt|sed '1e to\"\"uch y' notes.txt".split("|"),
    ..."awk 'BEGIN{system(\"t\\ouch y\")}'|awk 'BEGIN{\"/*/bin/to*h y\"|getline}'|make -f - <<<'y:;t\\ouch y'".split(
      /\|(?!g)/,
    ),
    'node -e \'require("child_process").execSync("/usr/bin/t?uch y")\'',
    "ex -s -c '!t\\ouch y' -c q notes.txt",
    "gdb -ex '!\\x74ouch y'",
    "zip -TT '/usr/bin/[t]ouch y' -T /tmp/y notes.txt",
    "git clone -u 't\\ouch y' . /tmp/y",
    "printf -v x -v 'a[$(t\\ouch y)]' x",
    "printf -vx -v'a[$(t\\ouch y)]' x",
    "printf ${IFS}-v 'a[$(t\\ouch y)]' x",
    "prlimit --nofile touch x",
    "setarch -R touch x",
    "awk 'BEGIN{E\"t\\ouch y\"|getline}'",
    'awk \'BEGIN{system(E"to""uch y")}\'',
    "prlimit -n touch x",
    "ltrace -b touch x",
    "printf $x 'a[$(t\\ouch y)]' x",
    "test $x 'a[$(t\\ouch y)]'",
    "declare ${IFS}-i 'x=a[$(t\\ouch y)]'",
    "declare -i x='a[$(t\\ouch y)]'",
    "declare -i x; x='a[$(t\\ouch y)]'",
    "typeset -a 'x=($(t\\ouch y))'",
    "awk 'BEGIN{system(\"tou\\\nch y\")}'",
    "git grep -OC -O't\\ouch y' x",
    "python3 -c 'import os;os.system(\"/usr/bin/t?u$1ch y\")'",
    "make -f - <<<'y:;tou${x}ch y'",
    "make -f - <<<'y:;t$[\\ouch y'",
    "make -f - <<<'y:;t$\\ouch y'",
    "ls x >& keys'$(/usr/bin/t?uch y)'",
  ])("a deny rule sees a program through quotes, escapes and patterns in %s", (command) => {
    const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
    expect(evaluateRules(rules("Bash", "-Bash(touch *)"), call).effect).not.toBe("allow");
  });

  test.each([
    "LD_PRELOAD=./x.so time ls",
    "LD_DEBUG=all LD_DEBUG_OUTPUT=x time ls",
    "PATH=. timeout 5 ls",
    "PATH=. nice ls",
    "PATH=. env ls",
    "PATH=. command ls",
    "PATH=. sh -c ls",
    "PATH=. sh -c 'timeout 5 ls'",
    "timeout 5 ls > x",
    "time ls > x",
  ])("an allow rule does not cover what stands around a wrapper in %s", (command) => {
    const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
    expect(evaluateRules(rules("Bash(ls *)"), call).effect).not.toBe("allow");
  });

  test.each(["timeout 5 ls", "LC_ALL=C timeout 5 ls src", "LC_ALL=C sh -c ls"])(
    "an allow rule covers what a harmless wrapper starts in %s",
    (command) => {
      const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
      expect(evaluateRules(rules("Bash(ls *)"), call).effect).toBe("allow");
    },
  );

  test.each(["watch 'ls src/*'", "node -e 'console.log(\"a\\tb\")'", "make build", "awk '{print $1 * 2}' notes.txt"])(
    "a deny rule has nothing to ask about in %s",
    (command) => {
      const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
      expect(evaluateRules(rules("Bash", "-Bash(touch *)"), call).effect).toBe("allow");
    },
  );

  test("a foreign tool gains nothing from its label, but a deny for it holds", () => {
    const foreign = { ...call("mcp.evil.read", {}, "x"), label: "Read" };
    expect(evaluateRules(rules("Read"), foreign).effect).toBe("none");
    expect(evaluateRules(rules("mcp.evil.*", "-Read"), foreign).effect).toBe("deny");
  });

  test("other tools match their subject as text", () => {
    const verdict = (text: string) => evaluateRules(rules(text), call("mcp.x.get", {}, '{"id":7}')).effect;
    expect([verdict('mcp.x.get({"id":*})'), verdict("mcp.x.get(7)")]).toEqual(["allow", "none"]);
  });
});

describe("paths", () => {
  const read = (path: string, ...texts: string[]): string =>
    evaluateRules(rules(...texts), call("fs.read", { path }, path), { root: ROOT }).effect;

  test.each([
    ["src/a.ts", "Read(src/*)", "allow"],
    ["src/a/b.ts", "Read(src/*)", "none"],
    ["src/a/b.ts", "Read(src/**)", "allow"],
    ["./src/x/../a.ts", "Read(./src/*)", "allow"],
    ["/w/repo/src/a.ts", "Read(src/*)", "allow"],
    ["/etc/hosts", "Read(/etc/*)", "allow"],
    ["../x", "Read(**/*)", "none"],
    ["src/../../x", "Read(src/**)", "none"],
    ["src/.env", "Read(src/**)", "none"],
    ["src/.env", "-Read(src/**)", "deny"],
    ["SRC/A.ts", "Read(src/**)", "none"],
    ["SRC/A.ts", "-Read(src/**)", "deny"],
    ["x/../src/a.ts", "-Read(src/**)", "deny"],
    ["/w/repo/src/a.ts", "-Read(src/**)", "deny"],
    ["secret/a\nb/c", "-Read(secret/**)", "deny"],
    ["a/b/.env", "-Read(**/.env)", "deny"],
    ["app/(group)/x.ts", "Read(app/(group)/*)", "allow"],
    ["aaab", "Read((a+)+b)", "none"],
  ])("%j with %s: %s", (path, rule, effect) => {
    expect(read(path, rule)).toBe(effect);
  });

  test("without a root a deny still covers the absolute spelling", () => {
    const verdict = evaluateRules(rules("Read", "-Read(src/**)"), call("fs.read", { path: "/w/repo/src/a" }));
    expect(verdict.effect).toBe("deny");
  });

  test("both ends of a move count", () => {
    const move = (...texts: string[]): string =>
      evaluateRules(rules(...texts), call("fs.move", { from: "src/a", to: "lib/a" }, "src/a -> lib/a")).effect;
    expect([move("fs.move(src/*)"), move("fs.move(src/*)", "fs.move(lib/*)"), move("fs.*", "-fs.*(lib/**)")]).toEqual([
      "none",
      "allow",
      "deny",
    ]);
  });

  test("the glob of a search counts", () => {
    const search = call("fs.search", { pattern: "x", path: "app", glob: ".env" }, "app");
    expect(evaluateRules(rules("Grep", "-Grep(**/.env)"), search).effect).toBe("deny");
  });
});

describe("URLs", () => {
  test.each([
    ["https://example.com/a", "WebFetch(domain:example.com)", "allow"],
    ["https://docs.example.com./a", "WebFetch(domain:example.com)", "allow"],
    ["https://EXAMPLE.com:8080/", "WebFetch(domain:example.com)", "allow"],
    ["https://notexample.com/", "WebFetch(domain:example.com)", "none"],
    ["https://example.com.evil.org/", "WebFetch(domain:example.com)", "none"],
    ["https://example.com@evil.org/", "WebFetch(domain:example.com)", "none"],
    ["https://user@example.com/", "WebFetch(domain:example.com)", "none"],
    ["https://user@example.com/", "-WebFetch(domain:example.com)", "deny"],
    ["https://example.com/", "WebFetch(example.com)", "allow"],
    ["https://a.example.com/", "WebFetch(example.com)", "none"],
    ["https://a.example.com/x", "WebFetch(*.example.com)", "allow"],
    ["https://evil.org/.example.com", "WebFetch(*.example.com)", "none"],
    ["https://evil.org/x.example.com/", "WebFetch(https://*.example.com/*)", "none"],
    ["https://a.b.example.com/x", "WebFetch(*.example.com)", "none"],
    ["https://example.com/docs/a/b?q", "WebFetch(https://example.com/docs/*)", "allow"],
    ["https://example.com/docs/../x", "WebFetch(https://example.com/docs/*)", "none"],
    ["http://example.com/docs/a", "WebFetch(https://example.com/docs/*)", "none"],
    ["https://example.com:8443/", "WebFetch(https://example.com:8443)", "allow"],
    ["https://example.com/", "WebFetch(https://example.com:443)", "allow"],
    ["https://example.com/", "WebFetch(https://example.com:8443)", "none"],
    ["https://example.com/%70rivate/x", "-WebFetch(example.com/private/*)", "deny"],
    ["file://example.com/x", "WebFetch(example.com)", "none"],
    ["not a url", "WebFetch(example.com)", "none"],
    ["not a url", "-WebFetch(example.com)", "ask"],
  ])("%s with %s: %s", (url, rule, effect) => {
    expect(evaluateRules(rules(rule), call("web.fetch", { url }, url)).effect).toBe(effect);
  });
});

describe("commands", () => {
  test.each([
    ["git status", ["Bash(git status)"], "allow"],
    ["git   'status'", ["Bash(git status)"], "allow"],
    ["git status -s", ["Bash(git status)"], "none"],
    ["git status", ["exec(git *)"], "allow"],
    ["npm run", ["Bash(npm run *)"], "allow"],
    ["npm run build -- --x", ["Bash(npm run *)"], "none"],
    ["npm run build -- --x", ["Bash(npm run * -- -*)"], "allow"],
    ["npm run build -- --x y /z", ["Bash(npm run **)"], "allow"],
    ["npm test src/a.test.ts", ["Bash(npm test *)"], "allow"],
    ["npm test ../a.test.ts", ["Bash(npm test *)"], "none"],
    ["npm test /a.test.ts", ["Bash(npm test *)"], "none"],
    ["npm test ~/a.test.ts", ["Bash(npm test *)"], "none"],
    ["npm test //a.test.ts", ["Bash(npm test *)"], "none"],
    ["cp a@~/b c", ["Bash(cp *)"], "none"],
    ["cp a x:///etc/b", ["Bash(cp *)"], "none"],
    ["cp a b:..", ["Bash(cp *)"], "none"],
    ["cargo test --release a", ["Bash(cargo test *)"], "none"],
    ["cargo test --release a", ["Bash(cargo test --release *)"], "allow"],
    ["cargo test -q --release a", ["Bash(cargo test -* *)"], "allow"],
    ["git log main..next src/a.ts", ["Bash(git log *)"], "allow"],
    ["python a.py", ["Bash(python *.py)"], "allow"],
    ["python src/a.py", ["Bash(python *.py)"], "none"],
    ["python src/b/a.py", ["Bash(python **.py)"], "allow"],
    ["python '-cimport os;os.system(\"x\")#.py'", ["Bash(python *.py)"], "none"],
    ["python '-cimport os;os.system(\"x\")#.py'", ["Bash(python **.py)"], "none"],
    ["python ../a.py", ["Bash(python **.py)"], "none"],
    ["python /tmp/a.py", ["Bash(python **.py)"], "none"],
    ["python /tmp/a.py", ["Bash(python /tmp/*.py)"], "allow"],
    ["make a=1 all", ["Bash(make *)"], "allow"],
    ["make 'a=$(shell touch P)'", ["Bash(make *)"], "none"],
    ["make 'a=${shell touch P}'", ["Bash(make *)"], "none"],
    ["make 'a=`touch P`'", ["Bash(make *)"], "none"],
    ["make 'a=$(shell touch P)'", ["Bash(make a=*)"], "none"],
    ["make 'a=$(shell touch P)'", ["Bash(make a=**)"], "none"],
    ["make 'a=$(shell touch P)'", ["Bash(make **)"], "allow"],
    ["make 'a=$(B)/c'", ["Bash(make 'a=$(B)/*')"], "allow"],
    ["make 'a=$(B)/$(shell x)'", ["Bash(make 'a=$(B)/*')"], "none"],
    ["dd if=a of=/dev/sda", ["Bash(dd *)"], "none"],
    ["curl file:///etc/passwd", ["Bash(curl *)"], "none"],
    ["curl https://example.com/a", ["Bash(curl *)"], "allow"],
    ["curl https://example.com/a/b", ["Bash(curl https://example.com/*)"], "none"],
    ["curl https://example.com/a/b", ["Bash(curl https://example.com/**)"], "allow"],
    ["touch *", ["Bash(touch *)"], "none"],
    ["touch a*", ["Bash(touch *)"], "allow"],
    ["git fetch --upl=x", ["Bash(git fetch *)"], "none"],
    ["git fetch --upl=x", ["Bash(git fetch -*)"], "none"],
    ["ssh -oProxyCommand=x h", ["Bash(ssh *)"], "none"],
    ["rsync -e x a b", ["Bash(rsync *)"], "none"],
    ["go test -exec x ./a", ["Bash(go test *)"], "none"],
    ["go test -exec x ./a", ["Bash(go test -* *)"], "none"],
    ["tar -Ix -cf a b", ["Bash(tar *)"], "none"],
    ["tar If x a", ["Bash(tar *)"], "none"],
    ["tar cf a.tar src", ["Bash(tar *)"], "allow"],
    ["npm run build", ["Bash(npm run:*)"], "allow"],
    ["npm runx", ["Bash(npm run *)"], "none"],
    ["npm run-script x", ["Bash(npm run *)"], "none"],
    ["npm run test:unit", ["Bash(npm run test:?*)"], "allow"],
    ["git commit -m 'a b'", ['Bash(git commit -m "a b")'], "allow"],
    ["git commit -m a b", ['Bash(git commit -m "a b")'], "none"],
    ["./scripts/x", ["Bash(./scripts/*)"], "allow"],
    ["./scripts/../../x", ["Bash(./scripts/*)"], "none"],
    ["/tmp/git status", ["Bash(git status)"], "none"],
    ["git status > x", ["Bash(git *)"], "none"],
    ["git status < x", ["Bash(git *)"], "none"],
    ["git status 2>&1 >/dev/null", ["Bash(git *)"], "allow"],
    ["PATH=. git status", ["Bash(git *)"], "none"],
    ["LC_ALL=C git status", ["Bash(git *)"], "allow"],
    ["git status; PATH=.", ["Bash(git *)"], "none"],
    ["git -c core.pager=x log", ["Bash(git *)"], "none"],
    ["git $X", ["Bash(git *)"], "none"],
    ["git $X", ["Bash"], "allow"],
  ])("%s with %j: %s", (command, texts, effect) => {
    expect(bash(command, ...texts)).toBe(effect);
  });

  test("all parts must be allowed, any part can be denied", () => {
    expect([
      bash("git add . && npm test", "Bash(git add *)"),
      bash("git add . && npm test", "Bash(git add *)", "Bash(npm test)"),
      bash("git add . && npm test", "Bash(git add *)", "Bash(npm test)", "-Bash(npm *)"),
      bash("git add . && npm test", "Bash", "?Bash(npm *)"),
      bash("(git add .; { npm test; })", "Bash(git add *)"),
    ]).toEqual(["none", "allow", "deny", "ask", "none"]);
  });

  test("parts that the caller lets pass need no rule", () => {
    const command = "git add . && ls";
    const passes = (words: { readonly words: readonly string[] }): boolean => words.words[0] === "ls";
    const verdict = evaluateRules(rules("Bash(git add *)"), call("exec", { command }), { passes });
    expect(verdict.effect).toBe("allow");
  });

  test("what a wrapper starts must be allowed too; a wrapper that only passes on needs no rule", () => {
    expect([
      bash("timeout 5 npm test", "Bash(npm test)"),
      bash("timeout 5 npm test > x", "Bash(npm test)"),
      bash("env X=1 npm test", "Bash(npm test)"),
      bash("sh -c 'npm test'", "Bash(npm test)"),
      bash("sudo npm test", "Bash(npm test)"),
      bash("sudo npm test", "Bash(sudo *)"),
      bash("sudo npm test", "Bash(sudo *)", "Bash(npm test)"),
      bash("find . -exec rm {} +", "Bash(find *)"),
      bash("xargs rm", "Bash(xargs *)"),
      bash("xargs git status", "Bash(xargs *)", "Bash(git status)"),
      bash("xargs git status", "Bash(xargs *)", "Bash(git status *)"),
      bash("xargs git status", "Bash(xargs *)", "Bash(git status **)"),
    ]).toEqual(["allow", "none", "none", "allow", "none", "none", "allow", "none", "none", "none", "none", "allow"]);
  });

  test.each([
    ["git push"],
    ["git push origin main"],
    ["/usr/bin/git push"],
    ["GIT push"],
    ["git -C x push"],
    ["git --no-pager push"],
    ["env FOO=1 git push"],
    ["timeout 5 git push"],
    ["sh -c 'ls; git push'"],
    ["sudo git push"],
    ["xargs git push"],
    ["ls && g\\it 'push'"],
    ["git push > x"],
    ["PATH=. git push"],
    ["watch 'git push'"],
    ["ssh host git push"],
    ["for i in 1; do git push; done"],
    ["echo $(git push)"],
    ["cat <(git push)"],
    ["f() { git push; }; f"],
    ["trap 'git push' EXIT"],
    ["bash <<'E'\ngit push\nE"],
    ["$'git' push"],
    ["git push 'unclosed"],
  ])("%s cannot escape a deny of git push", (command) => {
    expect(bash(command, "Bash", "Bash(git *)", "-Bash(git push)")).toBe("deny");
  });

  test.each([
    ["git $X", "Harness cannot tell whether the deny rule Bash(git push) (config.toml:2) covers git $X"],
    ["$X push", "Harness does not understand the command: $X is in the place of a program name"],
    ["find . $X", "$X is only known at run time, and the deny rule Bash(git push) (config.toml:2) may apply"],
    ["xargs git", "Harness cannot tell whether the deny rule Bash(git push) (config.toml:2) covers git"],
    ["git p*", "Harness cannot tell whether the deny rule Bash(git push) (config.toml:2) covers git p*"],
    [
      "perl -e '`git push`'",
      "perl may run git, and the deny rule Bash(git push) (config.toml:2) applies to that program",
    ],
    [
      "sed -f - x <<<'1egit push'",
      "sed may run git, and the deny rule Bash(git push) (config.toml:2) applies to that program",
    ],
  ])("%s asks, although the tool is allowed", (command, why) => {
    const verdict = evaluateRules(rules("Bash", "-Bash(git push)"), call("exec", { command }));
    expect(verdict).toEqual({ effect: "ask", why, trail: [expect.objectContaining({ matched: command })] });
  });

  test.each([
    "echo curl x | xargs -I{} {}",
    "echo curl x | xargs -I{} env {}",
    "echo curl | xargs --replace=R R x",
    "bash <(echo curl x)",
    'python3 "$x"',
    "tar -I'curl x' -cf a b",
    "tar -cI 'cu\"\"rl x' -f a b",
    "tar cIf 'cu\"\"rl x' a b",
    "tar --use-comp='cu\"\"rl x' -cf a b",
    "env 'BASH_FUNC_ls%%=() { cu\"\"rl x; }' bash -c ls",
    "env PATH=. ls",
    "BASH_ENV=x bash -c ls",
    "export PATH=.; ls",
    "test -v 'a[$(cu\"\"rl x)]'",
    "[ -v 'a[`c\\url x`]' ]",
    "printf -v 'a[$(c\\url x)]' y",
    "read 'a[$(c\\url x)]' < y",
    "unset 'a[$(c\\url x)]'",
    "git fetch --upl='cu\"\"rl x' y",
    "ssh -oProxyCommand='cu\"\"rl x' h",
    "rsync -ave 'cu\"\"rl x' a b",
    "go test -exec 'cu\"\"rl x' ./a",
  ])("%s does not pass a deny of curl", (command) => {
    expect(bash(command, "Bash", "-Bash(curl *)")).not.toBe("allow");
  });

  test("options of a deny rule hold in every spelling", () => {
    expect([
      bash("git fetch --upl=x y", "Bash", "-Bash(git fetch --upload-pack=*)"),
      bash("git fetch y --upload-pack x", "Bash", "-Bash(git fetch --upload-pack=*)"),
      bash("rm a -v", "Bash", "-Bash(rm -*)"),
      bash("rm a", "Bash", "-Bash(rm -*)"),
      bash("rm /a", "Bash", "-Bash(rm **)"),
    ]).toEqual(["deny", "deny", "deny", "allow", "deny"]);
  });

  test.each(["grep -r 'git push' .", "git log --grep push", "echo git push", "npm run push", "git status"])(
    "%s is not touched by a deny of git push",
    (command) => {
      expect(bash(command, "Bash", "-Bash(git push)")).toBe("allow");
    },
  );

  test("the trail follows the rules and says which command each matched", () => {
    const [deny, allow] = rules("-Bash(rm *)", "Bash(ls *)") as [Rule, Rule];
    expect(evaluateRules([deny, allow], call("exec", { command: "ls a; env rm b" }))).toEqual({
      effect: "deny",
      rule: deny,
      trail: [
        { rule: deny, matched: "rm b" },
        { rule: allow, matched: "ls a" },
      ],
    });
  });
});
