/**
 * Sessions of the whole program under several policies, for holding a backtest against what was decided live: files, links, commands
 * of every kind, hosts, tools of the project, hooks, plan mode, labels, answers that add rules, calls side by side and repeated.
 * Judging looks at a real folder; programs and the network are stood in for, since some commands are hostile.
 */
import { symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { defaultSettings, type Project, type Settings } from "#artifacts";
import { type EffectPorts, noServers } from "#base";
import type { Plugin } from "#engine";
import { type Policy, policyOf, RecordedCalls, type RecordedSession } from "#governance";
import { type Decision, type Event, forSession, type SessionCommandKind, type SessionCommandOf } from "#protocol";
import { callingProvider, type WantedCall } from "./calling-provider.ts";
import { openMemoryHarness } from "./memory-harness.ts";
import { noMemory } from "./no-memory.ts";
import { projectsUnder } from "./open-projects.ts";
import { everydayCommands, hostileCommands } from "./shell-corpora.ts";
import { createShellWorkspace } from "./shell-workspace.ts";
import { createRng } from "./tampering.ts";

export interface CorpusPart {
  readonly name: string;
  /** The one that was in force. */
  readonly policy: Policy;
  readonly settings: Settings;
  readonly project: Project | undefined;
  readonly session: RecordedSession;
}

type Rng = () => number;
type Effect = "allow" | "ask" | "deny";

interface Setup {
  readonly name: string;
  /** Of all calls of the corpus. */
  readonly share: number;
  readonly rules?: readonly (readonly [Effect, string])[];
  readonly settings?: Partial<Settings>;
  readonly files?: Readonly<Record<string, string>>;
  readonly admin?: string;
  /** Nobody is there to be asked. */
  readonly alone?: boolean;
  /** Every third turn. */
  readonly plans?: boolean;
}

/** Reasons of calls that end before anything decides about them. */
const UNJUDGED: ReadonlySet<string> = new Set(["UnknownTool", "InvalidArguments", "NotExecuted", "Cancelled"]);
const CALLS_A_STEP = 8;
const STEPS_A_TURN = 6;

const COMMON: readonly (readonly [Effect, string])[] = [
  ["allow", "Bash(npm test)"],
  ["allow", "Bash(npm run *)"],
  ["allow", "Bash(git log *)"],
  ["allow", "Bash(git commit *)"],
  ["allow", "Bash(echo *)"],
  ["allow", "Write(src/**)"],
  ["allow", "Edit(docs/*)"],
  ["allow", "WebFetch(domain:docs.example)"],
  ["allow", "note"],
  ["ask", "Bash(git push *)"],
  ["ask", "Write(src/generated/**)"],
  ["ask", "WebFetch(https://docs.example/admin/*)"],
  ["deny", "Bash(rm *)"],
  ["deny", "Bash(curl *)"],
  ["deny", "Read(secrets/**)"],
  ["deny", "fs.*(vault/**)"],
  ["deny", "WebFetch(domain:evil.example)"],
];

const tool = (parameters: string, script: string, head = ""): string =>
  `---\n${head}parameters: {${parameters}}\nscript: |\n${script.replace(/^/gm, "  ")}\n---\n\nFor the corpus.\n`;
const hook = (when: string, script: string): string =>
  `---\nevent: tool.pre\npriority: 10\nwhen: '${when}'\nscript: |\n  def handle(event, payload):\n${script.replace(/^/gm, "      ")}\n---\n`;

const TOOLS = {
  ".harness/tools/note.md": tool(" text: { type: string } ", "def run(args):\n    return args.get('text', '')"),
  ".harness/tools/keep.md": tool(
    " path: { type: string } ",
    "def run(args):\n    return meta.call_tool('fs.write', {'path': args['path'], 'content': 'x'})",
  ),
};

const SETUPS: readonly Setup[] = [
  { name: "rules of the user", share: 0.3, rules: COMMON },
  { name: "no rules, nobody there", share: 0.1, alone: true },
  { name: "strict", share: 0.1, rules: COMMON, settings: { strictPermissions: true }, plans: true },
  {
    name: "offline",
    share: 0.08,
    rules: [["allow", "exec"]],
    settings: { sandbox: "auto", network: { allowedDomains: [] } },
  },
  {
    name: "project",
    share: 0.22,
    plans: true,
    rules: COMMON.slice(0, 4),
    files: {
      ...TOOLS,
      "harness.md": [
        "---",
        "meta: { enabled: true }",
        "tools_policy:",
        "  deny: [fs.remove, 'meta.*']",
        "permissions:",
        "  allow: ['Write(src/**)', 'Edit(docs/*)', 'keep', 'Bash(make *)', 'WebFetch(https://docs.example/out/*)[private,untrusted]']",
        "  ask: ['Bash(git push *)', 'Read(notes.txt)']",
        "  deny: ['Bash(rm *)', 'Read(secrets/**)', 'Write(*.lock)', 'WebFetch(https://docs.example/admin/*)[private]']",
        "  private: ['Read(data/**)']",
        "  untrusted: ['Bash(make fetch)']",
        "---",
        "",
        "Be brief.",
        "",
      ].join("\n"),
      ".harness/hooks/guard.md": hook(
        'payload["name"] == "fs.write"',
        'if payload["args"]["path"].startswith("blocked/"):\n    return block("blocked")\nreturn allow()',
      ),
      ".harness/hooks/rename.md": hook(
        'payload["name"] == "fs.edit"',
        'path = payload["args"]["path"]\nif not path.startswith("old/"):\n    return allow()\nchanged = dict(payload)\nchanged["args"] = dict(payload["args"], path = path.replace("old/", "docs/"))\nreturn modify(changed)',
      ),
    },
  },
  {
    name: "below the policy of the machine",
    share: 0.2,
    rules: COMMON,
    files: {
      ...TOOLS,
      "harness.md":
        "---\nmeta: { enabled: true }\npermissions:\n  allow: ['fs.*', 'Bash(npm *)']\n  deny: ['Write(dist/**)']\n---\n\nBe brief.\n",
    },
    admin:
      "---\ntools_policy:\n  deny: [web.fetch]\npermissions:\n  deny: ['Bash(npm publish *)', 'fs.*(vault/**)']\n  ask: ['Bash(docker *)']\n---\n",
  },
];

/** At least `wanted` calls that something decided about, in sessions of six kinds. */
export async function recordCorpus(wanted: number, seed = 11): Promise<readonly CorpusPart[]> {
  const parts: CorpusPart[] = [];
  for (const [index, setup] of SETUPS.entries()) {
    parts.push(await recordPart(setup, Math.ceil(wanted * setup.share), createRng(seed + index)));
  }
  return parts;
}

async function recordPart(setup: Setup, wanted: number, rng: Rng): Promise<CorpusPart> {
  const workspace = createShellWorkspace();
  const { root } = workspace;
  await putAll(root, {
    ...EXTRA_FILES,
    ...setup.files,
    ...(setup.admin === undefined ? {} : { "admin.md": setup.admin }),
  });
  symlinkSync("../secrets/key.txt", join(root, "docs/link.md"));
  symlinkSync("/etc/hostname", join(root, "docs/out.md"));
  symlinkSync("src", join(root, "code"));
  const settings: Settings = {
    ...defaultSettings,
    sandbox: "off",
    maxSteps: STEPS_A_TURN,
    tools: { execution: "auto", onError: "continue" },
    permissions: (setup.rules ?? []).map(([effect, rule], index) => ({
      effect,
      rule,
      source: `config.toml:${index + 1}`,
    })),
    ...setup.settings,
  };
  const recorded: { current?: RecordedCalls } = {};
  let judged = 0;
  // Of what is redacted the log does not say what it was: such calls have a test of their own.
  const commands = [...everydayCommands(), ...hostileCommands()]
    .map(({ command }) => command)
    .filter((one) => !/PWD=/.test(one));
  const plugin: Plugin = {
    name: "corpus",
    register(host) {
      host.addProvider(callingProvider(() => (judged < wanted ? nextCalls(rng, commands) : [])));
      host.onEvent((event: Event) => {
        if (event.kind === "ToolResult" && !UNJUDGED.has(event.payload.reason ?? "")) judged += 1;
        recorded.current?.add(event);
      });
    },
  };
  let project: Project | undefined;
  const harness = await openMemoryHarness({
    settings,
    workspace: root,
    model: "calling:one",
    plugins: [plugin],
    observePorts: withoutPrograms,
    ...(setup.files === undefined
      ? {}
      : {
          async projects(folder: string) {
            const opened = await projectsUnder(setup.admin === undefined ? undefined : "admin.md")(folder);
            project = opened?.project;
            return opened;
          },
        }),
  });
  const added: string[] = [];
  const client = harness.control.connect({
    identityClass: "human",
    interactive: setup.alone !== true,
    onEvent(event) {
      if (event.kind === "PermissionAnswered" && event.payload.rule !== undefined) added.push(event.payload.rule);
      if (event.kind !== "PermissionRequested") return;
      const { call_id } = event.payload;
      // What was asked about may be gone with its turn.
      submit({ kind: "AnswerPermission", call_id, decision: answerOf(rng) }).catch(() => undefined);
    },
  });
  const { session } = await client.submit({ kind: "CreateSession" });
  recorded.current = new RecordedCalls(session, root);
  const submit = <Kind extends SessionCommandKind>(command: SessionCommandOf<Kind>) =>
    client.submit(forSession(session, command));
  try {
    for (let turn = 0; judged < wanted; turn++) {
      const plan = setup.plans === true && turn % 3 === 2;
      if (plan) await submit({ kind: "EnterPlanMode" });
      const { done } = await submit({ kind: "SendInput", content: [{ type: "text", text: `turn ${turn}` }] });
      await done;
      if (plan) await submit({ kind: "ExitPlanMode", approve: true });
      // Rules that are added pile up until everything is allowed.
      for (const rule of rng() < 0.5 ? added.splice(0) : [])
        await submit({ kind: "RevokeRule", rule }).catch(() => undefined);
    }
  } finally {
    await harness.shutdown();
    workspace.remove();
  }
  return {
    name: setup.name,
    policy: policyOf(settings, project),
    settings,
    project,
    session: recorded.current.finish(),
  };
}

const EXTRA_FILES: Readonly<Record<string, string>> = {
  "secrets/key.txt": "a secret plan\n",
  "vault/gold.txt": "gold\n",
  "docs/a.md": "a\n",
  "old/a.md": "a\n",
  "notes.txt": "first\n",
};

async function putAll(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
}

function answerOf(rng: Rng): Decision {
  const at = rng();
  return at < 0.5 ? "allow_once" : at < 0.75 ? "deny" : at < 0.97 ? "allow_argv_glob" : "allow_tool";
}

/** Nothing is started and nobody is reached. */
function withoutPrograms({ files }: EffectPorts): EffectPorts {
  const response = {
    status: 200,
    contentType: "text/plain",
    headers: {},
    body: Buffer.from("hello"),
    truncated: false,
  };
  return {
    files,
    processes: { run: async () => ({ code: 0, signal: null, ended: "exit", durationMs: 0 }) },
    web: {
      get: async ({ url }) => ({ ...response, url }),
      post: async ({ url }) => ({ ...response, url }),
    },
    servers: noServers,
    memory: noMemory,
  };
}

const PATHS = (
  "src/index.ts src/cart.ts ./src/cart.ts src/../src/user.ts docs/a.md docs/link.md docs/out.md code/cart.ts notes.txt " +
  "secrets/key.txt vault/gold.txt .env .env.example data/users.json data/orders.csv blocked/x old/a.md ../outside.txt " +
  "/etc/passwd package.json a.lock dist/index.js src/generated/a.ts docs .harness/threads/x node_modules/left/index.js"
).split(" ");
const URLS =
  "https://docs.example/a https://docs.example/admin/b https://docs.example/out/c https://evil.example/ https://x.docs.example/ http://other.example:8080/x nonsense".split(
    " ",
  );
const EXTRA_COMMANDS = [
  "npm test",
  "npm run build",
  "npm publish --dry-run",
  "git log -3",
  "git status",
  "git commit -m 'a b'",
  "git push origin main",
  "rm -rf dist",
  "curl https://x.example",
  "cat secrets/key.txt",
  "cat docs/link.md",
  "grep -r TODO .",
  "rg TODO src",
  "echo hi && npm test",
  "make all",
  "make fetch",
  "docker ps",
  "ls *.json",
  "cat src/*.ts",
  "gh auth token",
];

/** The calls of one step: neighbours that only read run side by side; now and then the same one comes again and again. */
function nextCalls(rng: Rng, commands: readonly string[]): readonly WantedCall[] {
  const count = 1 + Math.floor(rng() * CALLS_A_STEP);
  const first = oneCall(rng, commands);
  if (rng() < 0.04) return Array.from({ length: 4 }, () => first);
  return [first, ...Array.from({ length: count - 1 }, () => oneCall(rng, commands))];
}

function oneCall(rng: Rng, commands: readonly string[]): WantedCall {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(rng() * items.length)] as Item;
  const path = pick(PATHS);
  const kinds: readonly (readonly [weight: number, make: () => WantedCall])[] = [
    [10, () => ["fs.read", { path }]],
    [3, () => ["fs.list", { path }]],
    [2, () => ["fs.glob", { pattern: pick(["**/*.ts", "*.md", ".env*"]), path: pick([".", "src", "secrets"]) }]],
    [
      2,
      () => ["fs.search", { pattern: "TODO", path: pick([".", "src", "docs"]), glob: pick(["*.ts", "!*.md", ".env"]) }],
    ],
    [6, () => ["fs.write", { path, content: "x" }]],
    [4, () => ["fs.edit", { path, old_text: "a", new_text: "a" }]],
    [2, () => ["fs.move", { from: path, to: pick(PATHS) }]],
    [1, () => ["fs.remove", { path: pick(["src/gone.ts", "vault/gold.txt", "docs/none.md"]) }]],
    [22, () => ["exec", { command: pick(commands) }]],
    [12, () => ["exec", { command: pick(EXTRA_COMMANDS) }]],
    [2, () => ["exec", { command: pick(EXTRA_COMMANDS), cwd: pick(["src", ".", "code"]) }]],
    [5, () => ["web.fetch", { url: pick(URLS) }]],
    [2, () => ["note", { text: pick(["a", "b"]) }]],
    [2, () => ["keep", { path }]],
    [0.5, () => ["nothing.there", {}]],
    [0.5, () => ["fs.write", { path: 7 }]],
  ];
  let at = rng() * kinds.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, make] of kinds) {
    at -= weight;
    if (at < 0) return make();
  }
  return ["fs.read", { path }];
}
