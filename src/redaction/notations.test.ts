/** Ways to write down a secret that the corpora do not have, and texts that look like them: whole, and cut at every place. */
import { describe, expect, test } from "vitest";
import { realFileCases } from "../../test/corpora/real-files.ts";
import { ALPHABETS, createSeededRandom } from "../../test/corpora/seeded-random.ts";
import { fillExample } from "../../test/fakes/rule-example.ts";
import { createRedactor } from "./index.ts";

const redactor = createRedactor();
const word = fillExample("n7<a4>8w<a4>");
const long = fillExample("<a28>");
const lines = [1, 2, 3, 4].map((n) => fillExample(`<b${60 + n}>`).slice(-60));
const key = ["-----BEGIN RSA PRIVATE KEY-----", ...lines, "-----END RSA PRIVATE KEY-----", ""];
const before = (prefix: string | ((n: number) => string), behind = ""): string =>
  key.map((line, n) => (typeof prefix === "string" ? prefix : prefix(n)) + line + behind).join("\n");

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

const secrets: readonly (readonly [string, string, string])[] = [
  ["a YAML block", `password: |\n  ${word}\nother: x\n`, word],
  ["a folded YAML block", `db:\n  password: >-\n    ${word}\n`, word],
  ["a YAML block in a numbered listing", `     3\tpassword: |\n     4\t  ${word}\n     5\tother: x\n`, word],
  ["the line below in YAML", `password:\n  ${word}\n`, word],
  ["the line below in JSON", `"password":\n  "${word}",\n`, word],
  ["a YAML anchor", `password: &main ${word}\n`, word],
  ["a YAML tag", `password: !!str ${word}\n`, word],
  ["three quotes of TOML", `password = '''${word}'''\n`, word],
  ["three quotes of Python", `password = """${word}"""\n`, word],
  ["a name that goes on", `PASSWORD_PROD=${word}\n`, word],
  ["a token whose name goes on", `export TOKEN_LIVE_2=${long}\n`, long],
  ["an API key whose name goes on", `API_KEY_STAGING: ${long}\n`, long],
  ["netrc without a login", `machine api.example.test password ${word}\n`, word],
  ["netrc with an account", `machine h login b account x password ${word}\n`, word],
  ["a call", `define('DB_PASSWORD', '${word}');\n`, word],
  ["a method", `builder.password("${word}").build()\n`, word],
  ["a setter", `source.setPassword("${word}");\n`, word],
  ["arguments as JSON", `["mysql", "--password", "${word}"]\n`, word],
  ["arguments as JSON, one to a line", `[\n  "--api-key",\n  "${long}"\n]\n`, long],
  ["SQL", `CREATE ROLE app WITH LOGIN PASSWORD '${word}';\n`, word],
  ["SQL of another vendor", `CREATE LOGIN app WITH PASSWORD = N'${word}', CHECK_POLICY = OFF;\n`, word],
  ["a build file", `storePassword "${word}"\nkeyAlias "upload"\n`, word],
  ["a macro", `#define WIFI_PASSWORD "${word}"\n`, word],
  ["a name server", `key "k" {\n  secret "${long}";\n};\n`, long],
  ["a variable of Windows", `setx MY_API_TOKEN "${long}"\r\n`, long],
  ["a variable of fish", `set -gx GITEA_TOKEN ${long}\n`, long],
  ["a variable of an image", `FROM node\nENV NPM_AUTH_PASSWORD ${word}\nRUN x\n`, word],
  ["one word to a line", `account a\nuser bob\npassword ${word}\n`, word],
  ["a listing of a vault", `Key         Value\n---         -----\npassword    ${word}\nusername    app\n`, word],
  ["a flag with one dash", `keytool -list -password ${word} -v\n`, word],
  ["a default of code", `const secret = process.env.JWT_SECRET || "${long}";\n`, long],
  ["another default of code", `const key = process.env.API_KEY ?? '${long}';\n`, long],
  ["a table of Markdown", `| name | value |\n| --- | --- |\n| password | ${word} |\n`, word],
  ["code in a table", `| api_key | \`${long}\` | prod |\n`, long],
  ["a record of a database", `-[ RECORD 1 ]---\nid        | 1\napi_token | ${long}\n`, long],
  ["a pair of a HAR file", `{"name": "x-api-key", "value": "${long}"}\n`, long],
  ["a pair on two lines", `{\n  "name": "password",\n  "value": "${word}"\n}\n`, word],
  ["a pair in a string", `{\\"name\\":\\"password\\",\\"value\\":\\"${word}\\"}\n`, word],
  ["a tag with attributes", `<wsse:Password Type="a#b">${word}</wsse:Password>\n`, word],
  ["another tag with attributes", `<Password encoding="x">${word}</Password>\n`, word],
  ["a meta tag", `<meta name="csrf-token" content="${long}">\n`, long],
  ["a part of a form", `--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n${word}\r\n--x--\r\n`, word],
  ["an address of Go", `dsn := "app:${word}@tcp(db:3306)/app?parseTime=true"\n`, word],
  ["a login of PHP", `$db = new mysqli($host, "root", "${word}", "app");\n`, word],
  ["a login of Java", `DriverManager.getConnection(url,\n    "root", '${word}');\n`, word],
  ["a login of Python", `requests.get(url, auth=('ada', '${word}'))\n`, word],
  ["a token behind a colour", `file:\u001b[01;31mghp_${fillExample("<a36>")}\u001b[m`, "ghp_"],
  ["cookies in an escaped archive of requests", JSON.stringify(`{"name":"cookie","value":"sid=${long}; a=b"}\n`), long],
  ["cookies in JSON in JSON", JSON.stringify(JSON.stringify({ headers: { cookie: `sid=${long}; a=b` } })), long],
  ["a pair in JSON in JSON in JSON", escaped(escaped(escaped(`{"name":"x-api-key","value":"${long}"}`))), long],
  ["cookies in an archive of requests", `{"name":"cookie","value":"sid=${long}; a=b"}\n`, long],
  ["a value within a tag", `<AdministratorPassword><Value>${word}</Value></AdministratorPassword>\n`, word],
  ["a told code", "Your verification code is 493027. It expires soon.\n", "493027"],
  ["Markdown", `- **Password:** ${word}\n`, word],
  ["Markdown and code", `**API Key**: \`${long}\`\n`, long],
  ["emphasis of a tracker", `*Password*: ${word}\n`, word],
  ["cells of HTML", `<tr><td>Password</td><td class="x">${word}</td></tr>\n`, word],
  ["a value with attributes", `<Key>Password</Key>\n<Value ProtectInMemory="True">${word}</Value>\n`, word],
  ["a property of XML", `<property name="hibernate.connection.password">${word}</property>\n`, word],
  ["an address in an address", `GET /login?next=https%3A%2F%2Fx%2F%3Faccess_token%3D${long}\n`, long],
  ["JSON in an address", `q=%7B%22password%22%3A%22${long}%22%7D\n`, long],
  ["a list of one", `{"headers":{"x-auth-token":["${long}"]}}\n`, long],
  ["a list on lines", `"api_keys": [\n  "${long}"\n]\n`, long],
  [
    "a value with its type",
    `"db_password": {\n  "sensitive": true,\n  "type": "string",\n  "value": "${word}"\n}\n`,
    word,
  ],
  ["a value in an object", `{"secret": {"value": "${long}"}}\n`, long],
  ["a parameter store", `"Type": "SecureString",\n  "Value": "${word}",\n`, word],
  ["a cookie jar", `x.test\tFALSE\t/\tTRUE\t0\tsessionid\t${long}\n`, long],
  ["a header of a proxy", `  proxy_set_header X-Api-Key ${long};\n`, long],
  ["a token that is signed with", `jwt.sign(payload, "${word}", { expiresIn: "1h" });\n`, word],
  ["a login of Go", `req.SetBasicAuth("ada", "${word}")\n`, word],
  [
    "a salt of PHP",
    "define('AUTH_KEY', '2E;D4:fDC#@B,gC6g2B;98#dA#_F2A8%2%EBg486GDc77a7@h#,#!.1@g0:E_3A%');\n",
    "2E;D4",
  ],
  ["a told password", `Your password is: ${word}.\n`, word],
  ["a told password in German", `Das Passwort ist ${word}\n`, word],
  ["a prompt", `Password for ada@db: ${word}\n`, word],
  ["wide spaces", `password\u00a0=\u00a0${word}\n`, word],
  ["a wide colon", `password：${word}\n`, word],
  ["colours", `\u001b[31mpassword\u001b[0m=\u001b[32m${word}\u001b[0m\n`, word],
  ["colours of grep", `\u001b[01;31m\u001b[Kpassword\u001b[m\u001b[K=${word}\n`, word],
  ["colours of jq", `\u001b[34;1m"password"\u001b[0m\u001b[1;39m:\u001b[0m \u001b[0;32m"${word}"\u001b[0m\n`, word],
  ["character data of XML", `<password><![CDATA[${word}]]></password>\n`, word],
  ["a property list", `<key>password</key>\n\t<string>${word}</string>\n`, word],
  ["a key in comments", before("# "), lines[2]!],
  ["a key in comments of code", before("  // "), lines[2]!],
  ["a key in a coloured diff", before("\u001b[32m+", "\u001b[m"), lines[2]!],
  ["a key that a search found", before((n) => `keys/id_rsa-${n + 1}-`), lines[2]!],
  ["a key in XML", before("").replaceAll("\n", "&#10;"), lines[2]!],
  [
    "a key of PuTTY",
    `PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 4\n${lines.join("\n")}\nPrivate-MAC: 00\n`,
    lines[2]!,
  ],
  [
    "a key in base64",
    `tls.key: ${Buffer.from(before("")).toString("base64")}\n`,
    Buffer.from(lines[1]!).toString("base64").slice(4, 40),
  ],
  ["a token in front of a host", `git clone https://${long}@git.example.test/a/b.git\n`, long],
  ["a password with a slash", `postgres://u:ab/${word}@db/x\n`, word],
  ["a password with a hash", `amqp://u:ab#${word}@db/x\n`, word],
  ["a password with a question mark", `mysql://u:ab?${word}@db/x\n`, word],
  ["a token as the user", `https://${long}:x-oauth-basic@github.example.test/a\n`, long],
  ["a password joined to its flag", `mysql -uroot -p${word} shop\n`, word],
  ["sshpass", `sshpass -p '${word}' ssh host\n`, word],
  ["a login of a registry", `docker login -u ada -p ${word} r.example.test\n`, word],
  ["a cache", `redis-cli -h c -a ${word} ping\n`, word],
  ["a joined user", `curl -uada:${word} https://a.test\n`, word],
  ["Kerberos", `Authorization: Negotiate ${long}${long}==\n`, long],
  ["a seed of one-time codes", "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&issuer=b\n", "JBSWY3DPEHPK3PXP"],
  ["a card with narrow spaces", "4556\u202f7375\u202f8689\u202f9855\n", "7375\u202f8689"],
  ["a card with dots", "4556.7375.8689.9855\n", "7375.8689"],
  ["an IBAN with hard spaces", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000\n", "0532"],
];

const clean: readonly (readonly [string, string])[] = [
  ["a schema", "password:\n  type: string\n  description: The password of the user1.\n"],
  ["code below a colon", "if not password:\n    raise ValueError2(name1)\n"],
  ["a list in YAML", "secrets:\n  - db_password1\n  - api_key2\n"],
  ["a list of names with numbers", "'x_password',\n'ssh2_auth_pubkey_file',\n'openssl_x509_check',\n"],
  ["a list of patterns", '["api-token", "AQVN[\\\\w-]{35,38}", "token=<a40>"]\n'],
  ["a list of names", '["username", "password", "address1", "oauth2"]\n'],
  ["a call with a label", 'label("password", "Enter it")\nt("token", "Token v2")\n'],
  ["names about secrets", "PASSWORD_MIN_LENGTH=8\nTOKEN_URL=https://a.test/x1y2z3\nSECRET_KEY_FILE=/run/x1y2z3w4v5\n"],
  ["numbers", "PASSWORD_RESET_SECONDS=259200\nTOKEN_BUDGET=128000\n"],
  ["a reference", "password: !Ref DbPassword1\n"],
  ["prose", "The password is stored in vault2. A token for user7: none.\n"],
  [
    "a key that is none",
    "-----BEGIN PRIVATE KEY-----\n# then src/components/navigation/sidebar/items/index and more\n",
  ],
  [
    "other flags",
    "docker run -p 8080:80 x; mysql -p shop; ssh -p2222 h; cp -a n7R8wQz2v /srv; tar -pxzf a1b2c3d4.tgz\n",
  ],
  [
    "paths with an at",
    "http://h:8080/@vite/x1 redis://h1:6379/0?a=b@c mongodb://h1:27017,h2:27017/db?x=a1@b2 https://h:x/y1@z2\n",
  ],
  [
    "users in addresses",
    "https://my-organisation-2024@dev.azure.com/x ssh://git@h1.test/a https://a.test/@scope1/x2\n",
  ],
  ["addresses and versions", "10.0.4556.7375 4556.7375.8689 1.2.3.4\n"],
  ["words behind names", 'secret "kubernetes_secret" "db" {\npassword "Enter it here"\n#define TOKEN_TYPE "bearer2"\n'],
  [
    "tables",
    "| password | string | The password |\n| token | v2 |\npassword | varchar(255)\necho $TOKEN | sha256sum\n",
  ],
  ["lines of prose", "password rules8 of us\ntoken count\nsecret sauce1\npassword protected2x files\n"],
  [
    "pairs",
    '{"name": "password", "value": ""}, {"name": "token", "value": "{{token}}"}, {"name": "secret", "value": true}\n',
  ],
  [
    "defaults",
    "const token = env.TOKEN || '';\nconst key = o.token ?? other;\nconst s = a.secret || \"development\";\n",
  ],
  [
    "tags",
    '<password type="text"/>\n<Password Type="text">$(Password)</Password>\n<token kind="word">identifier</token>\n',
  ],
  ["parts of forms", 'name="password"\r\n\r\n\r\nname="token"\n\nsee the manual\n'],
  [
    "logins",
    "auth=(user, pw1)\nauth=('user', 'pass')\nnew PDO($dsn, $user, $pass2);\nmysqli('h', 'u')\na:$PW@tcp(db)\n",
  ],
  ["emphasis", "**Password:** required\n*Token* is a word\npassword: ***\nnext: a1b2c3d4e5\n**secret**\n"],
  ["cells", "<td>Password</td><td>string</td>\n<th>Token</th><td>see below</td>\n<dt>Secret</dt><dd>none</dd>\n"],
  ["encoded", "a?next=%2Fpassword%2Freset&token%20count=1\nsecret%3D%24VAR1\n"],
  [
    "brackets",
    '"tokens": ["let", "x1"], "secret": ["none"], token: [a, b1],\n"token": { "type": "string", "value": "" }, "password": {}\n',
  ],
  ["calls", 'jwt.sign(payload, secret)\nlogin("user", "pass")\ncreateHmac("sha256", key)\nlogin(user, x1)\n'],
  ["an empty value", 'password:\nuser: ada1234567\npassword: ""\ntoken = """"""\n'],
];

function inPieces(text: string, at: number): string {
  const stream = redactor.createStreamRedactor();
  return stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.flush();
}

describe.each(secrets)("%s", (_, text, secret) => {
  test("is found", () => {
    const { text: whole } = redactor.redact(text);
    expect(whole).not.toContain(secret);
    expect(redactor.redact(whole).text).toBe(whole);
    for (let at = 1; at < text.length; at++) expect(inPieces(text, at), `cut at ${at}`).toBe(whole);
  });
});

describe.each(clean)("%s", (_, text) => {
  test("is left alone", () => {
    expect(redactor.redact(text).text).toBe(text);
    for (let at = 1; at < text.length; at++) expect(inPieces(text, at), `cut at ${at}`).toBe(text);
  });
});

describe("the places of the corpus", () => {
  const inLines = (write: (line: string, number: number) => string) => (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line, index) => write(line, index + 1))
      .join("\n");
  const listing = inLines((line, number) => `${String(number).padStart(6)}\t${line}`);
  const search = inLines((line, number) => `src/a.txt:${number}:${line}`);
  test.each<[string, (text: string) => string]>([
    ["a string of JSON", (text) => JSON.stringify({ text })],
    ["a listing", listing],
    ["the results of a search", search],
    ["one line", (text) => text.trimEnd().replace(/\s*\n\s*/g, " ⏎ ")],
    ["a listing in a string", (text) => JSON.stringify(listing(text))],
    ["the results of a search in a string", (text) => JSON.stringify(search(text))],
  ])("are known in %s too", (_, wrap) => {
    // Without values that look like names: whether those are taken differs by place.
    const known = realFileCases(createSeededRandom(33)).filter(
      ({ text, secret }) =>
        !redactor.redact(text).text.includes(secret) &&
        !redactor.redact(`password: |\n  ${secret}\n`).text.includes(secret),
    );
    const missed = known.filter(({ text, secret }) => redactor.redact(wrap(text)).text.includes(secret));
    expect(missed.map(({ context }) => context)).toEqual([]);
  });
});

