/** The documents say what the program does: generated pages are current, examples load, flags and links are complete. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parseUserConfig } from "#artifacts";
import { runCli } from "#cli";
import { referencePages } from "../scripts/reference.ts";
import { DEFAULT_KEEP_DAYS, DEFAULT_MAX_MB } from "../src/logs/daily-files.ts";
import { defaultRetryPolicy } from "../src/providers/retry.ts";
import { DEFAULT_READER_TIMEOUT_MS } from "../src/sandbox/confined-run.ts";
import { quietCliPorts } from "./fakes/quiet-cli-ports.ts";

const root = resolve(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe("generated pages", () => {
  test.each(referencePages())("$path is what `npm run docs` makes", ({ path, text }) => {
    expect(read(path)).toBe(text);
  });

  test("are the same every time", () => {
    expect(referencePages()).toEqual(referencePages());
  });
});

describe("configuration.md", () => {
  const page = read("docs/reference/configuration.md");

  test("has an example that loads without a warning and sets every table", async () => {
    const { settings, warnings } = await parseUserConfig("config.toml", codeBlock(page, "toml"));
    expect(warnings).toEqual([]);
    expect(settings.models.map(({ model }) => model)).toEqual([
      "anthropic:claude-sonnet-5-5",
      "openai:gpt-6.1-terra",
      "custom:house-model",
    ]);
    expect(settings.models.at(-1)).toEqual({
      model: "custom:house-model",
      baseUrl: "https://models.example.com/v1",
      family: "openai",
      apiKeyEnv: "HOUSE_KEY",
      temperature: 0.2,
      headers: { "x-team": "docs" },
      retry: { maxRetries: 5, initialBackoffMs: 500, maxBackoffMs: 20_000, multiplier: 2 },
      timeouts: { headersMs: 120_000, firstTokenMs: 300_000, chunkMs: 60_000, stepMs: 600_000 },
    });
    expect(settings.permissions.map(({ effect, rule }) => `${effect} ${rule}`)).toEqual([
      "allow Bash(npm test)",
      "allow Bash(npm run *)",
      "allow Edit(src/**)",
      "ask Edit(src/generated/**)",
      "deny Bash(git push *)",
      "deny WebFetch(domain:example.org)",
    ]);
    expect(settings.prices).toEqual({
      "custom:house-model": { input: 0.5, output: 1.5, cacheRead: 0.05, cacheWrite: 0.6 },
    });
    expect(settings.rateLimits).toEqual({
      global: { requestsPerMinute: 60, tokensPerMinute: 200_000 },
      models: { "custom:house-model": { requestsPerMinute: 10 } },
      tools: [{ tool: "web.*", callsPerMinute: 30 }],
    });
  });

  test("names the defaults that other folders hold", () => {
    const row = (key: string, value: number) =>
      expect(page).toMatch(new RegExp(`\\| \`${key}\` \\|[^|]*\\| \`${value}\` \\|`));
    row("max_retries", defaultRetryPolicy.maxRetries);
    row("initial_backoff_ms", defaultRetryPolicy.initialBackoffMs);
    row("max_backoff_ms", defaultRetryPolicy.maxBackoffMs);
    row("multiplier", defaultRetryPolicy.multiplier);
    row("reader_timeout_s", DEFAULT_READER_TIMEOUT_MS / 1000);
    row("keep_days", DEFAULT_KEEP_DAYS);
    row("max_mb", DEFAULT_MAX_MB);
  });
});

describe("cli.md", () => {
  const page = read("docs/reference/cli.md");

  test("has every command and every flag of the program's own help", async () => {
    const commands = [...(await help([])).matchAll(/^ {2}([a-z-]+) \[/gm)].map(([, name = ""]) => name);
    expect(commands).not.toEqual([]);
    expect(page).toContain("## harness sessions\n");
    for (const command of await sessionsCommands()) {
      expect(page).toContain(`harness sessions ${command}`.replace("sessions unpin", "sessions pin"));
      const flags = [...(await help(["sessions", command])).matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(
        ([, flag = ""]) => flag,
      );
      for (const flag of flags.filter((name) => name !== "--help")) expect(page, command).toContain(`\`${flag}`);
    }
    for (const command of commands) {
      expect(page).toContain(`## harness ${command}\n`);
      const flags = [...(await help([command])).matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag = ""]) => flag);
      for (const flag of flags.filter((name) => name !== "--help")) expect(page, command).toContain(`\`${flag}`);
    }
  });

  const below = {
    audit: ["verify", "anchor", "network", "key"],
    creds: ["add", "list", "delete", "test"],
    daemon: ["run", "start", "stop", "status", "restart"],
    mcp: ["list", "test", "tools", "add", "remove"],
    memory: ["list", "show", "search", "add", "edit", "forget", "undo"],
    policy: ["diff", "suggest"],
    schedule: ["add", "list", "remove", "run"],
    token: ["mint", "list", "revoke", "check"],
  };
  const belowOthers = Object.entries(below).flatMap(([group, names]) => names.map((name) => [group, name]));

  test("has every command below audit, creds, daemon, mcp, memory, policy, schedule and token, and its flags", async () => {
    for (const command of belowOthers) {
      expect(page).toContain(`### harness ${command.join(" ")}\n`);
      const flags = [...(await help(command)).matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)];
      for (const [, flag = ""] of flags.filter(([, text]) => text !== "--help")) expect(page).toContain(`\`${flag}`);
    }
  });

  test("has no flag that the program lacks", async () => {
    const sessions = (await sessionsCommands()).map((command) => ["sessions", command]);
    const plain = [...(await help([])).matchAll(/^ {2}([a-z-]+) \[/gm)].map(([, name = ""]) => name);
    const known = await Promise.all([[], ...plain.map((command) => [command]), ...sessions, ...belowOthers].map(help));
    const flags = new Set([...page.matchAll(/--[a-z][a-z-]*/g)].map(([flag]) => flag));
    expect([...flags].filter((flag) => !known.join("").includes(flag))).toEqual([]);
  });
});

