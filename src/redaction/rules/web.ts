/** What travels in headers, cookies, URLs and key files, of any vendor, and stored passwords. */
import { LOGIN_CALLS } from "../argument-matcher.ts";
import { context, type RuleRow, special, token, url } from "../rule.ts";

export const webRules: readonly RuleRow[] = [
  token("jwt", "ey[A-Za-z0-9_-]{11,}\\.ey[\\w-]{10,}(?:\\.|)[\\w-]{0,}", {
    goesOn: "A-Za-z0-9_.-",
    counter: "eyJhbGciOiJIUzI1NiJ9",
  }).finds("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ<a30>.<a43>"),
  token("jwe", "eyJ[\\w-]{10,}\\.[\\w-]{40,}\\.[\\w-]{10,}\\.[\\w-]{10,}\\.[\\w-]{10,}", {
    goesOn: "A-Za-z0-9_.-",
  }).finds("eyJ<a60>.<a340>.<a16>.<a200>.<a22>"),
  token("jwt-base64", "ZXlK[\\w+/-]{60,}[=]{0,2}", { entropy: 3.5 }).finds("ZXlKaGJHY2lPaUp<b90>"),
  token("secret-token-uri", "secret-token:[\\w%.~-]{16,}", {
    keeps: 13,
    check: "digit",
    counter: "secret-token:see-the-documentation",
  }).finds("secret-token:<a32>"),
  // Without its end, too: a long list of sessions fills the window of a stream before that comes.
  token("harness-token", "hat1\\.eyJ[\\w-]{60,}(?:\\.|)[\\w-]{0,}", {
    goesOn: "A-Za-z0-9_.-",
  }).finds("hat1.eyJ<a200>.<a43>"),
  token("paseto", "v[1-4]\\.(?:local|public)\\.[\\w-]{40,}").finds("v4.local.<a120>"),
  token("macaroon", "MDAx[A-Za-z0-9_-]{100,}").finds("MDAx<a160>"),
  token("bearer-token", "[Bb]earer[ ]{1,4}[\\w.~+/=-]{16,}", {
    keeps: 7,
    check: "digit",
    entropy: 2.8,
    byPlace: true,
    counter: "Bearer authentication-required",
  }).finds("Authorization: Bearer <a40>"),
  token("bearer-token-upper", "BEARER[ ]{1,4}[\\w.~+/=-]{16,}", {
    keeps: 7,
    check: "digit",
    entropy: 2.8,
    byPlace: true,
  }).finds("BEARER <a40>"),
  token("bearer-token-encoded", "[Bb]earer%20[\\w.~+/=%-]{16,}", {
    keeps: 9,
    check: "digit",
    entropy: 2.8,
    byPlace: true,
  }).finds("Authorization=Bearer%20<a40>"),
  token("basic-auth", "[Bb]asic[ ]{1,4}[A-Za-z0-9+/]{6,}[=]{0,2}", {
    keeps: 6,
    byPlace: true,
    check: "basic-auth",
    counter: "basic authentication",
  }).finds("Authorization: Basic c3ZjLWFwcDpuN1IjOHdRejJ2"),
  context(
    "authorization-scheme",
    ["token", "apikey", "api-key", "ssws", "key", "secret"].map((scheme) => `authorization: ${scheme} `),
    "[A-Za-z0-9_-]{20,}[=]{0,2}",
    { plainly: true, entropy: 3, counter: "Authorization: token $GITEA_TOKEN" },
  ).finds("Authorization: token <h40>"),
  context("docker-config-base64", [".dockerconfigjson"], "ey[A-Za-z0-9+/]{38,}[=]{0,2}", {
    plainly: true,
    counter: "type: kubernetes.io/dockerconfigjson",
  }).finds(".dockerconfigjson: eyJhdXRocyI6<b60>=="),
  token(
    "base64-url-password",
    "(?:cG9zdGdyZXM6Ly9|cG9zdGdyZXNxbDovL|bXlzcWw6Ly9|bW9uZ29kYjovL|bW9uZ29kYitzcnY6Ly9|cmVkaXM6Ly9|cmVkaXNzOi8v|YW1xcDovL|YW1xcHM6Ly9)[A-Za-z0-9+/]{16,}[=]{0,2}",
  ).finds("DATABASE_URL: cG9zdGdyZXM6Ly9<b40>"),
  context("jwk-private-part", ['"d":', '\\"d\\":'], "[A-Za-z0-9_-]{42,}", {
    plainly: true,
    entropy: 4,
    counter: '"d": "M12 2C6.48 2 2 6.48 2 12"',
  }).finds('{"kty":"EC","d":"<a43>"}'),
  context("docker-auth", ['"auth"', '\\"auth\\"'], "[A-Za-z0-9+/]{12,}[=]{0,2}", {
    plainly: true,
    check: "basic-auth",
    counter: '"auth": "required"',
  }).finds('{"auths":{"ghcr.io":{"auth": "c3ZjLWFwcDpuN1IjOHdRejJ2"}}}'),
  special("cookie", "cookie", ["cookie:", 'cookie"', "cookie'", "cookie\\", "--cookie ", "--cookie="], {
    counter: "Cookie: a small piece of data",
  }).finds("Cookie: sid=<a32>"),
  special("set-cookie", "set-cookie", ["set-cookie:", 'set-cookie"', "set-cookie'", "set-cookie\\"], {
    counter: "Set-Cookie: theme=dark; Path=/",
  }).finds("Set-Cookie: sid=<a32>; Path=/; HttpOnly"),
  special("flag-password", "password-flag", ["-p", "-a ", "-w ", "-k "], {
    counter: "docker run -p 8080:80 alpine; cp -a n7R8wQz2v /srv; ssh -p2222 host",
  }).finds("mysql -u root -pn7R8wQz2v shop"),
  special("user-flag-password", "user-flag", ["-u", "-a ", "--user ", "--auth ", "--proxy-user "], {
    counter: "docker run -u 1000:1000 alpine",
  }).finds("curl -u svc:n7R#8wQz2v https://api.example.test"),
  special("login-call-password", "login-call", LOGIN_CALLS, {
    counter: 'requests.get(url, auth=("user", "pass"))',
  }).finds('requests.get(url, auth=("ada", "n7R8wQz2v"))'),
  special("data-source-password", "data-source", ["@tcp(", "@unix("], {
    counter: "ada:$PASSWORD@tcp(db:3306)/shop",
  }).finds("ada:n7R8wQz2v@tcp(db:3306)/shop"),
  url(
    "postgres-url-password",
    ["postgres", "postgresql", "postgresql+psycopg2", "postgresql+asyncpg", "cockroachdb", "redshift"],
    { counter: "postgres://app:$DB_PASSWORD@db/app" },
  ).finds("postgres://app:<a16>@db.example.test/app"),
  url("mysql-url-password", ["mysql", "mariadb", "mysql+pymysql", "mysql2", "jdbc:mysql"]).finds(
    "mysql://app:<a16>@db.example.test/app",
  ),
  url("mongodb-url-password", ["mongodb", "mongodb+srv"]).finds("mongodb+srv://app:<a16>@cluster0.example.test/app"),
  url("redis-url-password", ["redis", "rediss", "valkey"]).finds("redis://default:<a16>@cache.example.test:6379"),
  url("queue-url-password", ["amqp", "amqps", "nats", "kafka", "mqtt", "mqtts", "stomp"]).finds(
    "amqp://app:<a16>@queue.example.test",
  ),
  url("mssql-url-password", ["mssql", "sqlserver", "mssql+pyodbc", "oracle"]).finds("mssql://sa:<a16>@db.example.test"),
  url("warehouse-url-password", [
    "clickhouse",
    "snowflake",
    "trino",
    "elasticsearch",
    "cassandra",
    "neo4j",
    "bolt",
    "influxdb",
    "couchbase",
  ]).finds("clickhouse://app:<a16>@ch.example.test"),
  url("mail-url-password", ["smtp", "smtps", "imap", "imaps", "pop3"]).finds("smtp://app:<a16>@mail.example.test:587"),
  url("ldap-url-password", ["ldap", "ldaps"]).finds("ldap://cn=app:<a16>@ldap.example.test"),
  url("file-url-password", ["ftp", "ftps", "sftp", "ssh", "smb", "rsync", "git+ssh"]).finds(
    "ftp://app:<a16>@files.example.test",
  ),
  url("proxy-url-password", ["socks5", "socks4", "socks5h"]).finds("socks5://app:<a16>@proxy.example.test:1080"),
  url("http-url-password", ["https", "http", "git+https", "ws", "wss"], {
    counter: "https://example.test:8080/@scope/pkg",
  }).finds("https://app:<a16>@git.example.test/r.git"),
  url("url-password", [""]).finds("custom://app:<a16>@host.example.test"),
  token("pgpass-entry", ":5432:[\\w*-]{1,63}:[\\w*.-]{1,63}:[^\\s:]{4,}", {
    keyword: ":5432:",
    keeps: 6,
  }).finds("db.example.test:5432:app:svc:<a16>"),
  special("private-key", "private-key", ["-----BEGIN ", "Private-Lines: "], {
    counter: "-----BEGIN CERTIFICATE-----\n<b64>\n-----END CERTIFICATE-----",
  }).finds("-----BEGIN RSA PRIVATE KEY-----\n<b64>\n<b64>\n<b30>==\n-----END RSA PRIVATE KEY-----"),
  token(
    "private-key-base64",
    "LS0tLS1CRUdJTiB(?:SU0Eg|QUklWQVRF|FQyBQUklW|PUEVOU1NI|FTkNSWVBURUQg|EU0Eg|QR1AgUFJJVkFU)[A-Za-z0-9+/]{40,}[=]{0,2}",
    { counter: "ca.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t<b80>" },
  ).finds("tls.key: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t<b80>"),
  token("negotiate-token", "(?:Negotiate|NTLM)[ ]{1,4}[A-Za-z0-9+/]{24,}[=]{0,2}", {
    byPlace: true,
    counter: "Negotiate a better price",
  }).finds("Authorization: Negotiate <b40>=="),
  token("digest-response", 'response="[0-9a-f]{32}"', {
    byPlace: true,
  }).finds('Authorization: Digest username="a", response="<h32>"'),
  token("aws-request-signature", "Signature=[0-9a-f]{64}", { byPlace: true }).finds("Credential=x, Signature=<h64>"),
  context("otp-secret", ["otpauth://"], "[A-Z2-7]{16,}", { plainly: true }).finds(
    "otpauth://totp/a?secret=<t16>&issuer=b",
  ),
  special("private-key-tail", "private-key-tail", ["-----END "], {
    counter: "<b64>\n-----END CERTIFICATE-----",
  }).finds("<b64>\n<b64>\n-----END PRIVATE KEY-----"),
  token("bcrypt-hash", "$2[abxy]$[0-9]{2}$[A-Za-z0-9./]{53}").finds("$2b$12$<a53>"),
  token(
    "argon2-hash",
    "$argon2(?:id|i|d)$v=[0-9]{2}$m=[0-9]{1,8},t=[0-9]{1,4},p=[0-9]{1,4}$[A-Za-z0-9+/]{8,}$[A-Za-z0-9+/]{16,}",
  ).finds("$argon2id$v=19$m=65536,t=3,p=4$<b22>$<b43>"),
  token("crypt-hash", "$(?:1|5|6|y|apr1)$[\\w./=]{2,40}$[\\w./]{20,100}").finds("$6$<a16>$<a86>"),
  token("crypt-hash-with-rounds", "$(?:5|6)$rounds=[0-9]{3,9}$[\\w./]{2,20}$[\\w./]{20,100}").finds(
    "$6$rounds=5000$<a16>$<a86>",
  ),
  token("scrypt-hash", "$scrypt$ln=[0-9]{1,2},r=[0-9]{1,2},p=[0-9]{1,2}$[A-Za-z0-9+/]{8,}$[A-Za-z0-9+/]{16,}").finds(
    "$scrypt$ln=16,r=8,p=1$<b22>$<b43>",
  ),
  token("pbkdf2-hash", "pbkdf2_sha(?:256|512|1)$[0-9]{3,8}$[\\w./+]{8,}$[A-Za-z0-9+/=]{20,}").finds(
    "pbkdf2_sha256$600000$<a22>$<b43>=",
  ),
  token("ldap-hash", "\\{(?:SSHA|SSHA256|SSHA512|SMD5)\\}[A-Za-z0-9+/]{24,}[=]{0,2}").finds("{SSHA}<b38>=="),
  special("card-number", "card", [], {
    counter: "4539 5787 6362 1487",
  }).finds("card 4111 1111 1111 1112 is not, 4539 5787 6362 1486 is"),
  special("iban", "iban", [], { counter: "DE88 3704 0044 0532 0130 00" }).finds("DE89 3704 0044 0532 0130 00"),
];
