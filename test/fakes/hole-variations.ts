/**
 * Variations of the holes in `test/corpora/holes.json`, made by templates: other operators, nesting, quoting and languages, other file names,
 * rule spellings, encodings and repositories. The same seed gives the same cases.
 */
import { createSeededRandom, type SeededRandom } from "../corpora/seeded-random.ts";
import type { HoleCase } from "./hole-cases.ts";
import { expansion, indirection, smallLanguage, widened } from "./hole-commands.ts";
import { disguise } from "./shell-transforms.ts";

/** How many variations of each hole there are, from the first hole on. Those of hole 10 need a terminal. */
const COUNTS = [60, 40, 24, 6, 48, 20, 30, 20, 24, 6, 60, 6, 46];

type Make = (random: SeededRandom) => HoleCaseParts;
type HoleCaseParts = HoleCase extends infer Case
  ? Case extends HoleCase
    ? Omit<Case, "hole" | "name">
    : never
  : never;

/** Without those of holes that are not among `holes`, where it is given. */
export function holeVariations(seed: number, holes?: ReadonlySet<number>): HoleCase[] {
  return COUNTS.flatMap((count, index) => {
    const hole = index + 1;
    // Each hole has a sequence of its own, so that more of one do not change the others.
    const random = createSeededRandom(seed + hole);
    const made = new Map<string, HoleCaseParts>();
    const make = MAKERS[index] as Make;
    for (let tries = 0; made.size < count && tries < count * 50; tries++) {
      const parts = make(random);
      made.set(JSON.stringify(parts), parts);
    }
    if (holes !== undefined && !holes.has(hole)) return [];
    return [...made.values()].map((parts, at) => ({ hole, name: `${hole}.${at + 1}`, ...parts }) as HoleCase);
  });
}

const DENY_TOUCH = ["deny Bash(touch *)"];
const ALLOW = ["allow Bash"];

/** One for each hole, in their order. */
const MAKERS: readonly Make[] = [
  (random) => quietly(random, expansion(random)),
  (random) => quietly(random, smallLanguage(random)),
  planted,
  (random) => ({
    kind: "sessions",
    before: Array.from({ length: 1 + random.integer(3) }, () => random.pick(["/", "HOME", "poisoned", "poisoned"])),
    command: random.pick(ESCAPES),
  }),
  steering,
  connecting,
  inHome,
  judged,
  asked,
  (random) => ({
    kind: "keys",
    typed: Array.from({ length: 1 + random.integer(5) }, () =>
      random.pick(["o\r", "t\r", "g\r", "once\r", "o\n", "\ro\r", "y\ro\r"]),
    ).join(""),
  }),
  ruled,
  (random) => ({
    kind: "older",
    store: random.pick(["sqlite", "jsonl"]),
    turns: 1 + random.integer(3),
    later: 1 + random.integer(3),
  }),
  leaving,
];

/** Nobody is asked about it, or a rule denies it. */
function quietly(random: SeededRandom, command: string): HoleCaseParts {
  const isDisguised = random.integer(3) === 0;
  const text = isDisguised ? disguise({ command }, () => random.integer(1 << 30) / (1 << 30)) : command;
  return { kind: "command", command: text, ...(random.integer(2) === 0 ? { rules: DENY_TOUCH } : {}) };
}

/** Mostly every question is answered with yes, so that the confinement is what holds. */
function approved(random: SeededRandom): { readonly rules: readonly string[] } | { readonly autoApprove: true } {
  return random.integer(4) === 0 ? { rules: ALLOW } : { autoApprove: true };
}

const ESCAPES = [
  "touch %OUT%/%MARK%; cat %HOME%/.ssh/id_rsa",
  "echo x > %OUT%/%MARK%; cat %HOME%/.aws/credentials",
  "mkdir -p %OUT%/%MARK%; cat %HOME%/.local/share/harness/machine.key",
  "cp notes.txt ../../%MARK%; cp notes.txt %HOME%/%MARK%",
];

