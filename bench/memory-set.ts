/**
 * A labelled set for the choice of memories: 100 memories as agents and people write them, with two inputs each to which the memory
 * is the answer. The first input of a pair leans on the words of the memory; the second says it as somebody would who does not know
 * how it was written down. Written by hand; the matcher was tuned with this set.
 */
import type { Memory, MemoryType } from "#base";

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
  ["pnpm-only", "feedback", "pnpm npm yarn install package-manager dependencies", "Always use pnpm, never npm or yarn", "The lock file is pnpm-lock.yaml. npm install breaks the workspace links.", "add zod with npm please", "install the left-pad package"],
  ["deploy-friday", "feedback", "deploy release friday weekend", "No deployments on Fridays after noon", "The on-call person is alone on weekends. Ask Priya for an exception.", "deploy the api now, it is friday", "can we ship this before the weekend?"],
  ["staging-url", "reference", "staging environment preview try-out qa vpn", "The staging environment is at staging.acme.test behind the VPN", "Log in with the shared QA account from the vault.", "open the staging environment", "where can I try the change before it goes live?"],
  ["db-migrations", "project", "migrations database schema atlas table column field", "Database migrations are written with Atlas and live in db/migrations", "Run atlas migrate diff NAME. Never edit an applied migration.", "write a migration that adds a column", "the orders table needs a new field for discounts"],
  ["commit-style", "feedback", "commit git message changes", "Commit messages follow Conventional Commits with a scope", "feat(api): …, fix(web): …; the body says why.", "commit this with a good message", "record my changes in git"],
  ["tabs-indent", "user", "style indentation formatting reformat tabs spaces", "Prefers tabs over spaces for indentation", "Also in YAML wherever it is allowed.", "which indentation do I like?", "reformat this file the way I like it"],
  ["jest-to-vitest", "project", "vitest jest tests unit spec", "Tests run with Vitest; Jest was removed in March", "Use vi.fn and vi.spyOn. npx vitest run FILE.", "write a jest test for the parser", "cover the parser with unit specs"],
  ["payment-sandbox", "reference", "stripe payments sandbox credit-card checkout", "The Stripe sandbox account is acct_test_42; card 4242 4242 4242 4242 works", "Webhooks arrive at /hooks/stripe.", "test the stripe checkout", "try out paying with a fake credit card"],
  ["api-versioning", "project", "api version route endpoint path", "The public API is versioned in the path, /v2 is current", "v1 is frozen and ends in December.", "add an api endpoint for invoices", "expose a new route for customers to fetch invoices"],
  ["timezones-utc", "project", "time timezone dates timestamp utc", "All timestamps are stored in UTC and shown in the user's timezone", "Use Temporal, not Date.", "store the timestamp of the last login", "the meeting shows up an hour late for people in Lisbon"],
  ["flaky-checkout", "project", "flaky ci checkout e2e payment test", "The checkout end-to-end test is flaky because of the payment iframe", "Retry twice; a real fix is in ticket SHOP-812.", "the checkout e2e test failed in ci", "the pipeline goes red now and then at the payment step"],
  ["owner-search", "reference", "search owner team contact results", "The search service belongs to the Discovery team; ask Ines Duarte", "Channel: discovery-help.", "who owns the search service?", "whom do I ask about odd results in the product finder?"],
  ["short-answers", "user", "answers brevity verbose length tone", "Wants short answers without a summary at the end", "Bullets are fine. No emojis.", "explain this error, keep the answer short", "how verbose should you be with me?"],
  ["no-force-push", "feedback", "git push force history rewrite remote branch", "Never force-push to shared branches", "Rebase only branches that nobody else has.", "push my branch with force", "rewrite the history on the remote so it looks clean"],
  ["redis-cache", "project", "redis cache catalog stale prices purge", "Responses of the catalog are cached in Redis for five minutes", "Key prefix cat:. Purge with make cache-clear.", "clear the redis cache", "prices I changed still show the old value for some minutes"],
  ["feature-flags", "project", "flags unleash toggle rollout switch percent", "Feature flags are managed in Unleash, defaults in flags.yaml", "A flag is removed two sprints after full rollout.", "add a feature flag for dark mode", "turn the new checkout on for ten percent of people only"],
  ["node-version", "project", "node version engine nvm runtime", "The project needs Node 24; .nvmrc pins it", "Older versions lack the permission model.", "which node version do we run?", "the build says unsupported engine on my machine"],
  ["error-format", "project", "errors api problem response body status", "API errors are RFC 9457 problem documents", "type, title, status, detail, instance.", "return an error from the api when the id is unknown", "what should the body look like when a request is rejected?"],
  ["i18n-files", "project", "i18n translations locale language text wording", "Translations live in locales/*.json and are exported to Lokalise every night", "English is the source; keys are dotted.", "add a translation for the button", "the German text on the settings page is wrong"],
  ["logging-pino", "project", "logging pino console print debug", "Structured logs with pino; never console.log", "Child loggers carry the request id.", "add logging to the worker", "print the value so that we can see it in production"],
  ["secrets-vault", "reference", "secrets vault password credentials token", "Secrets come from HashiCorp Vault, path kv/shop", "Locally: vault login -method=oidc.", "where do secrets live?", "I need the password of the reporting database"],
  ["perf-budget", "project", "performance bundle size landing-page homepage javascript", "The landing page has a budget of 150 kB JavaScript", "CI fails with size-limit.", "is the landing page within its performance budget?", "the homepage loads too much js"],
  ["retry-policy", "project", "retry http backoff network failure idempotency", "Outgoing HTTP calls retry three times with jitter", "lib/http/retry.ts; never retry POST without an idempotency key.", "add retries to the http client", "calls to the shipping partner sometimes fail, do it again automatically"],
  ["kafka-topics", "reference", "kafka events topics message publish emit", "Kafka topics are named domain.entity.verb and declared in topics.yml", "Retention is seven days.", "create a kafka topic for refunds", "emit an event when money is given back"],
  ["accessibility", "feedback", "a11y accessibility keyboard focus screen-reader label", "Every interactive element needs a visible focus state and a label", "Checked with axe in CI.", "make the dialog accessible, focus state included", "can somebody with a screen reader use this form?"],
  ["docker-compose", "project", "docker local services start laptop development", "Local services start with docker compose up db redis", "The web app itself runs outside of Docker.", "start the local services with docker", "get everything running on my laptop"],
  ["review-size", "feedback", "review pull-request diff size lines", "Pull requests should stay under 400 changed lines", "Split refactorings from features.", "open a pull request for this", "is this diff too big to hand in?"],
  ["lunch-hours", "user", "meetings calendar schedule lunch", "No meetings between 12 and 14; lunch with the kids", "Prefers mornings for deep work.", "schedule a meeting with me", "find a slot in my calendar tomorrow"],
  ["css-modules", "project", "css styling tailwind colours", "Styling uses CSS modules; Tailwind was rejected", "See docs/adr/0012.", "style the header with tailwind", "make the title bigger and blue"],
  ["openapi-spec", "reference", "openapi swagger api spec generated", "The OpenAPI description is generated from zod schemas, npm run openapi", "Do not edit openapi.json by hand.", "update the openapi file", "the swagger page misses my new parameter"],
  ["backup-nightly", "project", "backup restore postgres recovery deleted", "Postgres is backed up every night at 02:00 to the bucket acme-backups", "Restore drill each quarter.", "when does the backup run?", "somebody deleted rows by accident, can we get them back?"],
  ["oncall-rota", "reference", "oncall pagerduty incident outage rota", "The on-call rota is in PagerDuty, schedule Platform", "Swap shifts by Thursday.", "who is on call today?", "production is down at night, whom do I wake?"],
  ["graphql-no", "feedback", "graphql rest api query", "No GraphQL; REST only", "Decided in 2024 after the gateway experiment.", "build a graphql resolver", "let clients pick which fields they get back"],
  ["legacy-billing", "project", "billing legacy invoice refactoring", "The billing module in legacy/ is frozen until the rewrite", "Only security fixes.", "refactor the legacy billing code", "clean up the invoice calculation"],
  ["monorepo-turbo", "project", "turborepo monorepo build packages cache", "The monorepo is built with Turborepo; packages in packages/*", "Remote cache is on.", "where is the ui package in the monorepo?", "why does my build finish in one second?"],
  ["prod-readonly", "feedback", "production database readonly write runbook", "Production database access is read-only for agents", "Writes go through a runbook.", "connect to the production database", "fix the wrong customer row directly in prod"],
  ["dark-theme", "user", "theme terminal colours contrast", "Uses a dark terminal with the Solarized palette", "Colours must have contrast on #002b36.", "pick colours for my dark terminal", "the yellow text is hard to read for me"],
  ["email-templates", "project", "email mjml templates newsletter outlook", "Email templates are MJML in mail/, previewed with make mail", "Outlook is supported.", "change the email template of the welcome mail", "the newsletter looks broken in outlook"],
  ["rate-limits", "project", "limits rate throttling quota 429 api", "The public API allows 60 requests per minute for each key", "Returned in RateLimit headers.", "what are the rate limits of the api?", "a partner gets 429 all the time"],
  ["test-data", "reference", "fixtures tests factories sample-data", "Test fixtures are made with factories in test/factories", "No JSON dumps.", "add a fixture for a customer", "I need a sample order in my spec"],
  ["arch-hexagonal", "project", "architecture layers domain imports dependencies", "Hexagonal architecture: domain never imports infrastructure", "Checked by dependency-cruiser.", "where does this class go in our architecture?", "can the order entity call the mailer directly?"],
  ["terraform-state", "reference", "terraform infrastructure cloud servers", "Terraform state is in the S3 bucket acme-tf, one workspace per stage", "Plan in CI, apply by a person.", "run terraform plan", "create another server in the cloud"],
  ["licence-mit", "project", "license dependencies gpl legal", "Only dependencies under MIT, Apache-2.0 or BSD licences", "license-checker runs in CI.", "is this dependency's licence fine?", "can I use a GPL library here?"],
  ["ios-min", "project", "ios mobile iphone version", "The iOS app supports iOS 16 and newer", "Fastlane builds it.", "which ios versions do we support?", "may I use an api that only newer iphones have?"],
  ["name-pronoun", "user", "name pronouns signature mail", "Is called Sam and uses they/them", "Signs mails with S.", "what is my name?", "write a mail in my name to the vendor"],
  ["sql-style", "feedback", "sql format query select", "SQL keywords in upper case, one clause per line", "sqlfluff checks it.", "format this sql query", "tidy up this select statement"],
  ["webhook-signature", "project", "webhooks security signature callback verify", "Webhooks are verified with an HMAC signature in X-Acme-Signature", "Reject if older than five minutes.", "verify the webhook signature", "how do we know a callback really comes from us?"],
  ["storybook", "reference", "storybook ui components widgets", "Components are documented in Storybook at ui.acme.test", "Add a story for each state.", "add a story for the button component", "where can I see what our widgets look like?"],
  ["error-budget", "project", "slo error-budget outages reliability release", "The SLO is 99.9 percent; when the error budget is used up, features stop", "Tracked in Grafana.", "how much error budget is left?", "are we allowed to release features after all those outages?"],
  ["cron-timezone", "project", "cron jobs schedule timezone daylight-saving", "Cron jobs run in Europe/Berlin, not UTC", "Defined in jobs/schedule.ts.", "add a cron job that runs every morning", "the report comes an hour late since summer time began"],
  // From here on: the second half.
  ["python-uv", "project", "python uv virtualenv scripts dependencies", "Python scripts use uv, with inline dependencies", "uv run script.py; no requirements.txt.", "run the python script", "set up a virtualenv for the tools folder"],
  ["image-cdn", "project", "images cdn pictures resize photos", "Images are served by imgix and resized with query parameters", "Never commit files larger than 200 kB.", "resize the product images on the cdn", "the pictures in the shop are far too heavy"],
  ["mob-thursday", "user", "pairing calendar thursday jonas", "Pairs with Jonas on Thursday afternoons", "Screen sharing with Tuple.", "when do I pair with jonas?", "am I free on thursday at three?"],
  ["sentry-project", "reference", "sentry errors exceptions crashes monitoring", "Crashes are reported to Sentry, project shop-web", "Alerts go to #alerts-web.", "look at the sentry errors of the shop", "where do exceptions of visitors end up?"],
  ["no-default-export", "feedback", "exports typescript modules imports", "No default exports in TypeScript", "Named exports keep renames safe.", "export this function from the module", "write a new typescript module for prices"],
  ["queue-dead-letter", "project", "queue sqs retry failed jobs replay", "Failed messages go to a dead letter queue after five attempts", "Replay with make replay.", "what happens to failed messages in the queue?", "a job crashed last night, run it again"],
  ["gdpr-delete", "project", "gdpr privacy deletion account personal-data", "Account deletion must remove personal data within 30 days", "docs/privacy.md lists the tables.", "implement deletion of personal data", "a customer wants to be forgotten"],
  ["release-train", "project", "release schedule deploy tag", "Releases leave every second Tuesday, tag vYYYY.WW", "Cut by the release captain.", "when is the next release?", "when will my fix reach customers?"],
  ["mac-user", "user", "macos shell fish terminal commands", "Works on macOS with fish as the shell", "Give commands for fish, not bash.", "give me a shell command to list ports", "how do I set an environment variable for good?"],
  ["search-elastic", "project", "elasticsearch search index products german", "Product search uses Elasticsearch 8 with the German analyzer", "Reindex takes 40 minutes.", "change the elasticsearch mapping", "customers do not find shoes when they type the plural"],
  ["pdf-invoices", "project", "pdf invoices bill printing template", "Invoices are rendered to PDF by Gotenberg", "Templates in billing/pdf.", "change the pdf of the invoice", "our bill lacks the VAT number when printed"],
  ["feature-request-form", "reference", "feedback customers feature-requests wishes canny", "Feature requests of customers are collected in Canny", "Vote counts matter for planning.", "where do customers leave feature requests?", "what do our users wish for the most?"],
  ["branch-naming", "feedback", "branches git naming ticket", "Branches are called user/ticket-topic", "sam/SHOP-12-cart.", "create a branch for this ticket", "start working on SHOP-99 in git"],
  ["csp-headers", "project", "security headers csp scripts inline", "A strict content security policy forbids inline scripts", "Nonces come from the middleware.", "the content security policy blocks my script", "the analytics snippet does not run on our pages"],
  ["snapshot-tests", "feedback", "tests snapshots assertions components", "Avoid snapshot tests; assert what matters", "Large snapshots get approved unread.", "add a snapshot test for the page", "verify what this component renders"],
  ["vpn-wireguard", "reference", "vpn remote access network internal", "VPN access uses WireGuard; ask IT for a config", "it@acme.test answers within a day.", "how do I get on the vpn?", "I cannot reach the internal sites from home"],
  ["decimal-money", "project", "money cents floats rounding currency", "Money is kept as integer cents, never as floats", "Use the Money class.", "compute the total amount of money in the cart", "adding 0.1 and 0.2 euros gives a strange sum"],
  ["design-figma", "reference", "figma design mockups screens", "Designs are in Figma, file Shop 2.0", "Ask Mika for edit rights.", "open the figma design of the cart", "how should the new screen look?"],
  ["ci-minutes", "project", "ci github draft pull-request pipeline", "CI minutes are limited; draft pull requests run only lint", "Mark ready to run all.", "why does ci run only lint on my draft?", "the tests did not start for my change"],
  ["grpc-internal", "project", "grpc services protobuf internal-calls", "Services talk gRPC internally; protos in proto/", "buf lint checks them.", "add a grpc method to the stock service", "how does the cart ask the warehouse for stock?"],
  ["sandbox-data", "feedback", "privacy data customers dump laptop production", "Never copy real customer data to a laptop", "Use the anonymised dump.", "download customer data for debugging", "get me a copy of the live tables to play with"],
  ["dutch-market", "project", "netherlands dutch launch ideal payments", "The launch in the Netherlands is planned for October", "iDEAL is required.", "when do we launch in the netherlands?", "do we have to support dutch bank payments soon?"],
  ["lint-biome", "project", "lint biome format eslint prettier style", "Biome formats and lints; ESLint and Prettier are gone", "npm run lint.", "fix the eslint errors", "the code style check complains"],
  ["session-cookies", "project", "sessions cookies login logout expiry", "Sessions are cookies with SameSite=Lax, rotated every hour", "auth/session.ts.", "how long do session cookies live?", "people get logged out after a while"],
  ["wiki-outline", "reference", "wiki docs documentation knowledge-base", "Team documentation lives in Outline, not in Confluence", "wiki.acme.test.", "where is our wiki?", "write down for colleagues how this works"],
  ["parallel-tests", "project", "tests database parallel isolation workers", "Each test worker gets its own database schema", "test_1 to test_8.", "why do tests use several database schemas?", "two specs trample on each other's rows"],
  ["memory-leak", "project", "memory leak worker images restart", "The image worker leaks memory and is restarted every six hours", "Tracked as SHOP-655.", "the worker leaks memory", "the resize process gets bigger and bigger until it is killed"],
  ["arabic-rtl", "project", "rtl arabic layout left right css", "Arabic is supported, so layouts must work right to left", "Use logical CSS properties.", "does the layout work for arabic?", "put an arrow icon to the left of the label"],
  ["expense-tool", "reference", "expenses receipts reimbursement travel refund", "Expenses are filed in Pleo before the fifth of the month", "Receipts as photos.", "how do I file expenses?", "I paid for a train ticket, how do I get it refunded?"],
  ["uuid-v7", "project", "ids uuid primary-key database", "Primary keys are UUIDv7, made in the application", "Not in the database.", "which ids do new tables get?", "how do I generate the primary key of a row?"],
  ["cors-origins", "project", "cors origins browser domain blocked", "Allowed CORS origins are listed in config/cors.ts", "Wildcards are refused.", "add a cors origin", "the browser blocks requests from our partner's domain"],
  ["vim-user", "user", "editor vim neovim ide", "Edits in Neovim and dislikes suggestions about VS Code", "Has LSP set up.", "which editor do I use?", "how do I jump to a definition quickly?"],
  ["bundle-analyzer", "reference", "bundle size javascript dependencies analyze", "npm run analyze shows what is in the JavaScript bundle", "Opens a treemap.", "show me what is in the bundle", "which dependency makes our js so large?"],
  ["worldpay-end", "project", "worldpay payments adyen provider cards", "Worldpay is switched off at the end of June; Adyen replaces it", "Contracts are signed.", "fix the worldpay integration", "which provider charges the cards from july on?"],
  ["load-tests", "project", "k6 load performance traffic stress-test", "Load tests are written with k6 and run against staging on Mondays", "1,500 virtual users.", "write a load test with k6", "will the site survive black friday?"],
  ["table-partitions", "project", "postgres partitions events history retention", "The events table is partitioned by month; old partitions are detached after a year", "pg_partman does it.", "how are partitions of the events table managed?", "can I query what happened two years ago?"],
  ["apology-tone", "feedback", "support tone customers reply complaint", "Replies to customers apologise once and name the next step", "No jargon.", "draft a reply to this customer", "answer the angry mail in the support inbox"],
  ["gpu-runner", "reference", "gpu ci runner training machine-learning", "Jobs that need a GPU use the runner label gpu-a10", "Two machines, first come first served.", "run this job on a gpu", "the model training is too slow on the build machine"],
  ["ssr-only", "project", "ssr nextjs rendering seo google", "Product pages are rendered on the server for search engines", "Client components only below the fold.", "is the product page rendered on the server?", "google does not index our articles"],
  ["barcode-scanner", "project", "barcode warehouse scanner devices latency timeout", "Warehouse scanners send EAN-13 and need a reply within 300 ms", "Zebra TC52.", "handle barcodes of the warehouse scanners", "the handheld devices time out when staff book goods in"],
  ["holiday-august", "user", "vacation holiday absence summer stand-in", "Is on vacation from 3 to 21 August", "Mara stands in.", "when am I on vacation?", "who covers for me in the summer?"],
  ["audit-log", "project", "audit log admin history who-changed", "Every change by an admin is written to the audit log", "audit.record(actor, action, target).", "write this action to the audit log", "who changed the price yesterday?"],
  ["date-format", "user", "dates format calendar week", "Writes dates as 2026-03-31 and weeks starting on Monday", "24-hour clock.", "which date format do I like?", "put today's day into the heading"],
  ["proxy-corp", "reference", "proxy network npm office download", "The corporate proxy is proxy.acme.test:3128; npm needs it too", "Set HTTPS_PROXY.", "configure the proxy for npm", "downloads hang in the office"],
  ["mutation-tests", "feedback", "stryker mutation tests pricing quality", "Mutation score of the pricing package stays above 80", "npx stryker run.", "run the mutation tests", "are the checks for prices any good?"],
  ["sso-okta", "project", "okta login sso employees sign-in", "Employees log in with Okta; local passwords exist only in tests", "SAML app shop-admin.", "how do employees log in?", "a new colleague cannot sign in to the admin"],
  ["tax-service", "reference", "tax vat avalara orders country", "Taxes are computed by the Avalara service, cached per postcode", "lib/tax.", "how are taxes computed?", "orders to Norway show the wrong VAT"],
  ["qa-signoff", "feedback", "qa release approval sign-off", "Nothing ships without the sign-off of Lena from QA", "She needs a day.", "is qa sign-off needed?", "merge and put it live today"],
  ["status-page", "reference", "status incident outage customers communication", "Outages are announced at status.acme.test within fifteen minutes", "Texts are in the runbook.", "where do we announce outages?", "tell everybody outside that the shop is broken right now"],
  ["weekly-report", "user", "report weekly management summary boss", "Sends a report to management every Friday: done, next, risks", "At most ten lines.", "write my weekly report", "sum up for my boss what happened"],
];

