/** Secrets in the places where they are found: files, commands, logs, code, diffs, chat. Made anew from a seed. */
import { fillForm, uuid } from "./fill-form.ts";
import { keyFileCases } from "./key-files.ts";
import { paymentCases } from "./payment-numbers.ts";
import { realFileCases } from "./real-files.ts";
import type { SecretCase } from "./secret-case.ts";
import { ALPHABETS, createSeededRandom, type SeededRandom } from "./seeded-random.ts";
import { type VendorFormat, vendorFormats } from "./vendor-formats.ts";

const CONTEXTS_PER_FORMAT = 5;

export function secretCases(seed = 20_260): readonly SecretCase[] {
  const random = createSeededRandom(seed);
  return [
    ...vendorFormats.flatMap((format) => vendorCases(format, random)),
    ...passwordCases(random),
    ...webCases(random),
    ...keyFileCases(random),
    ...paymentCases(random),
    ...realFileCases(random),
  ];
}

/** Where a secret stands: gets the secret and a variable name. */
type Place = readonly [name: string, write: (secret: string, variable: string, random: SeededRandom) => string];

const camel = (variable: string): string =>
  variable.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Places that show the name of the variable. */
const namedPlaces: readonly Place[] = [
  ["env file", (s, v) => `# production\nNODE_ENV=production\n${v}=${s}\nPORT=8080\n`],
  ["env file, quoted", (s, v) => `${v}="${s}"\nLOG_LEVEL=info\n`],
  ["shell", (s, v) => `$ export ${v}=${s}\n$ npm run deploy\n`],
  ["json", (s, v) => `{\n  "region": "eu-west-1",\n  "${v.toLowerCase()}": "${s}",\n  "retries": 3\n}`],
  ["json, camel case", (s, v) => `{"name":"api","${camel(v)}":"${s}","debug":false}`],
  ["yaml", (s, v) => `service:\n  replicas: 2\n  ${v.toLowerCase()}: ${s}\n  port: 8080\n`],
  ["kubernetes env", (s, v) => `        env:\n        - name: ${v}\n          value: ${s}\n`],
  ["toml", (s, v) => `[auth]\n${v.toLowerCase()} = "${s}"\ntimeout = 30\n`],
  ["typescript", (s, v) => `const ${camel(v)} = "${s}";\nexport const client = createClient({ ${camel(v)} });\n`],
  ["python", (s, v) => `${v} = '${s}'\nclient = Client(timeout=10)\n`],
  ["diff", (s, v) => `@@ -1,3 +1,3 @@\n NODE_ENV=test\n-${v}=\n+${v}=${s}\n PORT=3000\n`],
  ["docker", (s, v) => `docker run --rm -e ${v}=${s} -p 8080:8080 registry.example.test/app:1.4.2\n`],
  ["log", (s, v) => `2026-03-04T09:12:44.120Z INFO  config loaded ${v}=${s} region=eu-west-1\n`],
  [
    "stack trace",
    (s, v) =>
      `Error: request failed\n    at send (/srv/app/client.js:41:13)\n    { config: { ${camel(v)}: '${s}' } }\n`,
  ],
];

/** Places where only the secret itself can be known. */
const barePlaces: readonly Place[] = [
  ["argument", (s) => `const client = new Client("${s}");\nawait client.connect();\n`],
  ["curl header", (s) => `curl -sS https://api.example.test/v1/items -H 'X-Credential: ${s}'\n`],
  ["chat", (s) => `here you go, use this one for staging: ${s} and tell me when you are done`],
  ["chat, quoted", (s) => `I think the value should be \`${s}\`, but please check.`],
  ["log", (s) => `[worker-3] WARN  upstream rejected credential ${s} (401), retrying in 2s\n`],
  ["json list", (s) => `{"items":["alpha","${s}","omega"]}`],
  ["escaped json", (s) => `{"output":"line one\\n${s}\\nline three"}`],
  ["query", (s) => `GET /v1/report?x=1&value=${encodeURIComponent(s)}&y=2 HTTP/1.1\n`],
  ["numbered listing", (s) => `    11\tfoo: bar\n    12\tvalue: ${s}\n    13\tbaz: qux\n`],
  ["table", (s) => `| name | value |\n| --- | --- |\n| staging | ${s} |\n`],
];