const GIT = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
const HEAD = "ref: refs/heads/main\n";

/** What a repository brings to switch the sandbox off, or to have git run something. */
function planted(random: SeededRandom): HoleCaseParts {
  const folder = random.pick([
    "no-such/folder",
    "/no/such",
    "../gone",
    "~/gone",
    "notes.txt",
    ".git/objects/x",
    "/dev/null/x",
    "loop",
  ]);
  const name = random.pick(["e", "a/b", "e.git", "..e", "x y"]);
  const program = random.pick(["fsmonitor", "pager", "editor", "sshCommand", "askPass"]);
  const plant = random.pick<Record<string, string>>([
    { ".git/HEAD": HEAD, ".git/config": `${GIT}\thooksPath = ${folder}\n`, loop: "-> loop" },
    { ".git/HEAD": HEAD, ".git/config": `${GIT}[include]\n\tpath = ${folder}\n` },
    { ".git/HEAD": HEAD, ".git/config": `${GIT}\tworktree = ${folder}\n` },
    { [`.git/modules/${name}/config`]: GIT },
    { [`.git/modules/${name}/config`]: "dir", [`.git/modules/${name}/hooks`]: "a file" },
    { ".git/HEAD": HEAD, ".git/config": GIT, [`.git/modules/${name}/commondir`]: `${folder}\n` },
    { ".git/HEAD": HEAD, ".git/config": GIT, [`.git/worktrees/${random.pick(["w", "v"])}/gitdir`]: `${folder}/.git\n` },
    { ".git/HEAD": HEAD, ".git/config": GIT, ".git/commondir": `${folder}\n` },
    { ".git/HEAD": HEAD, ".git/config": GIT, ".git/objects/info/alternates": `${folder}\n` },
    { ".git": `gitdir: ${folder}\n` },
    { ".git": `-> ${random.pick(["../outside", "loop", "/no/such", ".git"])}`, loop: "-> loop" },
    { ".git/hooks": `-> ${random.pick(["../../outside", "/no/such", "hooks"])}`, ".git/HEAD": HEAD },
    { ".git/config": "-> /no/such", ".git/HEAD": HEAD },
    { ".harness": "-> ../outside", ".vscode": "-> /no/such", ".idea": "a file" },
    { ".git/HEAD": HEAD, ".git/config": `${GIT}\t${program} = "touch %OUT%/%MARK%; touch %MARK%"\n` },
    {
      ".git/HEAD": HEAD,
      ".git/config": `${GIT}[diff]\n\texternal = touch %MARK%\n[alias]\n\tstatus = !touch %MARK%\n`,
    },
  ]);
  const quiet = random.pick([
    "git status",
    "git log -3",
    "git diff",
    "git branch -a",
    "ls -la; git show",
    "git ls-files",
  ]);
  return random.integer(2) === 0
    ? { kind: "command", command: random.pick(ESCAPES), plant, ...approved(random) }
    : { kind: "command", command: quiet, plant };
}

const WRITE_RULES = [
  "Write(*)",
  "Write(**)",
  "Write",
  "fs.*",
  "fs.write",
  "Write(**/*)",
  "Write(.*/**)",
  "Write(.*)",
  "W*",
  "*",
];
const STEERING = [
  ".git/config .git/hooks/post-checkout .git/hooks/pre-commit .git/info/attributes .git/commondir .git/modules/e/config .git/modules/e/hooks/x",
  ".harness/hooks/x.md .harness/tools/x.md harness.md .vscode/tasks.json .vscode/settings.json .idea/workspace.xml .envrc .mcp.json",
  ".claude/settings.json .cursor/mcp.json .bashrc .husky/pre-commit .exrc .gdbinit sub/.git/config sub/.vscode/tasks.json .GIT/config",
  "x.code-workspace ./.git/config sub/../.vscode/x .devcontainer/devcontainer.json",
].flatMap((line) => line.split(" "));
const SECRET_FILES = [".env", "config/.env", ".env.local", "keys/server.pem", "id_rsa", "link"];

