/** The page about `config.toml`. */
import { userTable } from "#artifacts/user-table";
import { GENERATED, page } from "./markdown.ts";
import { tableSection, withInnerTables } from "./table-sections.ts";

export function configurationPage(): string {
  return page([
    "# Configuration",
    GENERATED,
    "One TOML file: `$XDG_CONFIG_HOME/harness/config.toml` (default `~/.config/harness/config.toml`), or what `--config` names. " +
      "It may be missing. At most 1 MiB.",
    "A wrong value stops the program with `ConfigInvalid`, file and line, and exit code 2. An unknown key is ignored with a " +
      "warning that names the nearest known one.",
    "## A complete example",
    EXAMPLE,
    ...withInnerTables(userTable).flatMap(tableSection),
    "## The list of domains",
    DOMAINS,
    "## Which model",
    WHICH_MODEL,
    "## Order",
    "Defaults, then the file, then flags; the later one wins. Rules do not replace each other: they add up, and the strictest counts.",
  ]);
}

const EXAMPLE = `\`\`\`toml
# The default model. The list below is what it falls back to, in order.
model = "anthropic:claude-sonnet-5-5"
max_steps = 30
sandbox = "auto"

# A model is a text, or a table when something about it is to be said.
[[models]]
provider = "openai"
name = "gpt-6.1-terra"
max_tokens = 8192

[[models]]
provider = "custom"
name = "house-model"
base_url = "https://models.example.com/v1"
family = "openai"
api_key_env = "HOUSE_KEY"
temperature = 0.2
headers = { "x-team" = "docs" }
retry = { max_retries = 5, initial_backoff_ms = 500, max_backoff_ms = 20000, multiplier = 2 }
timeouts = { headers_s = 120, first_token_s = 300, chunk_s = 60, step_s = 600 }

[permissions]
allow = ["Bash(npm test)", "Bash(npm run *)", "Edit(src/**)"]
ask = ["Edit(src/generated/**)"]
deny = ["Bash(git push *)", "WebFetch(domain:example.org)"]
strict = false

# USD per million tokens, by model or the beginning of its name.
[prices]
"custom:house-model" = { input = 0.5, output = 1.5, cache_read = 0.05, cache_write = 0.6 }

[rate_limits]
requests_per_minute = 60
tokens_per_minute = 200000

[rate_limits.models."custom:house-model"]
requests_per_minute = 10

[rate_limits.tools."web.*"]
calls_per_minute = 30

[tools]
execution = "auto"
on_error = "stop"

[network]
allowed_domains = ["api.github.com", "*.example.com"]
loopback_ports = [5432]

[log]
level = "info"
components = { engine = "debug" }

[daemon]
idle_minutes = 60

[redaction]
patterns = [{ kind = "badge", pattern = "B-[0-9]{6}" }]
disabled_kinds = ["iban"]
\`\`\``;

const DOMAINS = `| entry | means |
| --- | --- |
| \`example.com\` | the host and everything below it, not \`notexample.com\` |
| \`*.example.com\` | everything below it, not \`example.com\` itself |
| \`*\` | every host; other schemes than http and https stay closed |
| \`10.0.0.5\`, \`[fd00::1]\` | this address |

Case and port do not matter; an entry with a scheme, a port or a path is \`ConfigInvalid\`. Loopback, private, link-local and
metadata addresses are reached only when an entry names that very address (\`localhost\` names those of loopback), also by a host
whose name is on the list, for \`web.fetch\`, scripts and commands alike. With \`sandbox = "off"\` the list holds for \`web.fetch\` and scripts only.`;

const WHICH_MODEL = `The first of these that is there:

1. \`--model\`
2. \`HARNESS_MODEL\`
3. \`model\` of the configuration, else the first of \`models\`
4. the default model of the first provider whose key is set or stored, in the order of [providers.md](providers.md)
5. the offline model, and a line that says so; \`deploy\`, \`run\` without a terminal and embedding programs fail with \`ModelNotConfigured\` instead

A model that was named by 1 or 2 has no fallback. One from the configuration falls back along the list when it cannot answer, for
example after its retries or when the vendor refuses the request; a fallback whose key is not set is passed over. A cancel, a
content filter and a response over its byte limit do not fall back. The first model must have its key: without it the program does
not start (\`MissingCredential\`).`;
