/** Names that say that their value is a secret, whatever the vendor. `-` in a name stands for `_`, `-`, `.`, a space or nothing. */
import { field, type RuleRow } from "../rule.ts";

export const fieldRules: readonly RuleRow[] = [
  field("authorization", "token", "authorization proxy-authorization x-authorization", "Authorization: <a32>", {
    counter: "authorization: required",
  }),
  field(
    "csrf-token",
    "token",
    "csrf-token xsrf-token csrf xsrf requestverification-token authenticity-token x-csrftoken csrfmiddlewaretoken",
    "X-CSRF-Token: <a32>",
    { counter: "csrf: enabled" },
  ),
  field(
    "session-id",
    "token",
    "session-id sessid session-key session-token session-cookie connect.sid phpsessid jsessionid " +
      "asp.net_sessionid sessionid",
    "JSESSIONID=<H32>",
    { counter: "session_id: sess_01JD3V8Z6Q5R4T3W2Y1X0ABCDE" },
  ),
  field(
    "client-secret",
    "secret",
    "client-secret app-secret consumer-secret oauth-secret application-secret",
    "client_secret=<a40>",
  ),
  field(
    "access-token",
    "token",
    "access-token oauth-token auth-token id-token bearer-token user-token identity-token x-auth-token " +
      "security-token",
    "access_token=<a40>",
    { counter: "access_token: string" },
  ),
  field("refresh-token", "token", "refresh-token", "refresh_token=<a40>"),
  field(
    "api-key",
    "secret",
    "api-key app-key application-key access-key x-api-key subscription-key consumer-key service-key " +
      "server-key write-key admin-key auth-key api-token rest-key developer-key account-key api-keys " +
      "app-keys",
    "api_key=<a32>",
    { counter: "api_key: your-api-key-here" },
  ),
  field(
    "secret-key",
    "secret",
    "secret-key secret-key-base private-key master-key encryption-key signing-key signing-secret hmac-key " +
      "hmac-secret cookie-secret session-secret jwt-secret jwt-key shared-secret crypto-key cipher-key " +
      "data-key webhook-secret secret-access-key shared-key client-key-data license-key deploy-key root-key " +
      "aes-key recovery-key validation-key decryption-key nonce-key logged-in-key fernet-key",
    "SECRET_KEY_BASE=<h128>",
    { counter: "private_key: ./id_rsa" },
  ),
  field(
    "password",
    "password",
    "password passwd passwort contrasena motdepasse senha user-pass db-pass smtp-pass mysql-pwd " +
      "pgpassword requirepass masterauth mot-de-passe contraseña storepass keypass bindpw identified-by " +
      "password-by securestring",
    "DB_PASSWORD=t7#kLm9qPz",
    { counter: "password: string" },
  ),
  field("password-short-name", "password", "pwd pass pw", "Server=db;Uid=app;Pwd=t7#kLm9qPz;", {
    whole: true,
    counter: "PWD=/home/user/project",
  }),
  field("pre-shared-key", "password", "psk", 'psk="t7#kLm9qPz"', { whole: true, counter: "psk: none" }),
  field("salt", "token", "auth-salt token-salt in-salt nonce-salt hash-salt", "AUTH_SALT=<a32>", {
    counter: "PASSWORD_SALT_ROUNDS=12",
  }),
  field("passphrase", "any", "passphrase pass-phrase", 'passphrase: "nine tall ships at dawn"', {
    counter: "passphrase: none",
  }),
  field("secret", "secret", "secret secrets credential credentials creds secret-string", "db.secret = <a32>", {
    counter: "secret: my-app-tls",
  }),
  field("token", "token", "token jwt", "token: <a40>", { counter: "token = lexer.next_token" }),
  field("auth-parameter", "token", "auth", "wss://example.test/socket?auth=<a36>", {
    whole: true,
    counter: "auth: none",
  }),
  field("saml-message", "token", "samlresponse samlrequest", "SAMLResponse=<b120>"),
  field("registry-auth", "token", "_auth", "//registry.example.test/:_auth=<b40>="),
  field(
    "one-time-code",
    "any",
    "otp-secret totp-secret otp-code mfa-code totp backup-code recovery-code verification-code",
    "otp_code: 492817",
    { counter: "otp_code: none" },
  ),
  field("card-code", "any", "cvv cvc cvv2 card-code security-code", "cvv: 4921", {
    whole: true,
    counter: "cvc: none",
  }),
  field("pin", "any", "pin-code user-pin card-pin sim-pin", "card_pin: 4921"),
  field(
    "seed-phrase",
    "any",
    "mnemonic seed-phrase recovery-phrase secret-phrase",
    'mnemonic = "ridge velvet open cube swim lamp north tide rule fox gain hello"',
    { counter: "mnemonic: string" },
  ),
  field(
    "signed-url-signature",
    "token",
    "x-amz-signature x-goog-signature sig x-oss-signature",
    "https://b.s3.amazonaws.com/o?X-Amz-Signature=<h64>",
    { whole: true, counter: "sig=SIGTERM" },
  ),
  field("connection-string-key", "secret", "sharedaccesssignature sas-token sharedaccesskey", "SharedAccessKey=<b43>="),
  field("social-security-number", "any", "ssn social-security-number tax-id", "ssn: 219-09-9999", {
    whole: true,
    counter: "ssn: required",
  }),
  field("account-number", "any", "account-number bank-account routing-number sort-code", "account_number: 48291734", {
    counter: "account_number: string",
  }),
];
