/** Other programs for bench/tui-peers.ts: how each is installed and brought to its prompt without a question. */

export interface PeerPlace {
  /** Of the mock endpoint. */
  readonly url: string;
  readonly workspace: string;
  readonly home: string;
}

export interface Peer {
  readonly name: string;
  /** The first one that the registry has in full. */
  readonly packages: readonly string[];
  /** The first file that is there, below `node_modules`. */
  readonly files: readonly string[];
  readonly args?: readonly string[];
  readonly isFullScreen: boolean;
  /** Keys that come before this is shown keep it from starting. */
  readonly typesAfter?: string;
  /** What is run once before, to set it up. */
  readonly before?: readonly string[];
  env(place: PeerPlace): Readonly<Record<string, string>>;
  /** Files of its home. */
  readonly config?: (place: PeerPlace) => Readonly<Record<string, string>>;
}

const ANTHROPIC_KEY = `sk-ant-api03-${"0".repeat(40)}not-a-real-key`;
const OPENAI_KEY = `sk-proj-${"0".repeat(40)}`;

const gooseModel = {
  GOOSE_PROVIDER: "openai",
  GOOSE_MODEL: "mock",
  GOOSE_DISABLE_KEYRING: "1",
  GOOSE_TELEMETRY_ENABLED: "false",
};

const json = (value: unknown): string => JSON.stringify(value);

export const peers: readonly Peer[] = [
  {
    name: "Codex",
    packages: ["@openai/codex"],
    files: [".bin/codex"],
    isFullScreen: true,
    env: ({ home }) => ({ OPENAI_API_KEY: OPENAI_KEY, CODEX_HOME: `${home}/.codex` }),
    config: ({ url, workspace }) => ({
      ".codex/config.toml": [
        'model = "mock"',
        'model_provider = "mock"',
        "check_for_update_on_startup = false",
        "[model_providers.mock]",
        'name = "mock"',
        `base_url = "${url}/v1"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        `[projects."${workspace}"]`,
        'trust_level = "trusted"',
      ].join("\n"),
    }),
  },
  {
    name: "Claude Code",
    packages: ["@anthropic-ai/claude-code"],
    files: ["@anthropic-ai/claude-code-linux-x64/claude", ".bin/claude"],
    isFullScreen: true,
    env: ({ url }) => ({
      ANTHROPIC_API_KEY: ANTHROPIC_KEY,
      ANTHROPIC_BASE_URL: url,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
    config: ({ workspace }) => ({
      ".claude.json": json({
        hasCompletedOnboarding: true,
        theme: "dark",
        customApiKeyResponses: { approved: [ANTHROPIC_KEY.slice(-20)], rejected: [] },
        projects: { [workspace]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      }),
    }),
  },
  {
    name: "Pi",
    packages: ["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"],
    files: [".bin/pi"],
    isFullScreen: true,
    env: () => ({ ANTHROPIC_API_KEY: ANTHROPIC_KEY, PI_SKIP_VERSION_CHECK: "1", PI_OFFLINE: "1" }),
  },
  {
    name: "Gemini CLI",
    packages: ["@google/gemini-cli"],
    files: [".bin/gemini"],
    isFullScreen: true,
    env: ({ url }) => ({ GEMINI_API_KEY: "not-a-real-key", GOOGLE_GEMINI_BASE_URL: url }),
    config: () => ({
      ".gemini/settings.json": json({
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true, disableUpdateNag: true },
        privacy: { usageStatisticsEnabled: false },
        ui: { theme: "Default" },
      }),
    }),
  },
  {
    name: "Qwen Code",
    packages: ["@qwen-code/qwen-code"],
    files: [".bin/qwen"],
    isFullScreen: true,
    env: ({ url }) => ({ OPENAI_API_KEY: OPENAI_KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "mock" }),
    config: () => ({
      ".qwen/settings.json": json({
        security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
      }),
    }),
  },
  {
    name: "OpenCode",
    packages: ["opencode-ai"],
    files: ["opencode-linux-x64/bin/opencode", ".bin/opencode"],
    isFullScreen: true,
    typesAfter: "Ask anything",
    env: () => ({
      ANTHROPIC_API_KEY: ANTHROPIC_KEY,
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
    config: () => ({ ".config/opencode/opencode.json": json({ autoupdate: false, share: "disabled" }) }),
  },
  {
    name: "Crush",
    packages: ["@charmland/crush"],
    files: [".bin/crush"],
    isFullScreen: true,
    env: () => ({ ANTHROPIC_API_KEY: ANTHROPIC_KEY, CRUSH_DISABLE_METRICS: "1" }),
  },
  {
    name: "Cline",
    packages: ["cline"],
    files: [".bin/cline"],
    isFullScreen: true,
    before: ["auth", "anthropic", "-k", ANTHROPIC_KEY, "-m", "claude-sonnet-4-6"],
    env: () => ({ ANTHROPIC_API_KEY: ANTHROPIC_KEY }),
  },
  {
    name: "Copilot CLI",
    packages: ["@github/copilot"],
    files: [".bin/copilot"],
    isFullScreen: true,
    env: () => ({ COPILOT_AUTO_UPDATE: "false" }),
    config: ({ workspace }) => ({ ".copilot/config.json": json({ trusted_folders: [workspace], banner: "never" }) }),
  },
  {
    name: "Goose",
    packages: ["@aaif/goose"],
    files: ["@aaif/goose-binary-linux-x64/bin/goose"],
    args: ["session"],
    isFullScreen: false,
    env: ({ url }) => ({ OPENAI_API_KEY: OPENAI_KEY, OPENAI_HOST: url, ...gooseModel }),
  },
];
