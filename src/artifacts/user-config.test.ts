import { describe, expect, test } from "vitest";
import { defaultSettings } from "./settings.ts";
import { parseUserConfig } from "./user-config.ts";

const load = (text: string) => parseUserConfig("config.toml", text);

describe("config.toml", () => {
  test("permission_timeout is in seconds", async () => {
    expect((await load("permission_timeout = 90")).settings.permissionTimeoutMs).toBe(90_000);
  });

  test("a default model has what the list of models says about it", async () => {
    const entry = '[[models]]\nprovider = "custom"\nname = "m"\nbase_url = "http://127.0.0.1:9/v1"\n';
    const { settings } = await load(`model = "custom:m"\n[[models]]\nprovider = "openai"\nname = "a"\n${entry}`);
    expect(settings.models).toEqual([{ model: "custom:m", baseUrl: "http://127.0.0.1:9/v1" }, { model: "openai:a" }]);
  });

  test("empty gives the defaults", async () => {
    expect(await load("")).toEqual({
      warnings: [],
      settings: {
        profile: defaultSettings.profile,
        origins: defaultSettings.origins,
        hooks: [],
        allowProjectHooks: false,
        models: [],
        mcpServers: [],
        permissions: [],
        labelRules: [],
        strictPermissions: false,
        prices: {},
        rateLimits: { models: {}, tools: [] },
        tools: { execution: "auto", onError: "stop" },
        maxSteps: 100,
        sandbox: "auto",
        sandboxPaths: [],
        retention: {},
        audit: { keychain: false },
        log: { components: {} },
        interface: { theme: "auto", vim: false, isPlain: false, isCostShown: true },
        keys: {},
        daemon: { idleMinutes: 30, sessionIdleMinutes: 30 },
        plugins: {},
        memory: { enabled: true, write: false },
        context: {},
        redaction: { patterns: [], disabledKinds: [] },
        budgets: {},
        contextSources: ["AGENTS.md"],
      },
    });
  });

  test.each([
    ['[mcp_servers.restart]\ncommand = "x"', '"restart" is not valid here'],
    ["[mcp_servers.a]\nargs = []", "`command` or `url`"],
    ['[mcp_servers.a]\ncommand = "x"\nnetwork = "all"', "network"],
  ])("an MCP server that is wrong says so: %j", async (text, told) => {
    await expect(load(text)).rejects.toThrow(told);
  });

  test("context sources are those that the table knows, each once", async () => {
    const { settings } = await load('context_sources = ["CLAUDE.md", "AGENTS.md", "CLAUDE.md"]');
    expect(settings.contextSources).toEqual(["CLAUDE.md", "AGENTS.md"]);
    await expect(load('context_sources = ["Agents.md"]')).rejects.toThrow('"Agents.md" is not valid here');
  });

  test("every key arrives where it belongs", async () => {
    const { settings, warnings } = await load(`allow_project_hooks = true
max_steps = 7
sandbox = "required"
sandbox_paths = ["/srv/sdk"]
reader_timeout_s = 20
system_prompt = "Be brief."
models = ["openai:a", "anthropic:b"]

[model]
provider = "custom"
name = "big"
base_url = "https://models.example/v1"
api_key_env = "MY_KEY"
family = "anthropic"
max_tokens = 100
temperature = 0.5
headers = { X-Team = "a" }
retry = { max_attempts = 1, initial_backoff_ms = 10, max_backoff_ms = 20, multiplier = 3 }
timeouts = { headers_s = 1, first_token_s = 2.5, chunk_s = 0.5, step_s = 10 }

[permissions]
allow = ["Bash(npm test)"]
deny = ["Write"]
private = ["Read(customers/**)"]
untrusted = ["mcp.*"]
strict = true

[prices."custom:big"]
input = 1
output = 2
cache_read = 0.1

[rate_limits]
requests_per_minute = 5
[rate_limits.models."custom:big"]
tokens_per_minute = 1000
[rate_limits.tools."fs.*"]
calls_per_minute = 30

[tools]
execution = "sequential"
on_error = "continue"

[log]
level = "warn"
components = { engine = "debug", "provider.openai" = "trace" }
keep_days = 3
max_mb = 1.5
[daemon]
idle_minutes = 5
[audit]
keychain = true
[retention]
content_days = 90

[memory]
write = true
max_tokens = 500

[context]
max_history = 20
max_tokens = 9000
compaction = "prune"
compaction_model = "custom:small"

[redaction]
patterns = [{ kind = "badge", pattern = "B-[0-9]{6}" }]
disabled_kinds = ["iban"]

[budgets.turn]
max_cost_usd = 0.5
max_calls = 10
[network]
allowed_domains = ["api.example.com", "*.example.org", "127.0.0.1"]
[plugins.guard]
path = "/opt/guard.mjs"
sha256 = "${"AB".repeat(32)}"
[plugins.other-one]
path = "/opt/other.mjs"
[mcp_servers.notes]
command = "notes"
args = ["--all"]
env_vars = ["NOTES_KEY"]
network = ["notes.example"]
discovery = "lazy"
disabled_tools = ["erase"]
read_only_tools = ["find"]
[mcp_servers.notes.env]
LEVEL = "2"
[mcp_servers.idle]
command = "idle"
enabled = false
[interface]
theme = "light"
vim = true
plain = true
quiet_cost = true
[keys]
open-history = ["ctrl+f", "f3"]
suspend = []
[[hooks]]
event = "Stop"
cmd = "echo bye"
`);
    expect(warnings).toEqual([]);
    expect(settings).toEqual({
      profile: defaultSettings.profile,
      origins: {
        context_sources: "built-in",
        allow_project_hooks: "config.toml",
        context: "config.toml",
        ...{
          default_model: "config.toml",
          mcp_servers: "config.toml",
          retention: "config.toml",
          strict: "config.toml",
        },
      },
      hooks: [
        {
          event: "Stop",
          command: "echo bye",
          timeoutMs: 5_000,
          onError: "allow",
          source: expect.stringMatching(/^config\.toml:/),
          tier: "user",
          scripts: [],
        },
      ],
      interface: { theme: "light", vim: true, isPlain: true, isCostShown: false },
      keys: { "open-history": ["ctrl+f", "f3"], suspend: [] },
      allowProjectHooks: true,
      models: [
        {
          model: "custom:big",
          baseUrl: "https://models.example/v1",
          apiKeyEnv: "MY_KEY",
          family: "anthropic",
          maxTokens: 100,
          temperature: 0.5,
          headers: { "X-Team": "a" },
          retry: { maxRetries: 1, initialBackoffMs: 10, maxBackoffMs: 20, multiplier: 3 },
          timeouts: { headersMs: 1_000, firstTokenMs: 2_500, chunkMs: 500, stepMs: 10_000 },
        },
        { model: "openai:a" },
        { model: "anthropic:b" },
      ],
      permissions: [
        { effect: "allow", rule: "Bash(npm test)", source: "config.toml:22" },
        { effect: "deny", rule: "Write", source: "config.toml:23" },
      ],
      labelRules: [
        { label: "private", rule: "Read(customers/**)", source: "config.toml:24" },
        { label: "untrusted", rule: "mcp.*", source: "config.toml:25" },
      ],
      strictPermissions: true,
      prices: { "custom:big": { input: 1, output: 2, cacheRead: 0.1 } },
      rateLimits: {
        global: { requestsPerMinute: 5 },
        models: { "custom:big": { tokensPerMinute: 1000 } },
        tools: [{ tool: "fs.*", callsPerMinute: 30 }],
      },
      tools: { execution: "sequential", onError: "continue" },
      maxSteps: 7,
      contextSources: ["AGENTS.md"],
      retention: { contentDays: 90 },
      audit: { keychain: true },
      log: { level: "warn", components: { engine: "debug", "provider.openai": "trace" }, keepDays: 3, maxMb: 1.5 },
      daemon: { idleMinutes: 5, sessionIdleMinutes: 30 },
      plugins: {
        guard: { path: "/opt/guard.mjs", sha256: "ab".repeat(32), place: "config.toml:76" },
        "other-one": { path: "/opt/other.mjs", place: "config.toml:79" },
      },
      memory: { enabled: true, write: true, maxTokens: 500 },
      context: { maxHistory: 20, maxTokens: 9000, compaction: "prune", compactionModel: "custom:small" },
      redaction: { patterns: [{ kind: "badge", pattern: "B-[0-9]{6}" }], disabledKinds: ["iban"] },
      budgets: { turn: { maxCostUsd: 0.5, maxCalls: 10 } },
      sandbox: "required",
      sandboxPaths: ["/srv/sdk"],
      readerTimeoutMs: 20_000,
      network: { allowedDomains: ["api.example.com", "*.example.org", "127.0.0.1"] },
      mcpServers: [
        {
          name: "notes",
          connection: {
            kind: "stdio",
            command: "notes",
            args: ["--all"],
            env: { LEVEL: "2" },
            envVars: ["NOTES_KEY"],
            network: ["notes.example"],
            paths: [],
          },
          startupTimeoutMs: 0,
          toolTimeoutMs: 60_000,
          discovery: "lazy",
          disabledTools: ["erase"],
          readOnlyTools: ["find"],
        },
      ],
      systemPrompt: "Be brief.",
    });
  });

  test("unknown keys of every table warn with the nearest known one", async () => {
    const { warnings } = await load(`max_stepz = 1
[model]
provider = "openai"
name = "a"
max_token = 5
[prices."openai:a"]
input = 1
output = 1
cache_red = 1
[tools]
zzz = 1
`);
    expect(warnings.toSorted()).toEqual([
      'config.toml:11: unknown key "tools.zzz" is ignored.',
      'config.toml:1: unknown key "max_stepz" is ignored. Did you mean "max_steps"?',
      'config.toml:5: unknown key "model.max_token" is ignored. Did you mean "max_tokens"?',
      'config.toml:9: unknown key "prices.openai:a.cache_red" is ignored. Did you mean "cache_read"?',
    ]);
  });

  test.each([
    ["max_steps = ", /^config\.toml:1:\d+: /],
    ["\nmax_steps = 0", /^config\.toml:2: max_steps: 0 is not valid here\. Expected: integer from 1 to 1000\.$/],
    ['model = { provider = "ollama" }', /^config\.toml:1: model: Model table: "name" is missing/],
    ['model = "no-colon"', /^config\.toml:1: model: .*provider:name/],
    ['sandbox = "sometimes"', /^config\.toml:1: sandbox: /],
    [
      '[network]\nallowed_domains = ["https://a.example"]',
      /^config\.toml:2: network\.allowed_domains\.0: .*Expected: host name/,
    ],
    ['[network]\nallowed_domains = ["a.example:443"]', /^config\.toml:2: network\.allowed_domains\.0: /],
    ['[tools]\nexecution = "fast"', /^config\.toml:2: tools\.execution: .*auto/],
    ['[rate_limits.tools."["]\ncalls_per_minute = 1', /^config\.toml:1: rate_limits\.tools\.\[: /],
    ["log = 2026-01-02", /^config\.toml:1: log: a date is not allowed here/],
    ["reader_timeout_s = 0", /^config\.toml:1: reader_timeout_s: /],
    ["reader_timeout_s = nan", /^config\.toml:1: reader_timeout_s: /],
    ['[model]\nprovider = "a"\nname = "b"\nbase_url = "file:///x"', /^config\.toml:4: model\.base_url: /],
  ])("%j fails and says where", async (text, message) => {
    await expect(load(text)).rejects.toMatchObject({
      reason: "ConfigInvalid",
      message: expect.stringMatching(message),
    });
  });
});
