/** Passwords and tokens as they stand in the files, listings and commands of everyday programs. */
import type { SecretCase } from "./secret-case.ts";
import { ALPHABETS, type SeededRandom } from "./seeded-random.ts";

type Place = readonly [context: string, write: (secret: string) => string];

const VALUES_PER_PLACE = 3;
const PASSWORD_CHARS = 16;
const TOKEN_CHARS = 32;

const passwordPlaces: readonly Place[] = [
  ["compose file", (s) => `    environment:\n      - POSTGRES_PASSWORD=${s}\n      - TZ=UTC\n`],
  ["compose command", (s) => `    command: redis-server --requirepass ${s} --appendonly yes\n`],
  ["arguments of a container", (s) => `    command: ["redis-server", "--requirepass", "${s}"]\n`],
  ["health check", (s) => `test: ["CMD", "mysqladmin", "ping", "-uroot", "-p${s}"]\n`],
  ["image", (s) => `FROM node:24\nENV NPM_AUTH_PASSWORD ${s}\n`],
  ["inspected container", (s) => `  "Env": [\n    "PATH=/usr/bin",\n    "PGPASSWORD=${s}",\n`],
  ["secret of a cluster", (s) => `kind: Secret\nstringData:\n  username: admin\n  password: "${s}"\n`],
  ["command for a cluster", (s) => `kubectl create secret generic db --from-literal=password=${s}\n`],
  ["chart", (s) => `helm upgrade pg chart/pg --set auth.postgresPassword=${s}\n`],
  ["terraform variables", (s) => `region      = "eu-central-1"\ndb_password = "${s}"\n`],
  ["terraform state", (s) => `"secret_string": "{\\"username\\":\\"app\\",\\"password\\":\\"${s}\\"}",\n`],
  ["inventory", (s) => `web1 ansible_host=10.0.0.4 ansible_ssh_pass=${s}\n`],
  ["netrc of several lines", (s) => `machine git.example.test\n  login bob\n  password ${s}\n`],
  ["mail client", (s) => `account work\nuser bob\npassword ${s}\n`],
  ["package index", (s) => `[global]\nindex-url = https://ci:${s}@pypi.example.test/simple\n`],
  ["build file", (s) => `signingConfig {\n  storePassword "${s}"\n  keyAlias "upload"\n}\n`],
  ["key of settings", (s) => `<add key="ClearTextPassword" value="${s}" />\n`],
  ["connection strings", (s) => `"Default": "Server=db;Database=x;User Id=sa;Password=${s};Encrypt=True"\n`],
  ["cache", (s) => `acme.redis.example.test:6380,password=${s},ssl=True,abortConnect=False\n`],
  ["java address", (s) => `jdbc:sqlserver://db:1433;databaseName=x;user=sa;password=${s};encrypt=true\n`],
  ["key and value", (s) => `host=db user=app password=${s} dbname=app sslmode=disable\n`],
  ["directory", (s) => `BINDDN cn=admin\nbindpw ${s}\n`],
  ["mount", (s) => `//nas/share /mnt cifs username=bob,password=${s},uid=1000 0 0\n`],
  ["network", (s) => `network={\n  ssid="home"\n  psk="${s}"\n}\n`],
  ["role", (s) => `CREATE ROLE app WITH LOGIN PASSWORD '${s}';\n`],
  ["user of a database", (s) => `CREATE USER 'app'@'%' IDENTIFIED BY '${s}';\n`],
  ["login of a database", (s) => `CREATE LOGIN app WITH PASSWORD = N'${s}', CHECK_POLICY = OFF;\n`],
  ["update", (s) => `UPDATE users SET password = '${s}' WHERE id = 1;\n`],
  ["curl", (s) => `curl -sS https://nexus.example.test/x -u deploy:${s} -T a.jar\n`],
  ["httpie", (s) => `http -a bob:${s} GET https://a.example.test/\n`],
  ["database shell", (s) => `mongosh --host m -u root -p ${s} --authenticationDatabase admin\n`],
  ["other database shell", (s) => `sqlcmd -S db -U sa -P ${s} -Q "select 1"\n`],
  ["archive", (s) => `unzip -P ${s} a.zip\n`],
  ["key store", (s) => `keytool -list -keystore a.jks -storepass ${s}\n`],
  ["search in a directory", (s) => `ldapsearch -x -D "cn=admin" -w ${s} -b dc=example\n`],
  ["shell of Windows", (s) => `New-LocalUser -Name bob -Password ${s}\n`],
  ["secure string", (s) => `ConvertTo-SecureString "${s}" -AsPlainText -Force\n`],
  ["vault listing", (s) => `Key         Value\n---         -----\npassword    ${s}\nusername    app\n`],
  ["login form", (s) => `Content-Disposition: form-data; name="password"\r\n\r\n${s}\r\n--x--\r\n`],
  ["field of a page", (s) => `<input type="password" name="password" value="${s}">\n`],
  ["archive of requests", (s) => `"params": [{"name": "password", "value": "${s}"}]\n`],
  ["Ruby log", (s) => `Parameters: {"user"=>{"email"=>"a@b.test", "password"=>"${s}"}}\n`],
  ["Java log", (s) => `Config(host=db, user=app, password=${s}, port=5432)\n`],
  ["Go log", (s) => `cfg: {Host:db User:app Password:${s} Port:5432}\n`],
  ["PHP log", (s) => `Array\n(\n    [host] => db\n    [password] => ${s}\n)\n`],
  ["Markdown table", (s) => `| key | value |\n| --- | --- |\n| password | ${s} |\n`],
  ["tag with attributes", (s) => `<wsse:Password Type="x#PasswordText">${s}</wsse:Password>\n`],
  ["login in Python", (s) => `requests.get(url, auth=("bob", "${s}"))\n`],
  ["login in PHP", (s) => `$db = new mysqli("localhost", "root", "${s}", "app");\n`],
  ["login in Java", (s) => `DriverManager.getConnection("jdbc:mysql://db/app", "root", "${s}");\n`],
  ["macro", (s) => `#define WIFI_PASSWORD "${s}"\n`],
  ["Markdown", (s) => `- **Password:** ${s}\n`],
  ["ticket", (s) => `*Password*: ${s}\n`],
  ["page", (s) => `<tr><td>Password</td><td>${s}</td></tr>\n`],
  ["password safe", (s) => `<Key>Password</Key>\n<Value ProtectInMemory="True">${s}</Value>\n`],
  ["property", (s) => `<property name="hibernate.connection.password">${s}</property>\n`],
  ["terraform output", (s) => `"db_password": {\n  "sensitive": true,\n  "type": "string",\n  "value": "${s}"\n}\n`],
  ["parameter store", (s) => `"Type": "SecureString",\n  "Value": "${s}",\n`],
  ["login in Go", (s) => `req.SetBasicAuth("bob", "${s}")\n`],
  ["French", (s) => `Mot de passe : ${s}\n`],
  ["Spanish", (s) => `contraseña: ${s}\n`],
  ["column of a CSV file", (s) => `host,user,password\ndb,app,${s}\n`],
];

