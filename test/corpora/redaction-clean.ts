/** Texts without secrets that look as if they had some: hashes, ids, placeholders, code about passwords, dumps, prose. */

import { uuid } from "./fill-form.ts";
import { withLuhn, withMod97 } from "./payment-numbers.ts";
import { ALPHABETS, createSeededRandom, type SeededRandom } from "./seeded-random.ts";

export interface CleanText {
  readonly family: string;
  readonly text: string;
}

const PER_FAMILY = 12;

export function cleanTexts(seed = 411): readonly CleanText[] {
  const random = createSeededRandom(seed);
  const generated = Object.entries(generators).flatMap(([family, make]) =>
    Array.from({ length: PER_FAMILY }, () => ({ family, text: make(random) })),
  );
  const written = Object.entries(handWritten).flatMap(([family, texts]) =>
    texts.map((text) => ({ family, text: text.replaceAll("§{", "$" + "{") })),
  );
  return [...generated, ...written];
}

const hex = (random: SeededRandom, count: number): string => random.chars(ALPHABETS.hex, count);
const base64 = (random: SeededRandom, count: number): string => random.chars(ALPHABETS.base64, count);

const generators: Readonly<Record<string, (random: SeededRandom) => string>> = {
  "npm lockfile": (r) =>
    `    "node_modules/pkg-${r.integer(99)}": {\n      "version": "${r.integer(9)}.${r.integer(30)}.${r.integer(30)}",\n      "resolved": "https://registry.npmjs.org/pkg/-/pkg-1.2.3.tgz",\n      "integrity": "sha512-${base64(r, 86)}=="\n    }`,
  "cargo lockfile": (r) =>
    `[[package]]\nname = "serde"\nversion = "1.0.${r.integer(200)}"\nchecksum = "${hex(r, 64)}"\n`,
  "go sum": (r) =>
    `github.com/acme/lib v1.${r.integer(20)}.0 h1:${base64(r, 43)}=\ngithub.com/acme/lib v1.2.0/go.mod h1:${base64(r, 43)}=\n`,
  "poetry lockfile": (r) =>
    `files = [\n    {file = "token_lib-1.2.${r.integer(9)}.whl", hash = "sha256:${hex(r, 64)}"},\n]\n`,
  "git log": (r) =>
    `commit ${hex(r, 40)}\nAuthor: Ada <ada@example.test>\n\n    rotate the token cache (#${r.integer(900)})\n\n${hex(r, 7)} fix: password reset mail\n`,
  "git diff": (r) =>
    `diff --git a/src/auth/token.ts b/src/auth/token.ts\nindex ${hex(r, 7)}..${hex(r, 7)} 100644\n--- a/src/auth/token.ts\n+++ b/src/auth/token.ts\n@@ -1,4 +1,4 @@\n-import { token } from "./old";\n+import { token } from "./new";\n`,
  "git objects": (r) =>
    `100644 blob ${hex(r, 40)}\tsrc/secret.ts\n040000 tree ${hex(r, 40)}\tsrc/keys\nhttps://github.com/acme/app/commit/${hex(r, 40)}\n`,
  uuids: (r) => `request_id=${uuid(r)} trace=${uuid(r)} user ${uuid(r)}`,
  checksums: (r) => `${hex(r, 32)}  app.tar.gz\n${hex(r, 64)}  app.zip\nSHA1 (${"a.iso"}) = ${hex(r, 40)}\n`,
  "docker images": (r) =>
    `FROM node:24@sha256:${hex(r, 64)}\nRUN npm ci\n# datadog/agent@sha256:${hex(r, 64)}\nIMAGE ID ${hex(r, 12)}\n`,
  "hex dump": (r) =>
    Array.from(
      { length: 4 },
      (_, at) => `0000${at}0  ${Array.from({ length: 16 }, () => hex(r, 2)).join(" ")}  |................|`,
    ).join("\n"),
  "image as base64": (r) => `<img src="data:image/png;base64,iVBORw0KGgo${base64(r, 400)}=" alt="logo">`,
  "lines of base64": (r) =>
    `Content-Transfer-Encoding: base64\n\n${Array.from({ length: 4 }, () => base64(r, 76)).join("\n")}\n`,
  certificate: (r) =>
    `-----BEGIN CERTIFICATE-----\n${Array.from({ length: 4 }, () => base64(r, 64)).join("\n")}\n-----END CERTIFICATE-----\n`,
  "public key": (r) =>
    `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${r.chars(ALPHABETS.alnum, 43)} ada@laptop\n-----BEGIN PUBLIC KEY-----\n${base64(r, 64)}\n-----END PUBLIC KEY-----\n`,
  "key fingerprint": (r) =>
    `256 SHA256:${r.chars(ALPHABETS.alnum, 43)} ada@laptop (ED25519)\nkeyid: ${r.chars(ALPHABETS.upperHex, 16)}\n`,
  "trace ids": (r) => `traceparent: 00-${hex(r, 32)}-${hex(r, 16)}-01\nspan_id=${hex(r, 16)} duration=12ms`,
  "object ids": (r) => `{"_id":"${hex(r, 24)}","ref":"${hex(r, 24)}","etag":"W/\\"${hex(r, 32)}\\""}`,
  "nano ids": (r) => `{"id":"${r.chars(ALPHABETS.url, 21)}","parent":"${r.chars(ALPHABETS.url, 21)}"}`,
  "session ids of ours": (r) =>
    `session: sess_${r.chars("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 26)} call_${r.chars("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 26)}`,
  "bundle names": (r) =>
    `dist/assets/index-${r.chars(ALPHABETS.url, 8)}.js  142.10 kB │ gzip: 45.2 kB\ndist/token-${hex(r, 8)}.css\n`,
  "wrong card numbers": (r) => `order 4${r.chars(ALPHABETS.digits, 3)} ${wrongDigits(r)} shipped`,
  "card-like": (r) => `ref ${wrongCard(r)}, batch ${wrongCard(r).replace(/(\d{4})(?=\d)/g, "$1 ")}`,
  "wrong ibans": (r) => `IBAN ${wrongIban(r)} could not be verified`,
  "phone numbers": (r) =>
    `call +49 30 ${r.chars(ALPHABETS.digits, 8)} or (555) 010-${r.chars(ALPHABETS.digits, 4)}, fax 0${r.chars(ALPHABETS.digits, 10)}`,
  timestamps: (r) =>
    `1${r.chars(ALPHABETS.digits, 12)} 2026-0${1 + r.integer(9)}-1${r.integer(9)}T09:12:44.${r.chars(ALPHABETS.digits, 6)}Z 17${r.chars(ALPHABETS.digits, 17)}`,
  "numbers in a table": (r) =>
    Array.from({ length: 4 }, () => Array.from({ length: 6 }, () => r.chars("123456789", 4)).join(" ")).join("\n"),
  "css colours": (r) => `:root { --token-bg: #${hex(r, 6)}; --key-fg: #${hex(r, 8)}; --pass-colour: rgb(12, 30, 40); }`,
  "ip and mac": (r) =>
    `fe80::${hex(r, 4)}:${hex(r, 4)}:${hex(r, 4)} ${Array.from({ length: 6 }, () => hex(r, 2)).join(":")} 10.0.${r.integer(255)}.${r.integer(255)}`,
  "minified code": (r) =>
    `!function(t,e){var n=t.token||e.key;function r(a){return a.password?n(a.secret):${r.integer(99)}}t.exports={k${hex(r, 3)}:r}}(module,this);`,
  "source map": (r) =>
    `{"version":3,"sources":["token.ts"],"mappings":"AAAA,${r.chars("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl,;", 200)}"}`,
};