function steering(random: SeededRandom): HoleCaseParts {
  const rules = Array.from({ length: 1 + random.integer(2) }, () => `allow ${random.pick(WRITE_RULES)}`);
  const path = random.pick(STEERING);
  const by = random.pick(["rules", "rules", "auto-approve", "session rule"] as const);
  const [tool, args] = random.pick<readonly [string, Record<string, unknown>]>([
    ["fs_write", { path, content: "planted" }],
    ["fs_write", { path, content: "planted" }],
    ["fs_move", { from: "plain.txt", to: path }],
    ["fs_move", { from: "folder", to: random.pick([".vscode", ".git/hooks", "sub/.git", ".harness"]) }],
    ["fs_edit", { path: ".git/config", old_text: "bare", new_text: "planted" }],
    ["fs_remove", { path: random.pick([".git/config", ".git/hooks", ".git"]), recursive: true }],
  ]);
  switch (random.integer(4)) {
    case 0: {
      const secret = random.pick(SECRET_FILES);
      const read = random.pick(["Read(**)", "Read(*)", "Read", "fs.read", "Read(**/*)", "fs.*", "R*"]);
      const searched = { pattern: "secret", ...random.pick([{ path: secret }, { glob: secret }, {}]) };
      const [reads, given] = random.pick<readonly [string, Record<string, unknown>]>([
        ["fs_read", { path: secret }],
        ["fs_search", searched],
      ]);
      return { kind: "file", tool: reads, args: given, rules: [`allow ${read}`, "allow Grep"] };
    }
    case 1: {
      const command = random.pick([
        `echo planted > ${path}`,
        `mkdir -p "$(dirname ${path})"; echo planted >> ${path}`,
        `cp plain.txt ${path}`,
        `ln -sf ../plain.txt ${path}`,
        `mv folder ${path.split("/")[0]}`,
        "git config core.hooksPath folder",
        "git config --file .git/config core.fsmonitor planted",
        "rm -rf .git/hooks; mv folder .git/hooks",
        `perl -e 'open F, ">", "${path}"; print F "planted"'`,
        "mv .git moved; cp -r moved .git; echo planted >> .git/config",
      ]);
      return { kind: "command", command, ...approved(random) };
    }
    default:
      return by === "rules" ? { kind: "file", tool, args, rules } : { kind: "file", tool, args, by };
  }
}

/** A socket or a server, and a program that connects to it. */
function connecting(random: SeededRandom): HoleCaseParts {
  const isReader = random.integer(3) === 0;
  const place = random.pick(isReader ? ["home", "var", "workspace", "abstract"] : ["home", "var", "abstract"]);
  const target = place === "abstract" ? "\\0%SOCKET:abstract%" : `%SOCKET:${place}%`;
  const command = random.pick([
    place === "abstract"
      ? "curl -s --max-time 2 --abstract-unix-socket %SOCKET:abstract% http://x/%MARK%"
      : `curl -s --max-time 2 --unix-socket %SOCKET:${place}% http://x/%MARK%`,
    `/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("${target}")'`,
    `perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => "${target}")'`,
    "exec 3<>/dev/tcp/127.0.0.1/%PORT%",
    "curl -s --max-time 2 --noproxy '*' http://127.0.0.1:%PORT%/%MARK%",
  ]);
  const list = random.pick([{}, { domains: [] }, { domains: ["example.com"] }]);
  return { kind: "command", command, ...(isReader ? {} : { ...approved(random), ...list }) };
}

