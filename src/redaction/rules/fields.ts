/** Names that say that their value is a secret, whatever the vendor. `-` in a name stands for `_`, `-`, `.`, a space or nothing. */
import { field, type RuleRow } from "../rule.ts";

export const fieldRules: readonly RuleRow[] = [
  field("authorization", "token", "authorization proxy-authorization x-authorization", {
    counter: "authorization: required",
  }).finds("Authorization: <a32>"),
  field(
    "csrf-token",
    "token",
    "csrf-token xsrf-token csrf xsrf requestverification-token authenticity-token x-csrftoken csrfmiddlewaretoken",
    { counter: "csrf: enabled" },
  ).finds("X-CSRF-Token: <a32>"),
  field(
    "session-id",
    "token",
    "session-id sessid session-key session-token session-cookie connect.sid phpsessid jsessionid " +
      "asp.net_sessionid sessionid",
    { counter: "session_id: sess_01JD3V8Z6Q5R4T3W2Y1X0ABCDE" },
  ).finds("JSESSIONID=<H32>"),
  field("client-secret", "secret", "client-secret app-secret consumer-secret oauth-secret application-secret").finds(
    "client_secret=<a40>",
  ),
  field(
    "access-token",
    "token",
    "access-token oauth-token auth-token id-token bearer-token user-token identity-token x-auth-token " +
      "security-token",
    { counter: "access_token: string" },
  ).finds("access_token=<a40>"),
  field("refresh-token", "token", "refresh-token").finds("refresh_token=<a40>"),
  field(
    "api-key",
    "secret",
    "api-key app-key application-key access-key x-api-key subscription-key consumer-key service-key " +
      "server-key write-key admin-key auth-key api-token rest-key developer-key account-key api-keys " +
      "app-keys",
    { counter: "api_key: your-api-key-here" },
  ).finds("api_key=<a32>"),
  field(
    "secret-key",
    "secret",
    "secret-key secret-key-base private-key master-key encryption-key signing-key signing-secret hmac-key " +
      "hmac-secret cookie-secret session-secret jwt-secret jwt-key shared-secret crypto-key cipher-key " +
      "data-key webhook-secret secret-access-key shared-key client-key-data license-key deploy-key root-key " +
      "aes-key recovery-key validation-key decryption-key nonce-key logged-in-key fernet-key",
    { counter: "private_key: ./id_rsa" },
  ).finds("SECRET_KEY_BASE=<h128>"),
  field(
    "password",
    "password",
    "password passwd passwort contrasena motdepasse senha user-pass db-pass smtp-pass mysql-pwd " +
      "pgpassword requirepass masterauth mot-de-passe contraseña storepass keypass bindpw identified-by " +
      "password-by securestring",
    { counter: "password: string" },
  ).finds("DB_PASSWORD=t7#kLm9qPz"),
  field("password-short-name", "password", "pwd pass pw", {
    whole: true,
    counter: "PWD=/home/user/project",
  }).finds("Server=db;Uid=app;Pwd=t7#kLm9qPz;"),
  field("pre-shared-key", "password", "psk", { whole: true, counter: "psk: none" }).finds('psk="t7#kLm9qPz"'),
  field("salt", "token", "auth-salt token-salt in-salt nonce-salt hash-salt", {
    counter: "PASSWORD_SALT_ROUNDS=12",
  }).finds("AUTH_SALT=<a32>"),
  field("passphrase", "any", "passphrase pass-phrase", {
    counter: "passphrase: none",
  }).finds('passphrase: "nine tall ships at dawn"'),
  field("secret", "secret", "secret secrets credential credentials creds secret-string", {
    counter: "secret: my-app-tls",
  }).finds("db.secret = <a32>"),
  field("token", "token", "token jwt", { counter: "token = lexer.next_token" }).finds("token: <a40>"),
  field("auth-parameter", "token", "auth", {
    whole: true,
    counter: "auth: none",
  }).finds("wss://example.test/socket?auth=<a36>"),
  field("saml-message", "token", "samlresponse samlrequest").finds("SAMLResponse=<b120>"),
  field("registry-auth", "token", "_auth").finds("//registry.example.test/:_auth=<b40>="),
  field(
    "one-time-code",
    "any",
    "otp-secret totp-secret otp-code mfa-code totp backup-code recovery-code verification-code",
    { counter: "otp_code: none" },
  ).finds("otp_code: 492817"),
  field("card-code", "any", "cvv cvc cvv2 card-code security-code", {
    whole: true,
    counter: "cvc: none",
  }).finds("cvv: 4921"),
  field("pin", "any", "pin-code user-pin card-pin sim-pin").finds("card_pin: 4921"),
  field("seed-phrase", "any", "mnemonic seed-phrase recovery-phrase secret-phrase", {
    counter: "mnemonic: string",
  }).finds('mnemonic = "ridge velvet open cube swim lamp north tide rule fox gain hello"'),
  field("signed-url-signature", "token", "x-amz-signature x-goog-signature sig x-oss-signature", {
    whole: true,
    counter: "sig=SIGTERM",
  }).finds("https://b.s3.amazonaws.com/o?X-Amz-Signature=<h64>"),
  field("connection-string-key", "secret", "sharedaccesssignature sas-token sharedaccesskey").finds(
    "SharedAccessKey=<b43>=",
  ),
  field("social-security-number", "any", "ssn social-security-number tax-id", {
    whole: true,
    counter: "ssn: required",
  }).finds("ssn: 219-09-9999"),
  field("account-number", "any", "account-number bank-account routing-number sort-code", {
    counter: "account_number: string",
  }).finds("account_number: 48291734"),
];