test("every command below another, and every first flag, that a message or a document names is there", async () => {
  const groups = ["audit", "creds", "daemon", "mcp", "policy", "sandbox", "sessions", "token"];
  const commands = new Set([...(await help([])).matchAll(/^ {2}([a-z-]+) [[<]/gm)].map(([, name = ""]) => name));
  const named = new Map<string, string>();
  for (const path of [...documents(), ...sources()]) {
    // In words or in code, but not across the end of a line.
    const calls = read(path).matchAll(/\bharness ([a-z-]+)(?: ([a-z]+(?:-[a-z]+)*))?(?: [<[]?(--[a-z-]+))?/g);
    for (const [, command = "", below = "", flag = ""] of calls) {
      if (groups.includes(command)) named.set(`${command} ${below} ${flag}`, path);
      else if (commands.has(command) && below === "") named.set(`${command}  ${flag}`, path);
    }
  }
  const wrong: string[] = [];
  for (const [call, path] of named) {
    const [command = "", below = "", flag = ""] = call.split(" ");
    const text = await help(below === "" ? [command] : [command, below]);
    const isThere = below === "" || text.startsWith(`Usage: harness ${command} ${below} `);
    if (!isThere || !text.includes(flag)) wrong.push(`${path}: harness ${call}`);
  }
  expect(wrong).toEqual([]);
});

test("ARCHITECTURE.md has every folder of src", () => {
  const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const page = read("ARCHITECTURE.md");
  expect(folders.map(({ name }) => name).filter((name) => !page.includes(`| \`${name}/\` |`))).toEqual([]);
});

test("every dependency has its reason in the decision about them", () => {
  // Our own package.json, which has all three.
  const manifest = JSON.parse(read("package.json")) as Record<
    "dependencies" | "optionalDependencies" | "devDependencies",
    Record<string, string>
  >;
  const { dependencies, optionalDependencies, devDependencies } = manifest;
  const page = read("docs/adr/0002-dependencies.md");
  const packages = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
  expect(packages.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("links between the documents lead somewhere", () => {
  const broken = documents().flatMap((path) => {
    const targets = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    return targets
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !leadsSomewhere(path, target))
      .map((target) => `${path}: ${target}`);
  });
  expect(broken).toEqual([]);
});

function leadsSomewhere(from: string, target: string): boolean {
  const [file = "", anchor] = target.split("#");
  const path = file === "" ? from : join(dirname(from), file);
  if (!existsSync(join(root, path))) return false;
  return anchor === undefined || headings(read(path)).includes(anchor);
}

/** As GitHub makes anchors of headings. */
function headings(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The program without its tests. */
function sources(): string[] {
  return readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function documents(): string[] {
  const inDocs = readdirSync(join(root, "docs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const atRoot = readdirSync(root).filter((name) => name.endsWith(".md"));
  return [...atRoot, ...inDocs].sort();
}

function codeBlock(page: string, language: string): string {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (found === undefined) throw new Error(`the page has no ${language} block`);
  return found;
}

async function sessionsCommands(): Promise<string[]> {
  const names = [...(await help(["sessions"])).matchAll(/^ {2}([a-z-]+) \[/gm)].map(([, name = ""]) => name);
  return names.filter((name) => name !== "help");
}

async function help(command: readonly string[]): Promise<string> {
  const said = { out: "", err: "" };
  const ports = quietCliPorts(said, { env: {}, cwd: root });
  expect(await runCli([...command, "--help"], ports)).toBe(0);
  return said.out;
}