const CREDENTIALS = [
  ".pgpass .my.cnf .netrc .git-credentials .npmrc .pypirc .aws/credentials .azure/msal_token_cache.json .kube/config .docker/config.json",
  ".config/gh/hosts.yml .config/gcloud/credentials.db .config/rclone/rclone.conf .config/op/config .cargo/credentials.toml .vault-token",
  ".gnupg/secring.gpg .ssh/id_ed25519 .terraform.d/credentials.tfrc.json .gem/credentials .m2/settings.xml .gradle/gradle.properties",
  ".composer/auth.json .bash_history .mozilla/firefox/logins.json .config/Code/User/globalStorage/state.vscdb .wrangler/config.toml",
  ".local/share/harness/machine.key .local/share/keyrings/login.keyring .password-store/x.gpg .config/sops/age/keys.txt .boto .s3cfg",
].flatMap((line) => line.split(" "));

function inHome(random: SeededRandom): HoleCaseParts {
  const file = random.pick(CREDENTIALS);
  const folder = random.pick([
    "HOME/",
    "HOME/.",
    "HOME/..",
    "HOME/project/..",
    "/home/..",
    "HOME/.local/share/harness/x",
    "HOME/.config/harness",
  ]);
  if (random.integer(8) === 0) return { kind: "folder", folder };
  const command = random.pick([
    `cat %HOME%/${file}`,
    `cat ~/${file}`,
    `base64 -w0 < "$HOME/${file}"`,
    `tar -C %HOME% -cf - ${file} | cat`,
    `cat /proc/self/root%HOME%/${file}`,
    `echo planted >> %HOME%/${random.pick([".bashrc", ".profile", ".zshenv", ".bash_profile", ".config/fish/config.fish"])}`,
    `printf planted > %HOME%/${random.pick([".local/bin/ls", "bin/git", ".cargo/bin/cargo", "go/bin/gopls"])}`,
    "ln -s %HOME% h; echo planted >> h/.bashrc; cat h/.pgpass",
  ]);
  return { kind: "command", command, ...(random.integer(3) === 0 ? {} : approved(random)) };
}

/** Long and repetitive, and sometimes rules that match in many ways. */
function judged(random: SeededRandom): HoleCaseParts {
  const times = random.pick([60, 500, 4000]);
  const command = random.pick([
    () => `git tag ${"-l ".repeat(times)}'!'`,
    () => `git ${random.pick(["log", "branch", "diff"])} ${random.pick(["-1 ", "--stat ", "-p "]).repeat(times)}'!'`,
    () =>
      `${random.pick(["grep", "rg", "ls", "find", "sort"])} ${random.pick(["-a ", "-l ", "a ", "-- "]).repeat(times)}'!'`,
    () => `awk '${random.pick(["(", "{", "/a/ ", "a ", "! "]).repeat(times)}'`,
    () => `sed '${random.pick(["{", "p;", "1,", "s/a/b/;"]).repeat(times)}'`,
    () => `jq '${random.pick(["[", ".a|", ".[]", "-"]).repeat(times)}'`,
    () => `echo ${random.pick(["{a,b}", "[a", "\\(", "$((", "$(", '"${x:-', "a*"]).repeat(times)}`,
    () => `ls ${"a".repeat(times * 5)}b`,
    () => `${"true && ".repeat(times)}ls`,
    () => `find . ${"\\( ".repeat(times)}-name a ${"\\) ".repeat(times)}`,
  ])();
  const rules = random.pick([
    [],
    [`allow Bash(ls ${"a*".repeat(40)}c)`],
    ["deny Bash(* * * * * * * * x)"],
    [`deny Bash(git ${"* -l ".repeat(20)}!)`],
  ]);
  return { kind: "judged", command, rules };
}