function wrongDigits(random: SeededRandom): string {
  return `${random.chars(ALPHABETS.digits, 4)}-${random.chars(ALPHABETS.digits, 4)}`;
}

/** A number that a card could have, but for its check digit. */
function wrongCard(random: SeededRandom): string {
  const right = withLuhn(`4${random.chars(ALPHABETS.digits, 14)}`);
  return right.slice(0, -1) + ((Number(right.at(-1)) + 1 + random.integer(8)) % 10);
}

function wrongIban(random: SeededRandom): string {
  const right = withMod97("DE", random.chars(ALPHABETS.digits, 18));
  return `DE${String(((Number(right.slice(2, 4)) + 1 + random.integer(80)) % 96) + 2).padStart(2, "0")}${right.slice(4)}`;
}

/** `§{` stands for the dollar and the brace that other languages put there. */
const handWritten: Readonly<Record<string, readonly string[]>> = {
  placeholders: [
    "OPENAI_API_KEY=your-key-here",
    "API_KEY=<your api key>",
    "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "password: changeme",
    "password: §{DB_PASSWORD}",
    "DATABASE_URL=postgres://user:password@localhost:5432/app",
    "DATABASE_URL=postgres://§{DB_USER}:§{DB_PASSWORD}@§{DB_HOST}/app",
    "DATABASE_URL=postgres://<user>:<password>@host/db",
    'token: "{{ .Values.token }}"',
    "token: §{{ secrets.GITHUB_TOKEN }}",
    "SECRET_KEY=$SECRET_KEY",
    "export TOKEN=$(cat /run/secrets/token)",
    "api_key: ****************",
    "password=********",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer §{process.env.TOKEN}",
    "curl -H 'Authorization: Bearer YOUR_ACCESS_TOKEN' https://api.example.test",
    "curl -u $USER:$PASSWORD https://api.example.test",
    "curl -u user:password https://api.example.test",
    "sk-...",
    "sk-ant-api03-...",
    "sk_test_xxxxxxxxxxxxxxxxxxxxxxxx",
    "client_secret=REPLACE_ME_WITH_YOUR_SECRET",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY----- is how such a file begins.",
    "password: TODO",
    "SLACK_TOKEN=xoxb-your-token-here",
    "secret: op://vault/item/field",
    "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf",
    "password: vault:secret/data/db#password",
    "api_key = os.environ['API_KEY']",
    "apiKey: process.env.STRIPE_SECRET_KEY",
    "$env:TOKEN = (Get-Secret api)",
    "STRIPE_KEY=pk_test_TYooMQauvdEDq54NiTphI7jx",
    "set PASSWORD=%PASSWORD%",
  ],
  code: [
    "const password = await readPassword(prompt);",
    "if (password.length < 8) throw new Error('too short');",
    "type Props = { password: string; token?: string; apiKey: string | undefined };",
    "function login(username: string, password: string): Promise<Token> {",
    "const token = lexer.nextToken();",
    "let token = tokens[index];",
    "token = self.current_token",
    "def check(password, hashed_password):\n    return bcrypt.verify(password, hashed_password)",
    "password = getpass.getpass('Password: ')",
    "secret = Secret.from_name('app-secret')",
    "secretName: app-tls\nsecretKeyRef:\n  name: db-credentials\n  key: password",
    "z.object({ password: z.string().min(8), token: z.string() })",
    '<input type="password" name="password" autocomplete="current-password">',
    '<label for="password">Password</label>',
    'private static final String PASSWORD_KEY = "user.password";',
    "const KEY_TOKEN = 'access_token';",
    "localStorage.getItem('token')",
    "headers: { Authorization: `Bearer §{token}` }",
    "req.headers.authorization?.split(' ')[1]",
    'throw new UnauthorizedError("Invalid API key");',
    "kubectl create secret generic db --from-literal=password=$PASS",
    "max_tokens: 4096\ntokenizer: cl100k_base\nnum_tokens=8192",
    "password_hash_algorithm = 'argon2id'\npassword_min_length = 12",
    'const cookie = document.cookie.split(";");',
    "res.cookie('theme', 'dark', { httpOnly: true });",
    "app.use(csrf({ cookie: true }));",
    "if (session.id === undefined) return;",
    "SELECT id, password FROM users WHERE token = $1;",
    "CREATE TABLE users (id uuid, password varchar(255), api_key text);",
    "git commit -m 'rotate secret: use vault'",
    'password: Optional[str] = None\ntoken: str = ""',
    "var tokenSource = new CancellationTokenSource();",
    "public string Password { get; set; }",
    "expect(response.body.token).toBeDefined();",
    "const secretsManager = new SecretsManagerClient({ region });",
    "AuthToken: authToken, RefreshToken: refreshToken",
    "password = forms.CharField(widget=forms.PasswordInput)",
    "api_key=api_key, token=token, password=password",
    "credentials: 'same-origin'",
    "credentials: include\nauth: basic",
    "key: Key = Key.from_bytes(data)",
    "docker run -u 1000:1000 -v $PWD:/app alpine",
    "sort -u names.txt > out.txt",
    "rsync -u ada@host:/srv/data .",
    "ssh-keygen -t ed25519 -C ada@example.test",
    "openssl rand -hex 32",
    "echo $PATH; pwd; PWD=/home/ada/project OLDPWD=/tmp",
    "import { createToken } from '@acme/token-1.2.3';",
    "return jwt.sign({ sub: user.id }, secret, { expiresIn: '1h' });",
  ],
  prose: [
    "Please enter your password and press return.",
    "The password must have at least 12 characters, one digit and one symbol.",
    "Tokens expire after 3600 seconds; refresh them with the refresh token.",
    "Basic authentication is not supported; use bearer tokens instead.",
    "A cookie: a small piece of data that a site stores in the browser.",
    "Set the secret in the dashboard under Settings → API keys.",
    "The key is to keep functions small.",
    "Your session is about to expire. Password: required.",
    "I forgot my password. Is there a way to reset it?",
    "Secret: the best way to peel garlic is to shake it.",
    "Our token of appreciation: a mug.",
    "The API key is stored in the vault and never in the repository.",
    "He said the password is on the sticky note.",
    "Asia Pacific is the fastest growing region; the AKIA index rose.",
    "Version 4111.1111.1111.1111 does not exist.",
    "In 2024 1234 people came, in 2025 5678.",
    "The passphrase is required.",
    "Bearer of good news: authentication-service is up again.",
    "See RFC 6750 (Bearer Token Usage) and RFC 7617 (Basic).",
    "«Le mot de passe» est obligatoire.",
    "Passwort vergessen? Token abgelaufen? Kein Problem.",
    "パスワード: 必須項目です",
    "pass: 12, fail: 0, skipped: 3",
    "Tests: 411 passed (411) Duration 4.53s",
    "The credit card ends in 4242 and expires 04/29.",
    "authorization: the process of deciding what someone may do",
    "The GitHub token needs the scope repo:status and the Datadog key needs metrics_write.",
    "Datadog, Twilio, Stripe and Cloudflare were all affected by the outage.",
    "secret santa: ada draws grace",
    "The postman rang: the key was under the mat.",
  ],
  configuration: [
    "password_policy:\n  min_length: 12\n  require_symbol: true",
    "auth:\n  type: oauth2\n  token_url: https://auth.example.test/oauth/token\n  scopes: [read, write]",
    "tokens:\n  access: 15m\n  refresh: 30d",
    "session_timeout: 3600\nsession_id_length: 32",
    "csrf: true\ncookies: strict",
    "api_key_header: X-API-Key\napi_key_env: HOUSE_KEY",
    "private_key_path: /etc/ssl/private/server.key\nssl_certificate_key /etc/nginx/tls.key;",
    "PASSWORD_FILE=/run/secrets/db_password",
    "POSTGRES_PASSWORD_FILE=/run/secrets/pg",
    "SSH_AUTH_SOCK=/run/user/1000/keyring/ssh",
    "GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/credentials.json",
    '{"type":"object","properties":{"password":{"type":"string"},"token":{"type":"string","minLength":20}}}',
    '{"password":"Password","forgot_password":"Forgot your password?","token":"Token"}',
    '{"labels":{"password":"Passwort","secret":"Geheimnis"}}',
    '"scripts": {"token": "node scripts/token.js", "secret": "node scripts/secret.js --rotate"}',
    "registry=https://registry.npmjs.org/\nalways-auth=true",
    "- uses: actions/checkout@v4\n  with:\n    token: §{{ github.token }}",
    'resource "aws_secretsmanager_secret" "db" {\n  name = "prod/db/password"\n}',
    'variable "db_password" {\n  type      = string\n  sensitive = true\n}',
    "secret_id = aws_secretsmanager_secret.db.id",
    "imagePullSecrets:\n- name: registry-credentials",
    "proxy_pass http://127.0.0.1:8080/;\nproxy_set_header Cookie $http_cookie;",
    "ENV NODE_ENV=production\nARG TOKEN\nRUN --mount=type=secret,id=token npm ci",
    "https://example.test:8443/path?token_type=bearer&state=open",
    "redis://localhost:6379/0 amqp://localhost mongodb://localhost:27017/app",
    "https://user@example.test/path and ssh://git@github.com/acme/app.git",
    "mailto:ada@example.test?subject=token",
  ],
  logs: [
    '2026-03-04T09:12:44Z ERROR password authentication failed for user "app"',
    "token expired at 2026-03-04T09:12:44Z, refreshing",
    "WARN: secret not found: prod/db/password",
    "info: api key rotated (id 42)",
    "GET /api/token 200 12ms - 512 bytes",
    "auth: token valid for 3599s, user=ada",
    "Invalid token: unexpected token } in JSON at position 12",
    "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
    "cookie: missing; csrf: missing",
    "Loaded 3 secrets from vault, 12 keys from cache",
    "[auth] session closed: reason=timeout id=42",
    "at Token.verify (/srv/app/node_modules/jsonwebtoken/verify.js:120:14)",
    "password: ok, token: ok, secret: ok",
    "Enter passphrase for key '/home/ada/.ssh/id_ed25519': ",
    "remote: Invalid username or password.\nfatal: Authentication failed for 'https://git.example.test/app.git/'",
    "npm error code E401\nnpm error Incorrect or missing password.",
    "Key 'password' not found in map [user, host, port]",
    "credential helper: osxkeychain",
    "Set-Cookie: theme=dark; Path=/",
    "authorization: denied by policy 7",
  ],
};
