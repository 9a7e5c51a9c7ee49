/**
 * A second labelled set for the choice of memories: 60 memories as an agent would write them by the advice of docs/guide/memory.md, and
 * two inputs for each as developers type them, the second in other words. Made without knowledge of the matcher and of
 * the first set, and not changed after it was measured. The matcher must not be tuned to it.
 */
import type { Memory, MemoryType } from "#base";
import type { LabelledQuery } from "./memory-set.ts";

type Row = readonly [
  name: string,
  type: MemoryType,
  tags: string,
  description: string,
  body: string,
  near: string,
  far: string,
];

// biome-ignore format: one memory on each line
const rows: readonly Row[] = [
  ["short-answers", "user", "answer, verbosity, concise, style", "Wants short answers without a summary at the end", "Show the diff and stop.", "keep your answers short please", "you talk too much, just give me the gist of why this crashes"],
  ["dutch-comments", "feedback", "comments, language, english, dutch", "Code comments are in English, commit messages too, although the team speaks Dutch", "", "add comments to the parser, what language do we use?", "document the new functions in kassa.py"],
  ["no-any", "feedback", "typescript, any, types, cast", "Never use any in TypeScript; narrow from unknown instead", "Reviewers reject it.", "fix the type errors in cart.ts, no any", "make tsc happy with this JSON response"],
  ["vitest-not-jest", "project", "test, vitest, jest, unit", "Unit tests run with vitest; jest was removed in March", "The command is pnpm test:unit.", "write unit tests for formatPrice", "spec for the discount calculator fails with 'describe is not defined'"],
  ["pnpm-only", "project", "install, pnpm, npm, yarn, dependency, package", "Use pnpm; npm install breaks the lock file", "", "install zod as a dependency", "add left-pad to the project"],
  ["staging-url", "reference", "staging, url, environment, preview", "Staging is at stg.kestrel.example, behind the VPN", "Login with the shared QA account.", "whats the url of staging again", "where can I try this out before it goes live?"],
  ["migrations-review", "project", "migration, database, schema, sql, alembic", "Every schema migration needs a review by Ines before merge", "She checks locks on the orders table.", "create a migration that adds a column to orders", "we need to store the customer's VAT number from now on"],
  ["orders-partitioned", "project", "orders, partition, postgres, slow, query", "The orders table is partitioned by month; queries without created_at scan everything", "", "why is this orders query so slow", "report of last years sales takes 40s to load"],
  ["flaky-checkout", "project", "flaky, e2e, playwright, checkout, ci", "The checkout e2e test is flaky on Fridays because the payment sandbox restarts", "Run it again before you look further.", "checkout e2e test failed in ci again", "pipeline went red but nothing in my branch touches payments"],
  ["feature-flags", "project", "feature, flag, toggle, rollout, unleash", "Feature flags live in Unleash, names begin with the team: pay-, web-", "", "put this behind a feature flag", "turn the new search on for 10% of users only"],
  ["error-format", "project", "error, api, problem, json, response", "API errors are RFC 9457 problem documents with a code field", "", "what should the api return on an error", "endpoint should answer 422 when the postcode is wrong"],
  ["money-cents", "feedback", "money, amount, price, cents, decimal, currency", "Amounts are integers in cents, never floats", "A rounding bug cost us a week in 2023.", "add a price field to the product", "total is off by 0.01 when I sum the invoice lines"],
  ["utc-only", "feedback", "time, date, timezone, utc, timestamp", "Timestamps are stored in UTC and converted in the browser", "", "which timezone do we store timestamps in", "the appointment shows one hour early since the clocks changed"],
  ["squash-merge", "project", "merge, squash, pr, rebase, git", "Pull requests are squashed; the title becomes the commit", "", "should i squash before merge", "tidy up my 14 wip commits before I open this"],
  ["conventional-titles", "project", "commit, message, conventional, title, changelog", "Commit titles follow Conventional Commits because the changelog is generated", "", "write a commit message for this", "check in what we have so far"],
  ["deploy-argo", "project", "deploy, argo, release, rollout, kubernetes", "Deployments go through Argo CD; nobody runs kubectl apply by hand", "", "deploy the api to production", "how do I get this out to customers today?"],
  ["rollback", "reference", "rollback, revert, incident, deploy", "To roll back, revert the commit in the env repository; Argo does the rest", "", "rollback the last deploy", "new version is broken, get us back to yesterday's"],
  ["oncall", "reference", "oncall, incident, pager, escalation, outage", "On-call is in PagerDuty schedule core-primary; escalate to Tomasz", "", "who is oncall this week", "site is down, whom do I wake up?"],
  ["logs-loki", "reference", "logs, loki, grafana, production, debug", "Production logs are in Grafana Loki, label app=kestrel-api", "Logs are kept for 14 days.", "where do i find production logs", "I want to see what the server wrote when order 8812 failed"],
  ["metrics-prefix", "project", "metric, prometheus, counter, histogram, name", "Metrics begin with kestrel_ and end with the unit", "", "add a prometheus metric for retries", "I want a graph of how often we hit the cache"],
  ["tracing", "project", "trace, span, opentelemetry, request id", "Pass the context explicitly; the OpenTelemetry auto instrumentation is off", "", "spans are missing in the trace", "can't follow one call through all the services"],
  ["rabbit-not-kafka", "project", "queue, rabbitmq, kafka, event, message", "Events go through RabbitMQ; Kafka is only for the warehouse export", "", "publish an event on the queue when an order ships", "notify the billing service asynchronously"],
  ["idempotent-consumers", "feedback", "consumer, duplicate, idempotent, retry", "Consumers must be idempotent: messages arrive twice", "Use the inbox table.", "make the consumer idempotent", "customers got the same mail two times"],
  ["redis-ttl", "feedback", "redis, cache, ttl, expiry, key", "Every Redis key needs a TTL", "The instance was full in June.", "cache the result in redis", "remember the exchange rates for a while so we don't fetch them constantly"],
  ["s3-eu", "project", "s3, bucket, upload, region, gdpr", "Customer files stay in the bucket of eu-central-1 for legal reasons", "", "upload attachments to s3", "where may we keep passport scans?"],
  ["pii-logging", "feedback", "log, pii, email, privacy, gdpr, personal data", "Never log e-mail addresses or names; log the customer id", "", "add log lines to the signup flow", "print who triggered the export so support can find them"],
  ["secrets-vault", "reference", "secret, vault, password, credential, env", "Secrets come from Vault path kv/kestrel; .env files are for local work only", "", "where do i put the secret for the mail api", "stripe gave me a new api key, what now"],
  ["local-setup", "reference", "setup, local, docker, compose, start, run", "make up starts everything; the first run takes ten minutes", "", "how do i start the project locally", "new laptop, get me going"],
  ["mac-arm", "user", "mac, arm, m2, docker, platform", "Works on an ARM Mac; images need --platform linux/amd64", "", "docker build fails on my mac", "exec format error when the container boots"],
  ["fish-shell", "user", "shell, fish, terminal, alias, command", "Uses fish as shell, so export FOO=bar does not work", "", "give me a shell alias for this", "set the variable so the next call sees it"],
  ["vim-user", "user", "editor, vim, neovim, keybinding", "Edits with Neovim, no VS Code settings please", "", "which editor settings should i commit", "set up format on save for me"],
  ["explain-first", "feedback", "explain, plan, approach, before", "Explain the approach before changing more than three files", "", "explain your approach before you refactor", "rename Customer to Client everywhere"],
  ["no-new-deps", "feedback", "dependency, library, package, bundle", "Ask before adding a library; the bundle budget is 200 kB", "", "which library should we add for dates", "use lodash for this debounce"],
  ["css-modules", "project", "css, style, tailwind, modules, component", "Components use CSS modules; Tailwind was tried and dropped", "", "style the button component with css", "make the header blue and a bit taller"],
  ["a11y", "feedback", "accessibility, a11y, aria, keyboard, contrast", "Each interactive element must work by keyboard; customers are public bodies", "", "check accessibility of the dialog", "popup can't be closed without a mouse"],
  ["i18n-keys", "project", "translation, i18n, text, locale, string", "Texts live in locales/*.json; German and French are translated by an agency on Thursdays", "", "add a translation for the new text", "the label on the save button should say 'Keep'"],
  ["safari-bug", "project", "safari, date input, browser, ios", "Date inputs need the polyfill because of old iPads in the warehouses", "", "date input looks wrong in safari", "colleagues on tablets can't pick a day"],
  ["node-version", "project", "node, version, nvm, engine, upgrade", "Node stays at 20 until the Lambda runtime is upgraded", "", "can we upgrade node to 24", "Promise.withResolvers is not a function"],
  ["python-uv", "project", "python, uv, pip, venv, requirements", "Python tools are managed with uv, not with pip", "", "install the python requirements", "ModuleNotFoundError: No module named 'httpx'"],
  ["ruff", "project", "ruff, lint, format, black, python", "ruff formats and lints; line length 100", "", "format the python code", "ci complains about style in etl/load.py"],
  ["airflow-dags", "project", "airflow, dag, etl, schedule, job", "DAGs must not use datetime.now(); they get the logical date", "", "write an airflow dag for the nightly import", "backfill of last week loaded todays numbers seven times"],
  ["dbt-names", "project", "dbt, model, warehouse, naming, staging", "dbt models: stg_ for sources, int_ for steps, mart_ for dashboards", "", "name for the new dbt model", "build a table that finance can point their charts at"],
  ["snowflake-cost", "feedback", "snowflake, cost, warehouse, query, expensive", "Use the XS warehouse for exploration; L costs 40 euros an hour", "", "run this snowflake query", "last month's data bill was insane"],
  ["terraform-state", "project", "terraform, state, plan, apply, infra", "terraform apply runs only in CI; locally use plan", "The state is in GCS.", "apply the terraform change", "create one more database server"],
  ["cidr-ranges", "reference", "network, cidr, vpc, subnet, ip", "VPC ranges: 10.20.0.0/16 production, 10.30.0.0/16 staging", "", "which cidr is free for a new subnet", "open the firewall for the test machines"],
  ["cert-renewal", "project", "certificate, tls, ssl, renew, expire", "The partner certificate is renewed by hand each October; ask Yusuf", "", "tls certificate expires soon", "handshake with the bank fails since this morning"],
  ["rate-limit-partner", "project", "rate limit, partner, throttle, 429, shipping", "The courier API allows 5 requests per second for all of us together", "", "we get 429 from the courier, rate limit?", "speed up the parcel label printing with more parallel calls"],
  ["courier-sandbox", "reference", "courier, sandbox, test, shipping, label", "The courier sandbox accepts only postcode 1012AB", "", "test the courier integration in the sandbox", "address is rejected when I try to send a dummy parcel"],
  ["vat-rules", "reference", "vat, tax, invoice, rate, country", "VAT rates come from the tax service, never from a constant", "", "which vat rate for the invoice", "Swiss buyers pay the wrong amount on top"],
  ["invoice-numbers", "project", "invoice, number, sequence, gap", "Invoice numbers must have no gaps; they come from a locked sequence", "The tax office checks.", "generate invoice numbers", "let's delete these three bills that were made by mistake"],
  ["auth-keycloak", "project", "login, auth, keycloak, oidc, token, session", "Login is Keycloak; tokens live for five minutes", "", "login token expires too early", "users get kicked out all the time"],
  ["roles", "project", "role, permission, admin, access, rbac", "Roles: clerk, lead, admin; only lead and above see margins", "", "which role may see margins", "hide the profit column from normal staff"],
  ["mobile-release", "project", "app, ios, android, release, store, mobile", "The mobile app is released every second Tuesday; code freeze on the Friday before", "", "when is the next mobile app release", "can this iphone fix still make it?"],
  ["grpc-proto", "project", "grpc, proto, protobuf, buf, generate", "Proto files are in the repository contracts; run buf generate there", "", "add a field to the proto", "the generated client doesn't know the new property"],
  ["openapi-first", "project", "openapi, api, endpoint, spec, route", "Change openapi.yaml first; handlers are generated from it", "", "add an api endpoint for refunds", "expose the stock level over http"],
  ["go-errors", "feedback", "go, error, wrap, golang", "Wrap Go errors with %w and a verb phrase, no 'failed to'", "", "handle the error in go", "review inventory/reserve.go"],
  ["rust-unsafe", "feedback", "rust, unsafe, ffi, unwrap, panic", "No unsafe and no unwrap outside of tests in the Rust crates", "", "can i unwrap here in rust", "the pricing engine aborts on bad input"],
  ["benchmarks", "project", "benchmark, performance, regression, criterion", "Run make bench before and after; CI compares with main and allows 3 %", "", "run the benchmark", "did this make it any faster?"],
  ["docs-adr", "project", "adr, docs, decision, architecture", "Decisions are written as ADRs in docs/adr, template 0000", "", "write an adr for the cache decision", "put down why we picked Rabbit over NATS"],
  ["standup-notes", "user", "standup, notes, summary, done, yesterday", "Standup is at 9:45; wants three bullets: done, next, blocked", "", "write my standup notes", "sum up what I did since monday for the team"],
];

export const outsiderMemories: readonly Memory[] = rows.map(([name, type, tags, description, body]) => ({
  name,
  scope: "user",
  tier: "long-term",
  type,
  tags: tags.split(", "),
  description,
  source: "agent",
  labels: [],
  updated: "2026-05-01",
  body,
}));

export const outsiderQueries: readonly LabelledQuery[] = rows.flatMap(
  ([wanted, , , , , near, far]) =>
    [
      { text: near, wanted, how: "near" },
      { text: far, wanted, how: "far" },
    ] as const,
);