/** A command that a person is asked about, and that wants to look like something else. */
function asked(random: SeededRandom): HoleCaseParts {
  const break_ = random.pick([
    "\n",
    "\r",
    "\r\n",
    "\u2028",
    "\u0085",
    "\v",
    "\f",
    "\u001b[2J",
    "\u001b[1A",
    "\n".repeat(60),
  ]);
  const forged = random.pick([
    "  [o] allow once  [d] deny",
    "  > ",
    "Bash wants to run:",
    "  │ ls",
    "  Runs in: reader confinement",
    "⟨U+000A⟩",
  ]);
  const hidden = random.pick([
    "\u200b",
    "\u202e",
    "\u2066",
    "\ufe0f",
    "\u00ad",
    "\u3164",
    "\u{e0061}",
    "\u0300".repeat(30),
    "\u00a0",
    "\t",
  ]);
  const command = random.pick([
    `touch made${break_}${forged}${break_}`,
    `touch ma${hidden}de ${forged}`,
    `${": ok\n".repeat(random.pick([19, 21, 200]))}touch made${break_}`,
    `ls ${" ".repeat(random.pick([70, 300, 2000]))}; touch made`,
    `touch made #${hidden}${break_}${forged}`,
    `touch ${"a".repeat(random.pick([79, 80, 81, 4000]))}${hidden}`,
  ]);
  return { kind: "question", command, columns: random.pick([20, 80, 120, 400]), rows: random.pick([8, 24, 50]) };
}

function ruled(random: SeededRandom): HoleCaseParts {
  if (random.integer(5) < 2) {
    const { rule, command } = widened(random);
    return { kind: "command", command, rules: [rule] };
  }
  const [denied, args] = random.pick([
    ["touch", "%MARK%"],
    ["curl", "-so %MARK% file:///etc/hostname"],
  ] as const);
  const rule = random.pick([`deny Bash(${denied} *)`, `deny Bash(${denied}:*)`, `deny Bash(${denied})`]);
  const command = indirection(random).replaceAll("%DENIED%", denied).replaceAll("%ARGS%", args);
  return { kind: "command", command, rules: [...ALLOW, rule] };
}

const FORMS = [
  "xxd -p|xxd|xxd -c 7|xxd -b -c 4|rev|fold -w 1|fold -w 3|fold -w 19|od -c|od -b|od -x|od -An -tx1|od -An -tu1 -w5|base32|base32 -w 13|base64|base64 -w 11",
  "basenc --base16|basenc --base32hex|hexdump -C|hexdump|tr a-z A-Z|sed s/./\\&_/g|base32 - fold -w 9|xxd -p - fold -w 5|base64 - fold -w 1",
  "grep -o .|cat -A|nl|tr a-zA-Z n-za-mN-ZA-M|jq -R .|tac|split -b 8 --filter=cat|sed -n l|uniq -c|paste -s|awk '{ print toupper($0) }'",
]
  .join("|")
  .split("|");

const VALUES = [
  "password={letters:14}|PASSWORD: {letters:10}|api_key={letters:20}|apiKey: '{letters:24}'|DB_PASSWORD={letters:12}|secret_key = \"{letters:18}\"",
  '"password": "{letters:16}"|client_secret={lower:32}|auth_token={letters:28}|{=ABSK}{base64:128}|{=sha256~}{url:43}|{=s.}{alnum:24}|{=eyJrIjoi}{alnum:90}',
  "{=API-}{upper:26}|{alnum:6}_{alnum:29}_mmk|{=EAAC}{alnum:120}|{=shpat_}{alnum:32}|{=shpss_}{alnum:32}|{=hvs.}{alnum:95}|{=glsa_}{alnum:32}_{hex:8}",
]
  .join("|")
  .split("|");

function leaving(random: SeededRandom): HoleCaseParts {
  if (random.integer(3) === 0) return { kind: "value", text: random.pick(VALUES) };
  const [first = "", ...more] = random.pick(FORMS).split(" - ");
  const command = [`${first} notes.txt`, ...more].join(" | ");
  const reads = /^(?:tr|split)/.test(first) ? `cat notes.txt | ${first}` : command;
  return { kind: "encoded", command: reads, before: random.pick(["", "a", "key: ", "the key is\n", "€ "]) };
}