const prosePlaces: readonly ((secret: string, prose: string) => string)[] = [
  (s, p) => `The ${p} for staging is ${s}, it expires in June.`,
  (s, p) => `${p}: ${s}`,
];

function vendorCases(format: VendorFormat, random: SeededRandom): SecretCase[] {
  const { kind, variable, prose, form } = format;
  const isPath = kind.endsWith("-path");
  return Array.from({ length: CONTEXTS_PER_FORMAT }, (_, index) => {
    const secret = fillForm(form, random);
    const asPlace = ([context, write]: Place): SecretCase => ({
      kind,
      context,
      text: write(secret, variable ?? "SOME_VALUE", random),
      // Of an address only the path opens something.
      secret: isPath ? secret.slice(-20) : context === "query" ? encodeURIComponent(secret) : secret,
    });
    if (variable === undefined) {
      const places = index % 2 === 0 ? barePlaces : namedPlaces;
      return asPlace(isPath ? barePlaces[index % 5]! : random.pick(places));
    }
    if (prose !== undefined && index === CONTEXTS_PER_FORMAT - 1) {
      return { kind, context: "prose", text: random.pick(prosePlaces)(secret, prose), secret };
    }
    return asPlace(random.pick(namedPlaces));
  });
}

function passwordCases(random: SeededRandom): SecretCase[] {
  const strong = (): string =>
    `${random.chars(ALPHABETS.letters, 2)}${random.chars(ALPHABETS.password, 8 + random.integer(10))}${random.integer(10)}`;
  const weak = (): string =>
    `${random.pick(["summer", "winter", "dragon", "monkey", "Harbour", "Sunset"])}${random.integer(9000) + 1000}${random.pick(["", "!", "#"])}`;
  const places: readonly Place[] = [
    ["env", (s) => `DB_HOST=localhost\nDB_PASSWORD=${s}\nDB_NAME=app\n`],
    ["yaml", (s) => `database:\n  user: app\n  password: ${s}\n`],
    ["yaml, quoted", (s) => `database:\n  user: app\n  password: '${s}'\n`],
    ["json", (s) => `{"user":"app","password":"${s}","host":"db"}`],
    ["escaped json", (s) => `{"body":"{\\"user\\":\\"app\\",\\"password\\":\\"${s}\\"}"}`],
    ["ini", (s) => `[client]\nuser = root\npassword = ${s}\n`],
    ["properties", (s) => `spring.datasource.username=app\nspring.datasource.password=${s}\n`],
    ["connection string", (s) => `Server=db.example.test;Database=app;User Id=app;Password=${s};Encrypt=true`],
    ["short connection string", (s) => `Server=db;Uid=app;Pwd=${s};`],
    ["flag", (s) => `backup-tool --host db --password ${s} --out /tmp/x\n`],
    ["flag with =", (s) => `backup-tool --host db --password=${s} --out /tmp/x\n`],
    ["xml", (s) => `<server><username>deploy</username><password>${s}</password></server>`],
    ["code", (s) => `db.connect({ user: "app", password: "${s}" });`],
    ["python keyword", (s) => `conn = connect(host="db", password="${s}")\n`],
    ["form", (s) => `POST /login\n\nusername=ada&password=${encodeURIComponent(s)}&remember=1`],
    ["netrc", (s) => `machine api.example.test login ada password ${s}\n`],
    ["passphrase", (s) => `ssh_key_passphrase: "${s}"\n`],
    ["chat", (s) => `the password is ${s}`],
    ["typed", (s) => `const password: string = "${s}";`],
    ["diff", (s) => `-  password: "changeme"\n+  password: "${s}"\n`],
    ["mapping", (s) => `config["db_password"] = "${s}"\n`],
    ["kubernetes", (s) => `env:\n- name: PGPASSWORD\n  value: "${s}"\n`],
  ];
  return places.flatMap(([context, write]) =>
    Array.from({ length: 6 }, (_, index) => {
      const made = index < 4 ? strong() : weak();
      // `<`, `&` and `=` would end the value in some of these notations.
      const secret = made.replace(/[=%?]/g, "7");
      return {
        kind: "password",
        context,
        text: write(secret, "", random),
        secret: context === "form" ? encodeURIComponent(secret) : secret,
      };
    }),
  );
}

