/** The page about `config.toml`. */
import { userTable } from "#artifacts/user-table";
import { GENERATED, page } from "./markdown.ts";
import { tableSection, withInnerTables } from "./table-sections.ts";

export function configurationPage(): string {
  return page([
    "# Configuration",
    GENERATED,
    "Your own configuration is one TOML file: `$XDG_CONFIG_HOME/harness/config.toml` (by default `~/.config/harness/config.toml`), or the file that `--config` names. The file is optional and has at most 1 MiB.",
    "If a value is wrong, Harness does not start: it prints `ConfigInvalid` with the file and line, and exits with code 2. Harness ignores an unknown key and prints a warning with the most similar known key.",
    "## A complete example",
    EXAMPLE,
    ...withInnerTables(userTable).flatMap(tableSection),
    "## The list of domains",
    DOMAINS,
    "## Which model",
    WHICH_MODEL,
    "## Order",
    "Flags override the file, and the file overrides the defaults. Permission rules do not override each other: all of them apply, and the strictest matching rule decides.",
  ]);
}

const EXAMPLE = `\`\`\`toml
# The default model. If it cannot answer, Harness tries the models below, in order.
model = "anthropic:claude-sonnet-5-5"
max_steps = 30
sandbox = "auto"

# A model is "provider:name", or a table if it needs options.
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

# USD per million tokens, for a model or for a prefix of its name.
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
| \`example.com\` | the host and its subdomains, not \`notexample.com\` |
| \`*.example.com\` | the subdomains, not \`example.com\` itself |
| \`*\` | every host, but only http and https |
| \`10.0.0.5\`, \`[fd00::1]\` | only this address |

The list ignores case and ports; an entry with a scheme, a port or a path is \`ConfigInvalid\`. Loopback, private, link-local and
metadata addresses are closed unless an entry names that exact address (\`localhost\` names the loopback addresses). This also
applies if a host on the list resolves to such an address. The list applies to \`web.fetch\`, scripts and commands. With
\`sandbox = "off"\` it applies to \`web.fetch\` and scripts only.`;

const WHICH_MODEL = `Harness uses the first of these that is set:

1. \`--model\`
2. \`HARNESS_MODEL\`
3. \`model\` in the configuration, otherwise the first entry of \`models\`
4. the default model of the first provider that has a key, set or stored, in the order of [providers.md](providers.md)
5. the offline scripted model, with a message that says so; \`deploy\`, \`run\` without a terminal and embedding programs fail with \`ModelNotConfigured\` instead

A model from 1 or 2 has no fallbacks. If a model from the configuration cannot answer, Harness tries the next model of the list:
for example after the last retry, or if the vendor rejects the request. It skips fallbacks that have no key. A cancelled call, a
content filter and a response above the size limit do not lead to a fallback. The first model must have a key; without one,
Harness does not start (\`MissingCredential\`).`;
