/** Workspaces for judging shell commands: one as developers have them, and one that somebody has prepared. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface ShellWorkspace {
  readonly root: string;
  /** Makes it again as it was at first. */
  restore(): void;
  remove(): void;
}

const FILES: Readonly<Record<string, string>> = {
  "package.json": '{ "name": "shop", "version": "1.4.0", "scripts": { "build": "tsc" } }\n',
  "tsconfig.json": '{ "compilerOptions": { "strict": true } }\n',
  "README.md": "# Shop\n\nA small shop. TODO: say more.\n",
  "CHANGELOG.md": "## 1.4.0\n\n- carts\n",
  LICENSE: "MIT\n",
  Makefile: "build:\n\ttsc\n",
  Dockerfile: "FROM node:24\n",
  "docker-compose.yml": "services: {}\n",
  "pyproject.toml": '[project]\nname = "shop"\n',
  "Cargo.toml": '[package]\nname = "shop"\n',
  "go.mod": "module example.com/shop\n",
  ".gitignore": "node_modules\n.env\ndist\n*.log\n",
  ".editorconfig": "root = true\n",
  ".env": "TOKEN=not-a-real-one\n",
  ".env.example": "TOKEN=\n",
  ".github/workflows/ci.yml": "on: push\n",
  "src/index.ts": 'import { add } from "./cart.ts";\nexport const total = add(1, 2); // TODO\n',
  "src/cart.ts": "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
  "src/user.ts": "export interface User {\n  id: string;\n}\n",
  "src/api/routes.ts": 'export const routes = ["/api/v1"];\n',
  "src/api/server.ts": 'import { routes } from "./routes.ts";\nconsole.log(routes);\n',
  "src/lib/money.ts": "export const cents = 100;\n",
  "src/main.py": "def main():\n    print('shop')\n",
  "src/main.rs": "fn main() {}\n",
  "src/main.go": "package main\n",
  "test/cart.test.ts": 'test("adds", () => undefined);\n',
  "test/user.test.ts": 'test("user", () => undefined);\n',
  "docs/guide.md": "# Guide\n\nTODO\n",
  "docs/api.md": "# API\n",
  "scripts/build.sh": "#!/bin/sh\necho build\n",
  "config/default.json": '{ "port": 8080 }\n',
  "data/orders.csv": "id,total\n1,20\n2,30\n",
  "data/users.json": '[{ "id": 1, "name": "Ann" }]\n',
  "logs/app.log": "INFO start\nERROR failed\n",
  "notes.txt": "first\nsecond\nfirst\n",
  "other.txt": "third\n",
  "node_modules/left/package.json": '{ "name": "left", "version": "1.0.0" }\n',
  "node_modules/left/index.js": "module.exports = 1;\n",
  "dist/index.js": "export {};\n",
};

/** A plain repository with a `.env` that is not in it, as after a fresh `git init` and two commits. */
export function createShellWorkspace(): ShellWorkspace {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "harness-shell-")));
  const root = join(outside, "shop");
  fillWorkspace(root);
  return {
    root,
    restore() {
      rmSync(root, { recursive: true, force: true });
      fillWorkspace(root);
    },
    remove: () => rmSync(outside, { recursive: true, force: true }),
  };
}

function fillWorkspace(root: string): void {
  mkdirSync(root);
  put(root, FILES);
  const git = (...args: string[]): void => {
    const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"];
    const env = { ...process.env, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
    execFileSync("git", [...identity, ...args], { cwd: root, stdio: "ignore", env });
  };
  git("init", "-q");
  git("add", "package.json", "src");
  git("commit", "-q", "-m", "feat: the shop");
  git("add", ".");
  git("commit", "-q", "-m", "docs: guide");
  git("tag", "v1.0.0");
}

/** The same, with links, names and repositories that make harmless words mean something else. */
export function createPreparedWorkspace(): ShellWorkspace {
  const workspace = createShellWorkspace();
  const { root } = workspace;
  const outside = dirname(root);
  writeFileSync(join(outside, "outside.txt"), "outside\n");
  put(root, {
    "trap/plain.txt": "x\n",
    "trap/-rf": "x\n",
    "spaces/a b.txt": "x\n",
    "dashes/--output=x": "x\n",
    "vendor/lib/.git/HEAD": "ref: refs/heads/main\n",
    "vendor/lib/.git/config": "[core]\n\tfsmonitor = touch ran\n",
    "vendor/lib/code.ts": "x\n",
    "assets/data/HEAD": "ref: refs/heads/main\n",
    "assets/data/config": '[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch ran; false"\n',
    "assets/data/objects/keep": "",
    "assets/data/refs/keep": "",
    "keys/server.pem": "x\n",
    "keys/readme.md": "x\n",
    "conf/.env": "TOKEN=1\n",
    "conf/app.json": "{}\n",
    "private/plan.md": "x\n",
    "private/deep/plan.md": "x\n",
  });
  put(root, { "packages/a/node_modules/b/index.ts": "x\n" });
  symlinkSync("/etc/passwd", join(root, "packages/a/node_modules/b/evil.ts"));
  symlinkSync("/etc", join(root, "trap/etc"));
  symlinkSync("../.env", join(root, "trap/settings.txt"));
  symlinkSync("../../outside.txt", join(root, "trap/outside.txt"));
  symlinkSync("../private/plan.md", join(root, "trap/plan-link.md"));
  return workspace;
}

function put(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
