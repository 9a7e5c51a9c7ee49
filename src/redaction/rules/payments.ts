/** Payment, banking, trade and crypto services. */
import { context, type RuleRow, token, UUID } from "../rule.ts";

export const paymentRules: readonly RuleRow[] = [
  token("stripe-secret-key", "sk_(?:live|test|prod)_[A-Za-z0-9]{16,}", {
    counter: "pk_live_<a24>",
  }).finds("sk_live_<a24>"),
  token("stripe-restricted-key", "rk_(?:live|test|prod)_[A-Za-z0-9]{16,}").finds("rk_live_<a24>"),
  token("stripe-short-key", "[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,15}", {
    check: "digit",
    entropy: 3,
    counter: "sk_test_keysForTests",
  }).finds("sk_test_<a12>"),
  token("stripe-intent-secret", "(?:pi|seti)_[A-Za-z0-9]{24}_secret_[A-Za-z0-9]{25}").finds("pi_<a24>_secret_<a25>"),
  token("webhook-signing-secret", "whsec_[A-Za-z0-9+/]{24,80}[=]{0,2}").finds("whsec_<a32>"),
  token("square-access-token", "sq0atp-[\\w-]{22,60}").finds("sq0atp-<a22>"),
  token("square-oauth-secret", "sq0c[a-z]{2}-[\\w-]{40,50}").finds("sq0csp-<a43>"),
  token("square-application-key", "sq0i[a-z]{2}-[\\w-]{22,43}").finds("sq0idp-<a22>"),
  token("square-token", "EAAA[\\w-]{22,60}", { check: "digit", entropy: 3.3 }).finds("EAAA<a60>"),
  token("paypal-access-token", "A21AA[\\w-]{60,120}").finds("A21AA<a92>"),
  context("paypal-secret", ["paypal"], "E[\\w-]{79}", { entropy: 3.5 }).finds("PAYPAL_CLIENT_SECRET=E<a79>"),
  token("braintree-token", "access_token$(?:production|sandbox)$[a-z0-9]{16}$[a-f0-9]{32}").finds(
    "access_token$production$<l16>$<h32>",
  ),
  token("plaid-access-token", `access-(?:sandbox|development|production)-${UUID}`).finds("access-production-<uuid>"),
  context("plaid-secret", ["plaid"], "[a-f0-9]{30}").finds("PLAID_SECRET=<h30>"),
  token("shopify-token", "shp(?:at|ca|pa|ss|ua)_[A-Za-z0-9]{32}").finds("shpat_<h32>"),
  token("razorpay-key", "rzp_(?:live|test)_[A-Za-z0-9]{14}").finds("rzp_live_<a14>"),
  token("flutterwave-secret-key", "FLWSECK(?:_TEST|)-[A-Za-z0-9]{12,40}(?:-X|)").finds("FLWSECK-<h32>-X"),
  token("mollie-key", "(?:live|test)_[A-Za-z0-9]{30}", { entropy: 3.6, check: "digit" }).finds("live_<a30>"),
  token("pagarme-key", "ak_live_[A-Za-z0-9]{30}").finds("ak_live_<a30>"),
  token("ramp-key", "ramp_(?:sec|id)_[A-Za-z0-9]{40,48}").finds("ramp_sec_<a48>"),
  token("robinhood-key", `rh-api-${UUID}`).finds("rh-api-<uuid>"),
  token("copperx-key", "pav1_[A-Za-z0-9]{64}").finds("pav1_<a64>"),
  token("gemini-exchange-key", "(?:master|account)-[A-Za-z0-9]{20}", {
    check: "mixed",
    entropy: 3.3,
    counter: "account-settings",
  }).finds("account-<a20>"),
  token("finage-key", "API_KEY[A-Z0-9]{32}", { check: "digit" }).finds("API_KEY<u32>"),
  token("dfuse-key", "web_[a-z0-9]{32}", { check: "digit", entropy: 3 }).finds("web_<l32>"),
  token("gocardless-token", "(?:live|sandbox)_[\\w-]{40}", { entropy: 3.8, check: "digit" }).finds("live_<a40>"),
  token("paddle-key", "pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}").finds(
    "pdl_live_apikey_<l26>_<a22>_<a3>",
  ),
  token("mercadopago-token", "APP_USR-[0-9]{12,20}-[0-9]{6}-[a-f0-9]{32}-[0-9]{6,12}").finds(
    "APP_USR-<d16>-<d6>-<h32>-<d9>",
  ),
  token("adyen-key", "AQE[a-z]hm[a-z0-9A-Z+/=-]{80,}", { entropy: 3.8 }).finds("AQEyhmf<b120>-<b40>"),
  context("coinbase-secret", ["coinbase"], "[A-Za-z0-9+/]{32,88}[=]{0,2}", {
    entropy: 3.6,
  }).finds("COINBASE_API_SECRET=<a64>"),
  context("binance-key", ["binance"], "[A-Za-z0-9]{64}", { entropy: 3.8 }).finds("BINANCE_SECRET_KEY=<a64>"),
  context("kraken-key", ["kraken"], "[A-Za-z0-9+/]{54,88}[=]{0,2}", { entropy: 3.8 }).finds(
    "KRAKEN_PRIVATE_KEY=<b86>==",
  ),
  context("infura-key", ["infura"], "[a-f0-9]{32}").finds("INFURA_API_KEY=<h32>"),
  context("alchemy-key", ["alchemy"], "[\\w-]{32}", { entropy: 3.6 }).finds("ALCHEMY_API_KEY=<a32>"),
  context("etherscan-key", ["etherscan"], "[A-Z0-9]{34}", { entropy: 3.3 }).finds("ETHERSCAN_API_KEY=<u34>"),
  context("ethereum-private-key", ["private key", "private_key", "privatekey", "privkey"], "(?:0x|)[0-9a-fA-F]{64}", {
    entropy: 3,
    plainly: true,
  }).finds("private_key: 0x<h64>"),
  context("bitcoin-private-key", ["wif", "private key", "private_key", "privkey"], "[5KL][1-9A-HJ-NP-Za-km-z]{50,51}", {
    entropy: 4,
    plainly: true,
  }).finds("WIF: K<s51>"),
  token("extended-private-key", "xprv[1-9A-HJ-NP-Za-km-z]{100,112}", {
    counter: "xpub<s107>",
  }).finds("xprv<s107>"),
];