export const labelledMemories: readonly Memory[] = rows.map(([name, type, tags, description, body]) => ({
  ...{ name, type, description, body, scope: "project", tier: "long-term", source: "a person", labels: [] },
  tags: tags.split(" "),
}));

export interface LabelledQuery {
  readonly text: string;
  /** The name of the memory that answers it. */
  readonly wanted: string;
  readonly how: "near" | "far";
}

export const labelledQueries: readonly LabelledQuery[] = rows.flatMap(
  ([wanted, , , , , near, far]) =>
    [
      { text: near, wanted, how: "near" },
      { text: far, wanted, how: "far" },
    ] as const,
);

const SERVICES = ["stock", "pricing", "basket", "loyalty", "returns", "courier", "reviews", "wishlist", "vouchers"];
const PARTS = ["importer", "exporter", "scheduler", "dashboard", "adapter", "gateway", "indexer", "mailer", "reporter"];
const TOPICS = [
  "times out when the partner is slow",
  "keeps its settings in a yaml file",
  "is written in Go and built with Bazel",
  "reads events of the last seven days",
  "needs a restart after the certificate changes",
  "has a feature behind a switch",
  "sends a message to the team channel when it fails",
  "is tested against a copy of the schema",
  "stores its files in a bucket of its own",
  "was moved to the new cluster",
  "logs each request with the customer id",
];

/** Others of the same trade around them, so that common words are common: up to `count`. */
export function otherMemories(count: number): readonly Memory[] {
  return Array.from({ length: count }, (_, at): Memory => {
    const service = SERVICES[at % SERVICES.length] ?? "";
    const part = PARTS[Math.floor(at / SERVICES.length) % PARTS.length] ?? "";
    const topic = TOPICS[at % TOPICS.length] ?? "";
    const more = TOPICS[(at * 7 + 3) % TOPICS.length] ?? "";
    return {
      name: `${service}-${part}-${at}`,
      description: `The ${part} of the ${service} service ${topic}`,
      body: `Seen in run ${at}. It also ${more}.`,
      ...{ type: "project", scope: "project", tier: "long-term", source: "a person", labels: [] },
      tags: [service, part],
    };
  });
}
