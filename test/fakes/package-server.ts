/**
 * One small server for what package managers and git fetch: registries for npm, pip, Cargo, Go and Maven, and git repositories, over
 * HTTP and HTTPS. It listens on 127.0.0.1 as `localhost`, and on 127.0.0.2 under a name that only an egress proxy resolves.
 */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import type { Resolve } from "#world";
import { createSelfSignedCertificate } from "./self-signed-certificate.ts";

export const PACKAGE_HOST = "packages.test";
export const PACKAGE_ADDRESS = "127.0.0.2";
/** Stands in text files for the address that the client used. */
const BASE = "{{BASE}}";

export interface PackageServer {
  /** Variables of commands: where the server is, and whom to trust. `inside`: behind an egress proxy. */
  variables(inside: boolean): Readonly<Record<string, string>>;
  readonly resolve: Resolve;
  close(): Promise<void>;
}

export async function startPackageServer(): Promise<PackageServer> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness-packages-")));
  const put = (name: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  putNpm(folder, put);
  putWheel(folder, put);
  putCrate(folder, put);
  putGoModule(folder, put);
  const repository = join(folder, "git/shop.git");
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", repository]);
  execFileSync("git", ["-C", repository, "config", "http.receivepack", "true"]);

  const own = createSelfSignedCertificate("localhost");
  const named = createSelfSignedCertificate(PACKAGE_HOST);
  const answer = (request: IncomingMessage, response: ServerResponse, scheme: string): void => {
    const url = new URL(request.url ?? "/", `${scheme}://${request.headers.host ?? "localhost"}`);
    if (url.pathname.startsWith("/git/")) serveGit(folder, url, request, response);
    else serveFile(folder, url, response);
  };
  const plain: RequestListener = (request, response) => answer(request, response, "http");
  const secure: RequestListener = (request, response) => answer(request, response, "https");
  const servers = [
    { server: createServer(plain), address: "127.0.0.1" },
    { server: createSecureServer(own, secure), address: "127.0.0.1" },
    { server: createServer(plain), address: PACKAGE_ADDRESS },
    { server: createSecureServer(named, secure), address: PACKAGE_ADDRESS },
  ];
  const [http, https, namedHttp, namedHttps] = await Promise.all(servers.map(listen));
  return {
    variables: (inside) => ({
      PACKAGES: inside ? `http://${PACKAGE_HOST}:${namedHttp}` : `http://localhost:${http}`,
      SECURE_PACKAGES: inside ? `https://${PACKAGE_HOST}:${namedHttps}` : `https://localhost:${https}`,
      PACKAGES_CERTIFICATE: own.cert + named.cert,
    }),
    resolve: async (name) => (name === PACKAGE_HOST ? [{ address: PACKAGE_ADDRESS, family: 4 }] : []),
    async close() {
      for (const { server } of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Put = (name: string, content: string | Buffer) => void;

/** `tiny-math`, which has a program, and `tiny-app`, which depends on it. */
function putNpm(folder: string, put: Put): void {
  const packages = [
    {
      name: "tiny-math",
      bin: { "tiny-math": "cli.js" },
      files: {
        "index.js": "exports.add = (a, b) => a + b;\n",
        "cli.js": '#!/usr/bin/env node\nconsole.log("tiny-math says " + require("./index.js").add(2, 3));\n',
      },
    },
    {
      name: "tiny-app",
      dependencies: { "tiny-math": "^1.0.0" },
      files: { "index.js": 'exports.five = () => require("tiny-math").add(2, 3);\n' },
    },
  ];
  for (const { files, ...rest } of packages) {
    const manifest = { version: "1.0.0", main: "index.js", ...rest };
    const source = join("build/npm", rest.name, "package");
    for (const [name, text] of Object.entries(files)) put(join(source, name), text);
    put(join(source, "package.json"), JSON.stringify(manifest));
    const file = `npm/${rest.name}/-/${rest.name}-1.0.0.tgz`;
    put(file, archived(join(folder, "build/npm", rest.name), "package"));
    const integrity = `sha512-${createHash("sha512")
      .update(readFileSync(join(folder, file)))
      .digest("base64")}`;
    const versions = { "1.0.0": { ...manifest, dist: { tarball: `${BASE}/${file}`, integrity } } };
    put(`npm/${rest.name}/index.json`, JSON.stringify({ name: rest.name, "dist-tags": { latest: "1.0.0" }, versions }));
  }
}

/** A wheel is a ZIP file; Python writes it. */
function putWheel(folder: string, put: Put): void {
  const script = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z:
    z.writestr("tiny_calc/__init__.py", "def add(a, b):\\n    return a + b\\n")
    z.writestr("tiny_calc-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny-calc\\nVersion: 1.0\\n")
    z.writestr("tiny_calc-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    z.writestr("tiny_calc-1.0.dist-info/RECORD", "tiny_calc/__init__.py,,\\ntiny_calc-1.0.dist-info/METADATA,,\\ntiny_calc-1.0.dist-info/WHEEL,,\\ntiny_calc-1.0.dist-info/RECORD,,\\n")
`;
  const wheel = "tiny_calc-1.0-py3-none-any.whl";
  put("simple/tiny-calc/index.html", `<a href="../../wheels/${wheel}">${wheel}</a>`);
  mkdirSync(join(folder, "wheels"));
  execFileSync("python3", ["-c", script, join(folder, "wheels", wheel)]);
}

function putCrate(folder: string, put: Put): void {
  const source = "build/cargo/tinycrate-1.0.0";
  put(`${source}/Cargo.toml`, '[package]\nname = "tinycrate"\nversion = "1.0.0"\nedition = "2021"\n');
  put(`${source}/src/lib.rs`, "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n");
  const crate = archived(join(folder, "build/cargo"), "tinycrate-1.0.0");
  put("cargo/dl/tinycrate/1.0.0", crate);
  put("cargo/config.json", JSON.stringify({ dl: `${BASE}/cargo/dl/{crate}/{version}` }));
  const cksum = createHash("sha256").update(crate).digest("hex");
  put(
    "cargo/ti/ny/tinycrate",
    `${JSON.stringify({ name: "tinycrate", vers: "1.0.0", deps: [], cksum, features: {}, yanked: false })}\n`,
  );
}

function putGoModule(folder: string, put: Put): void {
  const module = "module example.test/tiny\n\ngo 1.16\n";
  put("go/example.test/tiny/@v/list", "v1.0.0\n");
  put("go/example.test/tiny/@v/v1.0.0.info", JSON.stringify({ Version: "v1.0.0", Time: "2024-01-01T00:00:00Z" }));
  put("go/example.test/tiny/@v/v1.0.0.mod", module);
  const source = "build/go/example.test/tiny@v1.0.0";
  put(`${source}/go.mod`, module);
  put(`${source}/tiny.go`, "package tiny\n\nfunc Add(a, b int) int { return a + b }\n");
  const script = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z:
    for name in ("go.mod", "tiny.go"):
        z.write(name, "example.test/tiny@v1.0.0/" + name)
`;
  const target = join(folder, "go/example.test/tiny/@v/v1.0.0.zip");
  execFileSync("python3", ["-c", script, target], { cwd: join(folder, source) });
}

function archived(folder: string, name: string): Buffer {
  return execFileSync("tar", ["-czf", "-", "--owner=0", "--group=0", "-C", folder, name]);
}

/** Maven's packages are those that the person has already. */
function serveFile(folder: string, url: URL, response: ServerResponse): void {
  const path = normalize(decodeURIComponent(url.pathname));
  const real = path.startsWith("/maven/")
    ? join(homedir(), ".m2/repository", path.slice("/maven/".length))
    : join(folder, path);
  const file = [real, join(real, "index.json"), join(real, "index.html")].find(
    (one) => existsSync(one) && !isFolder(one),
  );
  if (file === undefined) return void response.writeHead(404).end();
  const content = readFileSync(file);
  const type = file.endsWith(".html") ? "text/html" : file.endsWith(".json") ? "application/json" : undefined;
  response.writeHead(200, type === undefined ? {} : { "content-type": type });
  response.end(file.endsWith(".json") ? content.toString("utf8").replaceAll(BASE, url.origin) : content);
}

function isFolder(path: string): boolean {
  try {
    readFileSync(path);
    return false;
  } catch {
    return true;
  }
}

/** The server's side of git's protocol, which speaks CGI. */
function serveGit(folder: string, url: URL, request: IncomingMessage, response: ServerResponse): void {
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: join(folder, "git"),
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: url.pathname.slice("/git".length),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_USER: "somebody",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  backend.on("close", () => {
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf("\r\n\r\n");
    const head = whole.subarray(0, Math.max(end, 0)).toString("utf8").split("\r\n");
    const headers = head.map((line) => line.split(": ", 2) as [string, string]);
    const status = Number(headers.find(([name]) => name === "Status")?.[1].slice(0, 3) ?? 200);
    response.writeHead(end < 0 ? 500 : status, Object.fromEntries(headers.filter(([name]) => name !== "Status")));
    response.end(whole.subarray(end + 4));
  });
}

async function listen({ server, address }: { server: Server; address: string }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  // A server that listens on TCP has an address object.
  return (server.address() as AddressInfo).port;
}
