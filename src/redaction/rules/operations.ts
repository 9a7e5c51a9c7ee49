/** Monitoring, feature flags, secret stores and other tools of operations. */
import { context, type RuleRow, token, UUID } from "../rule.ts";

export const operationsRules: readonly RuleRow[] = [
  context("datadog-api-key", ["datadog", "dd_api_key", "dd-api-key"], "[a-f0-9]{32}", {
    entropy: 3,
    counter: "datadog/agent@sha256:<h64>",
  }).finds("DD_API_KEY=<h32>"),
  context("datadog-app-key", ["datadog", "dd_app_key", "dd-application-key"], "[a-f0-9]{40}", {
    entropy: 3,
  }).finds("DD_APP_KEY=<h40>"),
  token("newrelic-user-key", "NRAK-[A-Za-z0-9]{27}").finds("NRAK-<u27>"),
  token("newrelic-insert-key", "NRI[IQ]-[\\w-]{32}").finds("NRII-<a32>"),
  token("newrelic-browser-key", "NRJS-[a-f0-9]{19}").finds("NRJS-<h19>"),
  token("newrelic-license-key", "[a-f0-9]{36}NRAL", { keyword: "NRAL", lead: 36 }).finds("<h36>NRAL"),
  token("sentry-user-token", "sntryu_[a-f0-9]{64}").finds("sntryu_<h64>"),
  token("sentry-org-token", "sntrys_ey[A-Za-z0-9+/=_-]{60,}").finds("sntrys_ey<a160>_<a43>"),
  context("sentry-legacy-token", ["sentry_auth_token", "sentry_token"], "[a-f0-9]{64}").finds(
    "SENTRY_AUTH_TOKEN=<h64>",
  ),
  token("honeycomb-key", "hc[abx]ik_[a-z0-9]{58}").finds("hcaik_<l58>"),
  context("honeycomb-legacy-key", ["honeycomb"], "[a-zA-Z0-9]{22,32}", { entropy: 3.3 }).finds(
    "HONEYCOMB_API_KEY=<a22>",
  ),
  token("grafana-cloud-token", "glc_[A-Za-z0-9+/]{32,}[=]{0,3}", { check: "digit", entropy: 3.5 }).finds(
    "glc_ey<a120>",
  ),
  token("grafana-service-token", "glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}").finds("glsa_<a32>_<h8>"),
  token("grafana-api-key", "eyJrIjoi[A-Za-z0-9]{60,}[=]{0,2}").finds("eyJrIjoi<a90>"),
  context("splunk-token", ["splunk", "authorization: splunk"], UUID).finds("Authorization: Splunk <uuid>"),
  token("dynatrace-token", "dt0[a-z][0-9]{2}\\.[A-Za-z0-9]{24}\\.[A-Za-z0-9]{64}").finds("dt0c01.<u24>.<u64>"),
  context("pagerduty-key", ["pagerduty", "pager_duty"], "[\\w+-]{20}", { entropy: 3.3 }).finds(
    "PAGERDUTY_API_KEY=u+<a18>",
  ),
  context("pagerduty-routing-key", ["pagerduty", "routing_key"], "[a-zA-Z0-9]{32}", {
    entropy: 3,
  }).finds("PAGERDUTY_ROUTING_KEY=<l32>"),
  context("opsgenie-key", ["opsgenie", "geniekey"], UUID, { plainly: true }).finds("Authorization: GenieKey <uuid>"),
  context("rollbar-token", ["rollbar"], "[a-f0-9]{32}").finds("ROLLBAR_ACCESS_TOKEN=<h32>"),
  context("bugsnag-key", ["bugsnag"], "[a-f0-9]{32}").finds("BUGSNAG_API_KEY=<h32>"),
  context("loggly-token", ["loggly"], UUID).finds("LOGGLY_TOKEN=<uuid>"),
  context("logzio-token", ["logzio", "logz.io"], "[A-Za-z]{32}", { entropy: 3.5 }).finds("LOGZIO_TOKEN=<L32>"),
  context("sumologic-key", ["sumo"], "[A-Za-z0-9]{64}", { entropy: 3.8 }).finds("SUMOLOGIC_ACCESSKEY=<a64>"),
  context("elastic-api-key", ["elastic", "apikey "], "[A-Za-z0-9_-]{56,64}[=]{0,2}", {
    entropy: 3.8,
    plainly: true,
  }).finds("ELASTIC_API_KEY=<a60>=="),
  context("mixpanel-secret", ["mixpanel"], "[a-f0-9]{32}").finds("MIXPANEL_API_SECRET=<h32>"),
  context("amplitude-secret", ["amplitude"], "[a-f0-9]{32}").finds("AMPLITUDE_SECRET_KEY=<h32>"),
  context("segment-write-key", ["segment"], "[A-Za-z0-9]{32}", { entropy: 3.6 }).finds("SEGMENT_WRITE_KEY=<a32>"),
  token("posthog-personal-key", "phx_[\\w]{40,50}").finds("phx_<a43>"),
  token("launchdarkly-key", `(?:sdk|api)-${UUID}`).finds("sdk-<uuid>"),
  token("statsig-secret", "secret-[A-Za-z0-9]{40,50}", { check: "digit" }).finds("secret-<a43>"),
  token("checkly-key", "cu_[a-f0-9]{32}").finds("cu_<h32>"),
  token("doppler-token", "dp\\.(?:pt|ct|sa|scim|audit)\\.[A-Za-z0-9]{40,44}").finds("dp.pt.<a43>"),
  token("doppler-service-token", "dp\\.st\\.[\\w.-]{40,100}", { entropy: 3.3 }).finds("dp.st.<a43>"),
  token("vault-service-token", "hvs\\.[\\w-]{24,}").finds("hvs.<a95>"),
  token("vault-batch-token", "hv[br]\\.[\\w-]{24,}").finds("hvb.<a140>"),
  context("vault-legacy-token", ["vault_token", "x-vault-token", "vault token"], "s\\.[A-Za-z0-9]{24}", {
    plainly: true,
  }).finds("X-Vault-Token: s.<a24>"),
  token("vault-bare-token", "s\\.[A-Za-z0-9]{24}", {
    check: "digit",
    entropy: 3.5,
    counter: "s.getElementsByClassName1(x)",
  }).finds("s.<a24>"),
  token("openshift-token", "sha256~[\\w-]{43}", { counter: "sha256~x" }).finds("sha256~<a43>"),
  token("portainer-key", "ptr_[A-Za-z0-9/_+=-]{20,60}", {
    check: "mixed",
    counter: "ptr_to_first_element_of_list_32",
  }).finds("ptr_<b43>="),
  token("rootly-key", "rootly_[a-f0-9]{64}").finds("rootly_<h64>"),
  token("onesignal-key", "os_v2_(?:app|org)_[a-z0-9]{80,120}").finds("os_v2_app_<m103>"),
  token("fullstory-key", "na1\\.[A-Za-z0-9+/]{100}").finds("na1.<b100>"),
  token("nightfall-key", "NF-[A-Za-z0-9]{32}", { check: "digit" }).finds("NF-<a32>"),
  token("adafruit-key", "aio_[A-Za-z0-9]{28}", { check: "digit" }).finds("aio_<a28>"),
  token("ubidots-token", "BBFF-[A-Za-z0-9]{30}").finds("BBFF-<a30>"),
  token("maxmind-key", "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", { keyword: "_mmk", lead: 36 }).finds("<a6>_<a29>_mmk"),
  token("onepassword-service-token", "ops_ey[A-Za-z0-9+/=_-]{200,}").finds("ops_ey<a260>"),
  token("onepassword-secret-key", "A3-[A-Z0-9]{6}-[A-Z0-9-]{26,32}", {
    check: "digit",
  }).finds("A3-<u6>-<u11>-<u5>-<u5>-<u5>"),
  token("age-secret-key", "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}").finds("AGE-SECRET-KEY-1<g58>"),
  token("age-post-quantum-key", "AGE-SECRET-KEY-PQ-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,}").finds(
    "AGE-SECRET-KEY-PQ-1<g58>",
  ),
  context("vault-unseal-key", ["unseal key", "recovery key"], "[A-Za-z0-9+/]{43,44}[=]{0,1}", {
    plainly: true,
    entropy: 4,
  }).finds("Unseal Key 1: <b44>"),
  token("nostr-key", "nsec1[a-z0-9]{58}", { check: "digit" }).finds("nsec1<l58>"),
  token("infisical-token", "st\\.[a-f0-9]{24}\\.[a-f0-9]{32}\\.[a-f0-9]{32}").finds("st.<h24>.<h32>.<h32>"),
  token("bitwarden-token", `0\\.${UUID}\\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==`).finds("0.<uuid>.<a30>:<b22>=="),
  token("axiom-token", `xa(?:at|pt)-${UUID}`).finds("xaat-<uuid>"),
  token("logfire-token", "pylf_v[0-9]_[a-z]{2}_[A-Za-z0-9]{40,}").finds("pylf_v1_eu_<a43>"),
  token("age-plugin-identity", "AGE-PLUGIN-[A-Z0-9]{2,20}-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{40,}").finds(
    "AGE-PLUGIN-YUBIKEY-1<g60>",
  ),
  token("wireguard-key", "PrivateKey = [A-Za-z0-9+/]{43}=", {
    keyword: "PrivateKey = ",
    keeps: 13,
  }).finds("PrivateKey = <b43>="),
  token("wireguard-preshared-key", "PresharedKey = [A-Za-z0-9+/]{43}=", { keeps: 15 }).finds("PresharedKey = <b43>="),
];
