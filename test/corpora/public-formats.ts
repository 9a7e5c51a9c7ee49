/**
 * Formats of secrets as public rule sets describe them, one to a line: who describes it (g gitleaks, t TruffleHog, s secretlint), its
 * name there, and the form. Transcribed from their documentation and rules, not from ours. Notation as in `vendor-formats.ts`; also
 * `w` letters, digits and `_`, `X` hex of both cases, `c` small letters, `C` capitals. Ids that open nothing by themselves, and keys
 * that are meant to be published, are left out.
 */
export interface PublicFormat {
  readonly name: string;
  readonly form: string;
}

function parse(table: string): readonly PublicFormat[] {
  return table
    .trim()
    .split("\n")
    .map((line) => {
      const [, name = "", form = ""] = /^\w (\S+) (.+)$/.exec(line) ?? [];
      return { name, form };
    });
}

/** Tokens that are told by a fixed beginning, or by a fixed part. */
export const prefixedFormats = parse(`
g 1password-secret-key A3-{U6}-{U11}-{U5}-{U5}-{U5}
g 1password-secret-key-long A3-{U6}-{U6}-{U5}-{U5}-{U5}-{U5}
g 1password-service-account ops_eyJ{b250-320}
g adobe-client-secret p8e-{A32}
g age-secret-key AGE-SECRET-KEY-1{g58}
g airtable-personal-token pat{A14}.{h64}
g alibaba-access-key LTAI{A20}
t alibaba LTAI{A17-21}
g anthropic-api-key sk-ant-api03-{W93}AA
g anthropic-admin-key sk-ant-admin01-{W93}AA
g artifactory-api-key AKCp{A69}
g artifactory-reference-token cmVmd{A59}
g atlassian-api-token ATATT3{W186}
t atlassian-token ATCTT3xFfG{W100-170}={A8}
g authress-access-key {sc|ext|scauth|authress}_{A5-30}.{A4-6}.acc_{A10-32}.{W30-120}
g aws-access-token {AKIA|ASIA|ABIA|ACCA}{t16}
t aws-access-key {AKIA|ABIA|ACCA}{U16}
g aws-access-token-legacy A3T{U1}{t16}
g aws-bedrock-long-lived ABSK{b109-269}
g aws-bedrock-short-lived bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{b60-300}
g azure-ad-client-secret {w3}{d1}Q~{W31-34}
t azure-container-registry {b42}+ACR{A6}
t azure-devops {A75}AZDO{A5}
g clickhouse-cloud-secret 4b1d{A38}
g clojars-api-token CLOJARS_{A60}
g cloudflare-origin-ca-key v1.0-{h24}-{h146}
s cloudflare-global-api-key cfk_{A40}{h8}
s cloudflare-user-token cfut_{A40}{h8}
s cloudflare-account-token cfat_{A40}{h8}
g databricks-api-token dapi{h32}
t databricks-token dapi{h32}-{d1}
g defined-networking dnkey-{l26}-{l52}
g digitalocean {dop|doo|dor}_v1_{h64}
g doppler-api-token dp.pt.{A43}
t doppler dp.{ct|sa|scim|audit}.{A40-44}
t doppler-service dp.st.{l2-30}.{A40-44}
g duffel-api-token duffel_{test|live}_{W43}
g dynatrace-api-token dt0c01.{A24}.{A64}
g easypost {EZAK|EZTK}{A54}
t facebook-oauth EAACEdEose0cBA{A20-80}
g facebook-page-access-token EAA{M|C}{A100-200}
g flutterwave-encryption-key FLWSECK_TEST-{h12}
g flutterwave-test-key FLWSECK_TEST-{h32}-X
t flutterwave FLWSECK-{l32}-X
g flyio-access-token fo1_{W43}
g flyio-macaroon {fm1a|fm1r|fm2}_{b100-400}
g frameio-api-token fio-u-{W64}
g gcp-api-key AIza{W35}
g github-pat ghp_{A36}
g github-oauth gho_{A36}
g github-app {ghu|ghs}_{A36}
g github-refresh ghr_{A36}
g github-fine-grained github_pat_{w82}
t github {ghp|gho|ghu|ghs|ghr}_{A36-120}
g gitlab-job-token glcbt-{A1-5}_{W20}
g gitlab-deploy-token gldt-{W20}
g gitlab-feature-flag glffct-{W20}
g gitlab-feed glft-{W20}
g gitlab-mail glimt-{W25}
g gitlab-agent glagent-{W50}
g gitlab-oauth gloas-{W64}
g gitlab-pat glpat-{W20}
g gitlab-pat-routable glpat-{W27-120}.{l2}{l7}
g gitlab-trigger glptt-{h40}
g gitlab-runner-registration GR1348941{W20}
g gitlab-runner glrt-{W20}
g gitlab-runner-routable glrt-t{d1}_{W27-120}.{l9}
g gitlab-scim glsoat-{W20}
g gitlab-session _gitlab_session={l32}
g gocardless live_{W40}
g grafana-api-key eyJrIjoi{A70-200}
g grafana-cloud glc_{b32-200}
g grafana-service-account glsa_{A32}_{X8}
g harness {pat|sat}.{W22}.{A24}.{A20}
g hashicorp-tf-token {l14}.atlasv1.{W60-70}
g heroku-v2 HRKU-AA{W58}
g huggingface-access-token hf_{L34}
g huggingface-organization api_org_{L34}
t huggingface {hf_|api_org_}{A34}
g infracost ico-{A32}
g intra42-secret s-s4t2{ud|af}-{h64}
g jwt ey{A20-40}.ey{A40-120}.{W43}
g jwt-base64 ZXlKaGJHY2lPaU{A60-160}
g linear lin_api_{A40}
g lob {live|test}_{h35}
g lob-pub {live|test}_pub_{h31}
g mailchimp {h32}-us{d2}
g mailgun key-{h32}
g mailgun-pub pubkey-{h32}
g maxmind {A6}_{A29}_mmk
g new-relic-browser NRJS-{h19}
g new-relic-insert NRII-{A32}
g new-relic-user NRAK-{A27}
g notion ntn_{d11}{A35}
g npm npm_{A36}
g octopus API-{U26}
g openai-project sk-{proj|svcacct|admin}-{W74}T3BlbkFJ{W74}
g openai-project-short sk-{proj|svcacct|admin}-{W58}T3BlbkFJ{W58}
g openai sk-{A20}T3BlbkFJ{A20}
g openshift sha256~{W43}
g perplexity pplx-{A48}
g plaid access-{sandbox|development|production}-{uuid}
g planetscale pscale_{tkn|oauth|pw}_{W32-64}
g postman PMAK-{X24}-{X34}
g prefect pnu_{A36}
g pulumi pul-{h40}
t pulumi pul-{l40}
g pypi pypi-AgEIcHlwaS5vcmc{W50-200}
g readme rdme_{l70}
g rubygems rubygems_{h48}
t rubygems rubygems_{A48}
g scalingo tk-us-{W48}
g sendgrid SG.{W22}.{W43}
g sendgrid-flat SG.{W66}
g sendinblue xkeysib-{h64}-{A16}
t sendinblue xkeysib-{W81}
g sentry-org sntrys_eyJpYXQiO{b40-120}LCJyZWdpb25fdXJs{b40-120}_{b43}
g sentry-user sntryu_{h64}
g settlemint sm_{aat|pat|sat}_{A16}
g shippo shippo_{live|test}_{X40}
g shopify shp{at|ca|pa|ss}_{X32}
t shopify shp{at|ca|pa|ss}_{A32}
g slack-app xapp-{d1}-{U9-12}-{d10-13}-{l64}
g slack-bot xoxb-{d10-13}-{d10-13}-{A24}
g slack-config-access xoxe.xox{b|p}-{d1}-{U163-166}
g slack-config-refresh xoxe-{d1}-{U146}
g slack-legacy-bot xoxb-{d8-14}-{A18-26}
g slack-legacy xox{o|s}-{d10}-{d10}-{d10}-{h20-40}
g slack-legacy-workspace xox{a|r}-{d1}-{A8-48}
g slack-user xoxp-{d10-13}-{d10-13}-{d10-13}-{A28-34}
g slack-webhook https://hooks.slack.com/services/T{U9}/B{U10}/{A24}
g sourcegraph sgp_{X16}_{X40}
g sourcegraph-local sgp_local_{X40}
g sourcegraph-short sgp_{X40}
t sourcegraph-cody slk_{h64}
g square-access {EAAA|sq0atp-}{W22-60}
t square-app sq0i{c2}-{W22-43}
t square-app-secret sq0c{c2}-{W40-50}
g stripe {sk|rk}_{test|live|prod}_{A10-99}
t stripe-payment-intent pi_{A24}_secret_{A25}
g telegram {d8-10}:A{W34}
g twilio SK{X32}
t twilio SK{A32}
g typeform tfp_{W59}
t typeform tfp_{w40-59}
g vault-batch hvb.{W138-300}
g vault-service hvs.{W90-120}
g vault-legacy s.{A24}
s vault-recovery hvr.{W90-120}
g yandex-api-key AQVN{W35-38}
g yandex-access-token t1.{W60-120}.{W86}
t adafruit aio_{A28}
t apify apify_api_{A36}
t apideck sk_live_{A93}
t buildkite bkua_{l40}
t circleci CCIPAT_{A22}_{X40}
t close-crm api_{A45}
t contentful CFPAT-{W43}
t copperx pav1_{A64}
t deepseek sk-{l32}
t deno dd{p|w}_{A36}
t dfuse web_{l32}
t discord-webhook https://discord.com/api/webhooks/{d18}/{A68}
t docker dckr_pat_{W27}
t docker-org dckr_oat_{W32}
t elevenlabs sk_{h48}
t endorlabs endr+{A16}
t figma figd_{W40}
s figma-long figd_{W40-200}
t finage API_KEY{U32}
t fleetbase flb_live_{A20}
t flexport shltm_{W40}
t fullstory na1.{b100}
t gemini {master-|account-}{A20}
t groq gsk_{A52}
t hubspot pat-{na1|eu1}-{uuid}
t intra42-user u-s4t2{ud|af}-{h64}
t klaviyo pk_{A34}
t langfuse sk-lf-{uuid}
t langsmith lsv2_{pt|sk}_{h32}_{h10}
t launchdarkly {api|sdk}-{uuid}
t locationiq pk.{A32}
t mapbox sk.{A80-160}
t netlify nfp_{A36}
t nightfall NF-{A32}
t nvapi nvapi-{W64}
t pagarme ak_live_{A30}
t paystack sk_{live|test}_{A40}
t pinecone pcsk_{A6}_{A63}
t portainer ptr_{b20-60}
t posthog phx_{w43}
t ramp-secret ramp_sec_{A48}
t ramp-id ramp_id_{A40}
t razorpay rzp_live_{A14}
t replicate r8_{W37}
t robinhood rh-api-{uuid}
t rootly rootly_{h64}
t salesforce 00{A13}!{A96}
t salesforce-oauth 3MVG9{A80-200}
t salesforce-refresh 5AEP861{A80-120}
t saladcloud salad_cloud_{A5}_{A20-60}
t supabase sbp_{l40}
t tailscale tskey-{auth|api|client}-{A12}-{A32}
s tailscale tskey-{scim|webhook}-{A12}-{A32}
t tines https://acme.tines.com/webhook/{l32}/{l32}
t trufflehog-key thog-key-{h16}
t trufflehog-secret thog-secret-{h32}
t ubidots BBFF-{A30}
t voiceflow VF.{DM|WS}.{X24}.{A16}
t xai xai-{w80}
t zoho 1000.{h32}.{h32}
s vercel vc{p|i|a|r|k}_{A56}
`);

