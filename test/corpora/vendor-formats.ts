/**
 * What secrets look like, as their vendors give them out, one to a line: class, how it is told (`own` by its own form, else the
 * variable it is usually kept in and the name in prose), and the form. Written from the vendors' formats, not from the rules.
 *
 * `{A20}` 20 letters and digits, `W` with `_` and `-`, `h` hex, `H` upper case hex, `U` upper case and digits, `l` lower case and
 * digits, `L` letters, `d` digits, `b` base64, `t` base32, `m` lower case base32, `s` base58, `g` bech32; `{A20-30}` a length in
 * between; `{uuid}`; `{a|b}` one of these.
 */
export interface VendorFormat {
  readonly kind: string;
  /** The variable it is kept in; absent for what is known by its own form. */
  readonly variable?: string;
  readonly prose?: string;
  readonly form: string;
}

const table = `
aws-access-key-id|own|AKIA{t16}
aws-temporary-key-id|own|ASIA{t16}
aws-secret-access-key|AWS_SECRET_ACCESS_KEY AWS secret access key|{b40}
aws-session-token|AWS_SESSION_TOKEN|{b300-500}
aws-bedrock-key|own|ABSK{b128}
amazon-mws-token|own|amzn.mws.{uuid}
google-api-key|own|AIza{W35}
google-oauth-client-secret|own|GOCSPX-{W28}
google-oauth-access-token|own|ya29.{W100-180}
google-oauth-refresh-token|own|1//0{W50-90}
google-storage-hmac-id|own|GOOG1E{U57}
azure-storage-key|AZURE_STORAGE_ACCOUNT_KEY|{b86}==
azure-client-secret|own|{A3}{d1}Q~{W34}
azure-devops-pat|AZURE_DEVOPS_PAT Azure DevOps PAT|{m52}
alibaba-access-key-id|own|LTAI5t{A18}
alibaba-secret-key|ALIYUN_ACCESS_KEY_SECRET|{A30}
tencent-secret-id|own|AKID{A32}
tencent-secret-key|TENCENTCLOUD_SECRET_KEY|{A32}
yandex-api-key|own|AQVN{W36}
ibm-cloud-key|IBMCLOUD_API_KEY IBM Cloud API key|{W44}
digitalocean-token|own|{dop|doo|dor}_v1_{h64}
linode-token|LINODE_TOKEN Linode token|{h64}
vultr-key|VULTR_API_KEY|{U36}
hetzner-token|HCLOUD_TOKEN Hetzner API token|{A64}
scaleway-access-key|own|SCW{U17}
scaleway-secret-key|SCW_SECRET_KEY Scaleway secret key|{uuid}
ovh-key|OVH_APPLICATION_SECRET|{A32}
cloudflare-api-token|CLOUDFLARE_API_TOKEN Cloudflare API token|{W40}
cloudflare-global-key|CLOUDFLARE_API_KEY Cloudflare key|{h37}
cloudflare-origin-ca-key|own|v1.0-{h24}-{h146}
fastly-token|FASTLY_API_TOKEN Fastly token|{W32}
heroku-api-key|HEROKU_API_KEY Heroku API key|{uuid}
heroku-platform-key|own|HRKU-AA{W58}
vercel-token|VERCEL_TOKEN Vercel token|{A24}
netlify-token|own|nfp_{A36}
fly-token|own|fm2_{b160}
render-key|own|rnd_{A32}
railway-token|RAILWAY_TOKEN Railway token|{uuid}
supabase-access-token|own|sbp_{h40}
supabase-secret-key|own|sb_secret_{W31}
planetscale-token|own|pscale_tkn_{W43}
neon-key|own|napi_{l64}
databricks-token|own|dapi{h32}
upstash-token|UPSTASH_REDIS_REST_TOKEN|{A56-70}
tailscale-key|own|tskey-auth-{A12}CNTRL-{A32}
ngrok-token|NGROK_AUTHTOKEN ngrok authtoken|2{A26}_{A21}
github-pat|own|ghp_{A36}
github-fine-grained-pat|own|github_pat_11{U20}_{A59}
github-oauth-token|own|gho_{A36}
github-user-token|own|ghu_{A36}
github-app-token|own|ghs_{A36}
github-refresh-token|own|ghr_{A76}
gitlab-pat|own|glpat-{W20}
gitlab-deploy-token|own|gldt-{W20}
gitlab-runner-token|own|glrt-{W20}
gitlab-runner-registration|own|GR1348941{W20}
gitlab-ci-job-token|own|glcbt-64_{W20}
gitlab-trigger-token|own|glptt-{h40}
gitlab-agent-token|own|glagent-{W50}
gitlab-oauth-secret|own|gloas-{h64}
bitbucket-app-password|own|ATBB{A24}{H8}
atlassian-api-token|own|ATATT3xFfGF0{W168}={H8}
atlassian-legacy-token|JIRA_API_TOKEN Jira API token|{A24}
circleci-token|own|CCIPAT_{A22}_{h40}
circleci-legacy-token|CIRCLECI_TOKEN CircleCI token|{h40}
buildkite-token|own|bkua_{h40}
travis-token|TRAVIS_API_TOKEN Travis token|{W22}
drone-token|DRONE_TOKEN Drone token|{A32}
jenkins-token|JENKINS_API_TOKEN Jenkins API token|11{h32}
codecov-token|CODECOV_TOKEN Codecov token|{uuid}
sonarqube-token|own|{sqp|squ|sqa}_{h40}
snyk-token|SNYK_TOKEN Snyk token|{uuid}
sourcegraph-token|own|sgp_{h16}_{h40}
gitea-token|GITEA_TOKEN Gitea token|{h40}
npm-token|own|npm_{A36}
pypi-token|own|pypi-AgEIcHlwaS5vcmc{W140-180}
rubygems-key|own|rubygems_{h48}
crates-token|own|cio{A32}
nuget-key|own|oy2{l43}
docker-pat|own|dckr_pat_{W27}
docker-org-token|own|dckr_oat_{W32}
clojars-token|own|CLOJARS_{l60}
artifactory-api-key|own|AKCp{A69}
artifactory-reference-token|own|cmVmdGtuO{A55}
pulumi-token|own|pul-{h40}
terraform-token|own|{A14}.atlasv1.{W67}
infracost-key|own|ico-{A32}
prefect-key|own|pnu_{l36}
postman-key|own|PMAK-{h24}-{h34}
readme-key|own|rdme_xn8s9h{l64}
openai-project-key|own|sk-proj-{W74}T3BlbkFJ{W74}
openai-service-key|own|sk-svcacct-{W74}T3BlbkFJ{W74}
openai-key|own|sk-{A20}T3BlbkFJ{A20}
anthropic-key|own|sk-ant-api03-{W93}AA
anthropic-admin-key|own|sk-ant-admin01-{W93}AA
anthropic-oauth-token|own|sk-ant-oat01-{W93}AA
openrouter-key|own|sk-or-v1-{h64}
deepseek-key|own|sk-{h32}
huggingface-token|own|hf_{L34}
replicate-token|own|r8_{A37}
groq-key|own|gsk_{A52}
xai-key|own|xai-{A80}
perplexity-key|own|pplx-{A48}
cohere-key|COHERE_API_KEY Cohere API key|{A40}
mistral-key|MISTRAL_API_KEY Mistral API key|{A32}
together-key|TOGETHER_API_KEY|{h64}
fireworks-key|own|fw_{A24}
elevenlabs-key|own|sk_{h48}
langsmith-key|own|lsv2_pt_{h32}_{h10}
langfuse-secret-key|own|sk-lf-{uuid}
pinecone-key|own|pcsk_{A6}_{A63}
nvidia-key|own|nvapi-{W64}
cerebras-key|own|csk-{l48}
tavily-key|own|tvly-dev-{A32}
firecrawl-key|own|fc-{h32}
e2b-key|own|e2b_{h40}
deepgram-key|DEEPGRAM_API_KEY Deepgram key|{h40}
assemblyai-key|ASSEMBLYAI_API_KEY AssemblyAI key|{h32}
wandb-key|WANDB_API_KEY wandb key|{h40}
zai-key|ZAI_API_KEY|{h32}.{A16}
serpapi-key|SERPAPI_API_KEY SerpApi key|{h64}
stripe-secret-key|own|sk_{live|test}_51{A97}
stripe-short-key|own|sk_live_{A24}
stripe-restricted-key|own|rk_live_51{A97}
webhook-signing-secret|own|whsec_{A32}
square-access-token|own|sq0atp-{W22}
square-oauth-secret|own|sq0csp-{W43}
square-token|own|EAAA{W60}
braintree-token|own|access_token$production\${l16}\${h32}
plaid-access-token|own|access-production-{uuid}
plaid-secret|PLAID_SECRET Plaid secret|{h30}
shopify-token|own|{shpat|shpca|shppa|shpss}_{h32}
razorpay-key|own|rzp_live_{A14}
flutterwave-secret-key|own|FLWSECK-{h32}-X
mollie-key|own|live_{A30}
coinbase-secret|COINBASE_API_SECRET Coinbase secret|{A64}
binance-key|BINANCE_API_SECRET Binance secret|{A64}
infura-key|INFURA_API_KEY Infura key|{h32}
etherscan-key|ETHERSCAN_API_KEY Etherscan key|{U34}
ethereum-private-key|PRIVATE_KEY private key|0x{h64}
extended-private-key|own|xprv9s21ZrQH143K{s96}
slack-bot-token|own|xoxb-{d12}-{d13}-{A24}
slack-user-token|own|xoxp-{d12}-{d12}-{d13}-{h32}
slack-session-token|own|xoxc-{d12}-{d12}-{d13}-{h64}
slack-app-token|own|xapp-1-A{U10}-{d13}-{h64}
slack-configuration-token|own|xoxe.xoxp-1-{b166}
slack-webhook-path|own|https://hooks.slack.com/services/T{U10}/B{U10}/{A24}
discord-bot-token|DISCORD_TOKEN Discord bot token|M{A25}.{A6}.{W38}
discord-webhook-path|own|https://discord.com/api/webhooks/{d18}/{W68}
zapier-webhook-path|own|https://hooks.zapier.com/hooks/catch/{d7}/{l7}/
telegram-bot-token|own|{d10}:AA{W33}
twilio-api-key|own|SK{h32}
twilio-auth-token|TWILIO_AUTH_TOKEN Twilio auth token|{h32}
sendgrid-key|own|SG.{W22}.{W43}
mailgun-key|own|key-{h32}
mailgun-private-key|MAILGUN_API_KEY Mailgun key|{h32}-{h8}-{h8}
mailchimp-key|own|{h32}-us{d1}
mailjet-secret|MAILJET_SECRET_KEY Mailjet secret key|{h32}
postmark-token|POSTMARK_SERVER_TOKEN Postmark token|{uuid}
brevo-key|own|xkeysib-{h64}-{A16}
resend-key|own|re_{A8}_{A24}
vonage-secret|VONAGE_API_SECRET Vonage secret|{A16}
facebook-access-token|own|EAAC{A160-200}
facebook-app-secret|FACEBOOK_APP_SECRET Facebook app secret|{h32}
twitter-secret|TWITTER_ACCESS_TOKEN_SECRET|{A45}
hubspot-token|own|pat-{na1|eu1}-{uuid}
salesforce-session-id|own|00D{A12}!AQ{A94}
airtable-pat|own|pat{A14}.{h64}
notion-token|own|ntn_{A46}
notion-secret|own|secret_{A43}
asana-token|ASANA_ACCESS_TOKEN|2/{d16}/{d16}:{h32}
linear-key|own|lin_api_{A40}
clickup-token|own|pk_{d8}_{U32}
trello-token|own|ATTA{h72}
trello-key|TRELLO_API_KEY Trello key|{h32}
figma-token|own|figd_{W40}
dropbox-token|own|sl.{W134}
contentful-token|own|CFPAT-{W43}
typeform-token|own|tfp_{W44}
zendesk-token|ZENDESK_API_TOKEN Zendesk token|{A40}
easypost-key|own|EZAK{A54}
shippo-token|own|shippo_live_{h40}
duffel-token|own|duffel_live_{W43}
algolia-key|ALGOLIA_ADMIN_KEY Algolia admin key|{h32}
mapbox-secret-token|own|sk.eyJ1Ijoi{A70}.{A22}
rapidapi-key|RAPIDAPI_KEY RapidAPI key|{h10}msh{h15}p{h6}jsn{h12}
spotify-secret|SPOTIFY_CLIENT_SECRET Spotify client secret|{h32}
okta-token|OKTA_API_TOKEN Okta token|00{W40}
auth0-secret|AUTH0_CLIENT_SECRET Auth0 client secret|{W64}
datadog-api-key|DD_API_KEY Datadog API key|{h32}
datadog-app-key|DD_APP_KEY Datadog app key|{h40}
newrelic-user-key|own|NRAK-{U27}
newrelic-insert-key|own|NRII-{W32}
newrelic-license-key|own|{h36}NRAL
sentry-user-token|own|sntryu_{h64}
sentry-org-token|own|sntrys_eyJpYXQiOjE3{A140}_{A43}
honeycomb-key|own|hcaik_{l58}
grafana-cloud-token|own|glc_eyJvIjoi{A110}
grafana-service-token|own|glsa_{A32}_{h8}
splunk-token|SPLUNK_HEC_TOKEN Splunk HEC token|{uuid}
dynatrace-token|own|dt0c01.{U24}.{U64}
pagerduty-key|PAGERDUTY_API_KEY PagerDuty key|u+{A18}
opsgenie-key|OPSGENIE_API_KEY Opsgenie key|{uuid}
rollbar-token|ROLLBAR_ACCESS_TOKEN Rollbar token|{h32}
mixpanel-secret|MIXPANEL_API_SECRET Mixpanel secret|{h32}
segment-write-key|SEGMENT_WRITE_KEY Segment write key|{A32}
posthog-personal-key|own|phx_{A43}
launchdarkly-key|own|sdk-{uuid}
doppler-token|own|dp.pt.{A43}
vault-service-token|own|hvs.CAES{W90}
vault-batch-token|own|hvb.AAAAAQ{W130}
vault-legacy-token|VAULT_TOKEN Vault token|s.{A24}
onepassword-service-token|own|ops_eyJzaWduSW5BZGRyZXNzIjoi{A300}
age-secret-key|own|AGE-SECRET-KEY-1{g58}
jwt|own|eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIx{W60-200}.{W86}
paseto|own|v4.local.{W120}
bcrypt-hash|own|$2b$12\${A53}
argon2-hash|own|$argon2id$v=19$m=65536,t=3,p=4\${b22}\${b43}
crypt-hash|own|$6\${A16}\${A86}
pbkdf2-hash|own|pbkdf2_sha256$600000\${A22}\${b43}=
api-key|INTERNAL_API_KEY|{A32}
api-key-hex|BILLING_API_KEY|{h40}
api-key-uuid|REPORTS_API_KEY|{uuid}
secret-key|SECRET_KEY_BASE|{h128}
jwt-secret|JWT_SECRET|{A48}
client-secret|OAUTH_CLIENT_SECRET|{W40}
access-token|SERVICE_ACCESS_TOKEN|{W64}
refresh-token|SERVICE_REFRESH_TOKEN|{W64}
session-secret|SESSION_SECRET|{h64}
encryption-key|ENCRYPTION_KEY|{b43}=
signing-key|WEBHOOK_SIGNING_KEY|{h64}
registry-token|REGISTRY_TOKEN|{A40}
google-bound-key|own|AQ.Ab8RN6{W46}
vercel-prefixed-token|own|vcp_{A56}
vercel-blob-token|own|vercel_blob_rw_{A16}_{A30}
cloudflare-prefixed-token|own|cfut_{A40}
snyk-access-token|own|snyk_uat.{h8}.{W60}
dbt-token|own|dbtu_{W40}
mercadopago-token|own|APP_USR-{d16}-{d6}-{h32}-{d9}
wandb-prefixed-key|own|wandb_v1_{A40}
axiom-token|own|xaat-{uuid}
logfire-token|own|pylf_v1_eu_{A43}
infisical-token|own|st.{h24}.{h32}.{h32}
bitwarden-token|own|0.{uuid}.{A30}:{b22}==
prefect-key|own|pnu_{A36}
zoho-token|own|1000.{h32}.{h32}
nostr-key|own|nsec1{m58}
age-post-quantum-key|own|AGE-SECRET-KEY-PQ-1{g58}
harness-token|own|hat1.eyJ2ZXIiOjEs{W120-400}.{W43}
`;

export const vendorFormats: readonly VendorFormat[] = table
  .trim()
  .split("\n")
  .map((line) => {
    const [kind = "", told = "", ...form] = line.split("|");
    const [variable = "", ...prose] = told.split(" ");
    const base = { kind, form: form.join("|") };
    if (variable === "own") return base;
    return prose.length === 0 ? { ...base, variable } : { ...base, variable, prose: prose.join(" ") };
  });
