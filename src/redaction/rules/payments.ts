/** Payment, banking, trade and crypto services. */
import { context, type RuleRow, token, UUID } from "../rule.ts";

export const paymentRules: readonly RuleRow[] = [
  token("stripe-secret-key", "sk_(?:live|test|prod)_[A-Za-z0-9]{16,}", "sk_live_<a24>", {
    counter: "pk_live_<a24>",
  }),
  token("stripe-restricted-key", "rk_(?:live|test|prod)_[A-Za-z0-9]{16,}", "rk_live_<a24>"),
  token("webhook-signing-secret", "whsec_[A-Za-z0-9+/]{24,80}[=]{0,2}", "whsec_<a32>"),
  token("square-access-token", "sq0atp-[\\w-]{22}", "sq0atp-<a22>"),
  token("square-oauth-secret", "sq0csp-[\\w-]{43}", "sq0csp-<a43>"),
  token("square-token", "EAAA[\\w-]{60}", "EAAA<a60>"),
  token("paypal-access-token", "A21AA[\\w-]{60,120}", "A21AA<a92>"),
  context("paypal-secret", ["paypal"], "E[\\w-]{79}", "PAYPAL_CLIENT_SECRET=E<a79>", { entropy: 3.5 }),
  token(
    "braintree-token",
    "access_token$(?:production|sandbox)$[a-z0-9]{16}$[a-f0-9]{32}",
    "access_token$production$<l16>$<h32>",
  ),
  token("plaid-access-token", `access-(?:sandbox|development|production)-${UUID}`, "access-production-<uuid>"),
  context("plaid-secret", ["plaid"], "[a-f0-9]{30}", "PLAID_SECRET=<h30>"),
  token("shopify-token", "shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}", "shpat_<h32>"),
  token("razorpay-key", "rzp_(?:live|test)_[A-Za-z0-9]{14}", "rzp_live_<a14>"),
  token("flutterwave-secret-key", "FLWSECK(?:_TEST|)-[a-f0-9A-Za-z]{12,40}-X", "FLWSECK-<h32>-X"),
  token("mollie-key", "(?:live|test)_[A-Za-z0-9]{30}", "live_<a30>", { entropy: 3.6, check: "digit" }),
  token("gocardless-token", "(?:live|sandbox)_[\\w-]{40}", "live_<a40>", { entropy: 3.8, check: "digit" }),
  token(
    "paddle-key",
    "pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}",
    "pdl_live_apikey_<l26>_<a22>_<a3>",
  ),
  token("mercadopago-token", "APP_USR-[0-9]{12,20}-[0-9]{6}-[a-f0-9]{32}-[0-9]{6,12}", "APP_USR-<d16>-<d6>-<h32>-<d9>"),
  token("adyen-key", "AQE[a-z]hm[a-z0-9A-Z+/=-]{80,}", "AQEyhmf<b120>-<b40>", { entropy: 3.8 }),
  context("coinbase-secret", ["coinbase"], "[A-Za-z0-9+/]{32,88}[=]{0,2}", "COINBASE_API_SECRET=<a64>", {
    entropy: 3.6,
  }),
  context("binance-key", ["binance"], "[A-Za-z0-9]{64}", "BINANCE_SECRET_KEY=<a64>", { entropy: 3.8 }),
  context("kraken-key", ["kraken"], "[A-Za-z0-9+/]{54,88}[=]{0,2}", "KRAKEN_PRIVATE_KEY=<b86>==", { entropy: 3.8 }),
  context("infura-key", ["infura"], "[a-f0-9]{32}", "INFURA_API_KEY=<h32>"),
  context("alchemy-key", ["alchemy"], "[\\w-]{32}", "ALCHEMY_API_KEY=<a32>", { entropy: 3.6 }),
  context("etherscan-key", ["etherscan"], "[A-Z0-9]{34}", "ETHERSCAN_API_KEY=<u34>", { entropy: 3.3 }),
  context(
    "ethereum-private-key",
    ["private key", "private_key", "privatekey", "privkey"],
    "(?:0x|)[0-9a-fA-F]{64}",
    "private_key: 0x<h64>",
    { entropy: 3, plainly: true },
  ),
  context(
    "bitcoin-private-key",
    ["wif", "private key", "private_key", "privkey"],
    "[5KL][1-9A-HJ-NP-Za-km-z]{50,51}",
    "WIF: K<s51>",
    { entropy: 4, plainly: true },
  ),
  token("extended-private-key", "xprv[1-9A-HJ-NP-Za-km-z]{100,112}", "xprv<s107>", {
    counter: "xpub<s107>",
  }),
];