/** Values that are told by the name of their vendor in front of them. */
export const vendorKeyedFormats = parse(`
g adafruit {l32}
g adobe {h32}
g algolia {l32}
g alibaba {A30}
g asana {l32}
g beamer b_{l44}
g bitbucket {l32}
g bittrex {l32}
g meraki {h40}
g cloudflare {W40}
g codecov {l32}
g cohere {A40}
g coinbase {W64}
g confluent {l64}
g contentful {W43}
g datadog {l40}
g discord {h64}
g droneci {l32}
g dropbox {l15}
g etsy {l24}
g facebook {h32}
g fastly {W32}
g finicity {h32}
g finnhub {l20}
g flickr {l32}
g freshbooks {l64}
g gitter {W40}
g heroku {uuid}
g hubspot {uuid}
g intercom {W60}
g jfrog {l73}
g kraken {b80-90}
g kucoin {h24}
g launchdarkly {W40}
g linear {h32}
g linkedin {l16}
g looker {l24}
g mailgun {h32}-{h8}-{h8}
g mattermost {l26}
g messagebird {l25}
g netlify {W40-46}
g newrelic {l64}
g nytimes {W32}
g okta 00{W40}
g plaid {l30}
g privateai {l32}
g rapidapi {W50}
g sendbird {h40}
g sentry {h64}
g snyk {uuid}
g sonar {W40}
g squarespace {uuid}
g sumologic {A64}
g travis {l22}
g twitch {l30}
g twitter {l45}
g yandex YC{W38}
g zendesk {A40}
`);

/** Values of any alphabet behind a name that says that they are secret. */
export const genericNames = (
  "api_key apiKey API_KEY api-key access_key ACCESS_KEY access_token accessToken auth_token AUTH_TOKEN secret SECRET client_secret " +
  "clientSecret secret_key SECRET_KEY password PASSWORD passwd db_password dbPassword DB_PASSWORD credential credentials creds token TOKEN " +
  "app_token private_key signing_secret service_key auth_key"
).split(" ");

export const genericForms = parse(`
g alphanumeric {A16-64}
g lower {l16-64}
g upper {U16-40}
g hex {h32-64}
g word {w20-48}
g dashed {W20-64}
g base64 {b24-64}
g base64-padded {b31}=
g uuid {uuid}
g letters {L16-40}
g small-letters {c14-40}
g capitals {C14-40}
g short {A10-15}
`);