describe("values that a generator made, some of which look like names", () => {
  const VALUES = 2_000;
  test.each<[string, (value: string) => string]>([
    ["YAML", (value) => `api_token: ${value}\n`],
    ["INI", (value) => `secret = ${value}\n`],
    ["a header", (value) => `X-Auth-Token: ${value}\n`],
    ["a log", (value) => `user=ada token=${value} ok\n`],
    ["a call", (value) => `define('DB_PASSWORD', '${value}');\n`],
    ["a block", (value) => `password: |\n  ${value}\n`],
    ["JSON", (value) => `{"token": "${value}"}`],
    ["a password in YAML", (value) => `password: ${value}\n`],
  ])("are found in %s", (_, write) => {
    const random = createSeededRandom(7);
    const values = Array.from({ length: VALUES }, () => random.chars(ALPHABETS.alnum, 16));
    const missed = values.filter((value) => redactor.redact(write(value)).text.includes(value));
    expect(missed.length / VALUES).toBeLessThan(0.05);
  });

  test.each(["_DSAPrivateKey", "OAuthTokenProvider", "HttpSessionStrategy", "getAccessTokenOf"])(
    "%s is a name",
    (name) => {
      for (const text of [`token: ${name}\n`, `secret = "${name}"\n`, `define('API_TOKEN', '${name}')`])
        expect(redactor.redact(text).text).toBe(text);
    },
  );
});