function webCases(random: SeededRandom): SecretCase[] {
  const token = (): string => random.chars(ALPHABETS.url, 24 + random.integer(40));
  const word = (): string => random.chars(ALPHABETS.lower, 8);
  const pass = (): string => random.chars(ALPHABETS.alnum, 14);
  const makers: readonly (readonly [string, string, () => { text: string; secret: string }])[] = [
    [
      "bearer-token",
      "curl",
      () => withSecret(`x${token()}9`, (s) => `curl -H "Authorization: Bearer ${s}" https://api.example.test\n`),
    ],
    [
      "bearer-token",
      "http",
      () => withSecret(`x${token()}9`, (s) => `GET / HTTP/1.1\r\nHost: a.test\r\nAuthorization: Bearer ${s}\r\n\r\n`),
    ],
    ["bearer-token", "json", () => withSecret(`x${token()}9`, (s) => `{"headers":{"authorization":"Bearer ${s}"}}`)],
    [
      "basic-auth",
      "http",
      () => withSecret(Buffer.from(`${word()}:${pass()}`).toString("base64"), (s) => `Authorization: Basic ${s}\r\n`),
    ],
    [
      "docker-auth",
      "config.json",
      () =>
        withSecret(
          Buffer.from(`${word()}:${pass()}`).toString("base64"),
          (s) => `{"auths":{"ghcr.io":{"auth":"${s}"}}}`,
        ),
    ],
    [
      "authorization",
      "python",
      () => withSecret(random.chars(ALPHABETS.hex, 40), (s) => `headers = {"Authorization": "Token ${s}"}\n`),
    ],
    [
      "x-api-key",
      "curl",
      () => withSecret(random.chars(ALPHABETS.alnum, 36), (s) => `curl -H 'x-api-key: ${s}' https://a.test/v1`),
    ],
    ["cookie", "http", () => withSecret(`${token()}0`, (s) => `Cookie: theme=dark; sid=${s}; lang=en\r\n`)],
    [
      "cookie",
      "curl",
      () => withSecret(`${token()}0`, (s) => `curl 'https://a.test/' -H 'Cookie: sessionid=${s}; csrftoken=x'\n`),
    ],
    [
      "set-cookie",
      "http",
      () => withSecret(`${token()}0`, (s) => `Set-Cookie: sid=${s}; Path=/; HttpOnly; Secure\r\n`),
    ],
    ["set-cookie", "json", () => withSecret(`${token()}0`, (s) => `{"set-cookie":["sid=${s}; Path=/; HttpOnly"]}`)],
    [
      "session-id",
      "url",
      () => withSecret(random.chars(ALPHABETS.upperHex, 32), (s) => `GET /cart;JSESSIONID=${s} HTTP/1.1`),
    ],
    [
      "session-id",
      "log",
      () => withSecret(random.chars(ALPHABETS.lower, 32), (s) => `user=ada session_id=${s} action=login`),
    ],
    [
      "csrf-token",
      "html",
      () =>
        withSecret(random.chars(ALPHABETS.base64, 43), (s) => `<input type="hidden" name="csrf_token" value="${s}">`),
    ],
    ["csrf-token", "header", () => withSecret(random.chars(ALPHABETS.alnum, 40), (s) => `X-CSRF-Token: ${s}\r\n`)],
    [
      "postgres-url",
      "env",
      () => withSecret(pass(), (s) => `DATABASE_URL=postgres://app:${s}@db.example.test:5432/app\n`),
    ],
    ["mysql-url", "yaml", () => withSecret(pass(), (s) => `url: mysql://root:${s}@127.0.0.1:3306/app\n`)],
    [
      "mongodb-url",
      "code",
      () => withSecret(pass(), (s) => `mongoose.connect("mongodb+srv://app:${s}@c0.example.test/app")`),
    ],
    ["redis-url", "env", () => withSecret(pass(), (s) => `REDIS_URL=redis://:${s}@cache:6379/0\n`)],
    ["amqp-url", "log", () => withSecret(pass(), (s) => `connecting to amqp://svc:${s}@mq:5672/vhost ...`)],
    [
      "http-url",
      "git",
      () => withSecret(pass(), (s) => `git remote add origin https://ci:${s}@git.example.test/team/app.git`),
    ],
    ["ftp-url", "script", () => withSecret(pass(), (s) => `lftp ftp://upload:${s}@files.example.test -e "ls"`)],
    ["smtp-url", "env", () => withSecret(pass(), (s) => `MAIL_DSN=smtp://mailer:${s}@smtp.example.test:587`)],
    ["user-flag", "curl", () => withSecret(`${pass()}!`, (s) => `curl -u ada:${s} https://api.example.test/v1`)],
    [
      "signed-url",
      "s3",
      () =>
        withSecret(
          random.chars(ALPHABETS.hex, 64),
          (s) => `https://b.s3.amazonaws.com/o?X-Amz-Date=20260101T000000Z&X-Amz-Signature=${s}`,
        ),
    ],
    [
      "signed-url",
      "azure",
      () =>
        withSecret(
          `${random.chars(ALPHABETS.alnum, 43)}%3D`,
          (s) => `https://a.blob.core.windows.net/c/b?sv=2023-11-03&sp=r&sig=${s}`,
        ),
    ],
    [
      "azure-connection-string",
      "env",
      () =>
        withSecret(
          `${random.chars(ALPHABETS.base64, 86)}==`,
          (s) =>
            `AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${s};EndpointSuffix=core.windows.net`,
        ),
    ],
    [
      "npmrc",
      "file",
      () => withSecret(uuid(random), (s) => `//registry.npmjs.org/:_authToken=${s}\nalways-auth=true\n`),
    ],
    [
      "kubeconfig-token",
      "file",
      () => withSecret(random.chars(ALPHABETS.url, 60), (s) => `users:\n- name: admin\n  user:\n    token: a1${s}\n`),
    ],
    [
      "kubeconfig-key",
      "file",
      () => withSecret(random.chars(ALPHABETS.base64, 400), (s) => `  user:\n    client-key-data: LS0t${s}\n`),
    ],
    ["pgpass", "file", () => withSecret(pass(), (s) => `db.example.test:5432:app:svc:${s}\n`)],
    [
      "wireguard",
      "file",
      () =>
        withSecret(
          `${random.chars(ALPHABETS.base64, 43)}=`,
          (s) => `[Interface]\nPrivateKey = ${s}\nAddress = 10.0.0.2/32\n`,
        ),
    ],
    ["one-time-code", "json", () => withSecret(random.chars(ALPHABETS.digits, 6), (s) => `{"otp_code":"${s}"}`)],
    ["card-code", "json", () => withSecret(`4${random.integer(9)}7`, (s) => `{"cvv": "${s}", "brand": "visa"}`)],
    [
      "mnemonic",
      "env",
      () => withSecret(Array.from({ length: 12 }, () => random.pick(SEED_WORDS)).join(" "), (s) => `MNEMONIC="${s}"\n`),
    ],
  ];
  return makers.flatMap(([kind, context, make]) => Array.from({ length: 5 }, () => ({ kind, context, ...make() })));
}

const SEED_WORDS = [
  "ridge",
  "velvet",
  "open",
  "cube",
  "swim",
  "lamp",
  "north",
  "tide",
  "rule",
  "fox",
  "gain",
  "hello",
  "orbit",
  "maple",
];

function withSecret(secret: string, write: (secret: string) => string): { text: string; secret: string } {
  return { secret, text: write(secret) };
}