const tokenPlaces: readonly Place[] = [
  ["YAML", (s) => `service:\n  api_token: ${s}\n`],
  ["header", (s) => `X-Auth-Token: ${s}\r\n`],
  ["header with a scheme", (s) => `Authorization: token ${s}\r\n`],
  ["other header with a scheme", (s) => `Authorization: ApiKey ${s}\r\n`],
  ["log of a build", (s) => `2026-03-01T10:00:00.12Z env:\n2026-03-01T10:00:00.12Z   DEPLOY_TOKEN: ${s}\n`],
  ["archive of requests", (s) => `{\n  "name": "x-api-key",\n  "value": "${s}"\n}\n`],
  ["cookie in an archive", (s) => `"cookies": [{"name": "sessionid", "value": "${s}", "path": "/"}]\n`],
  ["cookies in an archive", (s) => `{"name":"cookie","value":"sid=${s}; a=b"}\n`],
  ["page", (s) => `<meta name="csrf-token" content="${s}">\n`],
  ["default", (s) => `const secret = process.env.JWT_SECRET || "${s}";\n`],
  ["default in Python", (s) => `SECRET = os.getenv("APP_SECRET", "${s}")\n`],
  ["variable of fish", (s) => `set -gx GITEA_TOKEN ${s}\n`],
  ["variable of Windows", (s) => `setx MY_API_TOKEN "${s}"\n`],
  ["record of a database", (s) => `id        | 1\napi_token | ${s}\n`],
  ["code in a table", (s) => `| api_key | \`${s}\` | prod |\n`],
  ["name server", (s) => `key "k" {\n  algorithm hmac-sha256;\n  secret "${s}";\n};\n`],
  ["salt", (s) => `AUTH_SALT='${s}'\n`],
  ["list of keys", (s) => `APP_KEYS=${s}\n`],
  ["header as a list", (s) => `{"headers":{"x-auth-token":["${s}"]}}\n`],
  ["address in an address", (s) => `GET /login?next=https%3A%2F%2Fx%2F%3Faccess_token%3D${s}\n`],
  ["cookie jar", (s) => `x.test\tFALSE\t/\tTRUE\t0\tsessionid\t${s}\n`],
  ["header of a proxy", (s) => `  proxy_set_header X-Api-Key ${s};\n`],
  ["entry of a list", (s) => `tokens:\n  - ${s}\n`],
];

export function realFileCases(random: SeededRandom): SecretCase[] {
  const cases = (kind: string, places: readonly Place[], chars: number): SecretCase[] =>
    places.flatMap(([context, write]) =>
      Array.from({ length: VALUES_PER_PLACE }, () => {
        const secret = random.chars(ALPHABETS.alnum, chars);
        return { kind, context, text: write(secret), secret };
      }),
    );
  return [
    ...cases("password", passwordPlaces, PASSWORD_CHARS),
    ...cases("token", tokenPlaces, TOKEN_CHARS),
    ...encodedCases(random),
  ];
}

function encodedCases(random: SeededRandom): SecretCase[] {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const word = (): string => random.chars(ALPHABETS.alnum, PASSWORD_CHARS);
  const places: readonly (readonly [string, string, (secret: string) => string])[] = [
    ["address in a cluster", base64(`postgres://app:${word()}@db/app`), (s) => `data:\n  DATABASE_URL: ${s}\n`],
    [
      "registry in a cluster",
      base64(`{"auths":{"r.example.test":{"auth":"${base64(`ci:${word()}`)}"}}}`),
      (s) => `data:\n  .dockerconfigjson: ${s}\n`,
    ],
    ["password in a cluster", base64(word()), (s) => `kind: Secret\ndata:\n  password: ${s}\n`],
    [
      "key file of a cloud",
      random.chars(ALPHABETS.base64, 40),
      (s) => `Access key ID,Secret access key\nAKIAQ4VMZ2WJ7LKTRB3N,${s}\n`,
    ],
    ["private part of a key", random.chars(ALPHABETS.url, 43), (s) => `{"kty":"EC","crv":"P-256","d":"${s}"}\n`],
    ["unsealing", random.chars(ALPHABETS.base64, 44), (s) => `Unseal Key 1: ${s}\n`],
  ];
  return places.map(([context, secret, write]) => ({ kind: "encoded", context, text: write(secret), secret }));
}
