import { describe, expect, test } from "vitest";
import { isSensitiveGlob, isSensitivePath, workspaceRelative } from "./sensitive-paths.ts";

describe("isSensitivePath", () => {
  test.each([
    ".env",
    "./.env",
    ".ENV",
    "app/.env",
    "app/.env.local",
    "app/.env.production",
    "prod.env",
    ".envrc",
    "src/../.env",
    ".e\u200bnv",
    ".env.",
    "certs/server.pem",
    "certs/server.KEY",
    "a.p12",
    "id_rsa",
    "keys/id_ed25519",
    ".git/config",
    "sub/.git/config",
    ".git/modules/x/config",
    ".git/hooks",
    ".git/hooks/pre-commit",
    ".netrc",
    ".npmrc",
    ".aws",
    ".aws/credentials",
    ".ssh/known_hosts",
    ".config/gcloud/x",
    ".harness",
    ".config/harness/config.toml",
    ".local/share/harness",
    ".local/state/harness/tokens/x.json",
    "service/control.token",
    ".harness/threads/a/events.jsonl",
    ".harness/skills",
    ".harness/skills/review",
    ".harness/skills/review/.env",
    ".harness/skills/review/.harness/x",
    ".harness/skills/../config.toml",
    ".harness-secrets/env",
    "credentials.json",
    "config/secrets.yml",
    "terraform.tfstate",
  ])("%s is sensitive", (path) => {
    expect(isSensitivePath(path)).toMatchObject({ sensitive: true, why: expect.any(String) });
  });

  test("a file that only decides what runs is not a secret", () => {
    expect(isSensitivePath(".env")).toMatchObject({ secret: true });
    expect(isSensitivePath(".git/config")).toMatchObject({ secret: true });
    expect(isSensitivePath(".git/modules/hooks/config")).toMatchObject({ secret: true });
    expect(isSensitivePath(".git/hooks/pre-commit")).toMatchObject({ sensitive: true, secret: false });
    expect(isSensitivePath(".harness/tools/echo.md")).toMatchObject({ sensitive: true, secret: false });
  });

  test.each([
    ".",
    "src/index.ts",
    ".env.example",
    ".env.sample",
    ".env.template",
    "app/.env.production.example",
    "id_rsa.pub",
    ".git",
    ".git/HEAD",
    ".gitignore",
    "config",
    "hooks/useThing.ts",
    "src/gcloud/client.ts",
    "src/harness/index.ts",
    "share/harness/x",
    "keyboard.ts",
    "environment.ts",
    "src/secrets.ts",
    ".github/workflows/ci.yml",
    "harness/config.ts",
  ])("%s is not", (path) => {
    expect(isSensitivePath(path)).toEqual({ sensitive: false });
  });
});

describe("isSensitiveGlob", () => {
  test.each([
    ["*.ts", "shell", false],
    ["src/*.json", "shell", false],
    ["*", "shell", true],
    ["*.pem", "shell", true],
    ["server.*", "shell", true],
    [".*", "shell", true],
    [".env*", "shell", true],
    [".env*.example", "shell", false],
    ["*/.env", "shell", true],
    [".git/*", "shell", true],
    ["*rc", "shell", true],
    ["*.local", "shell", false],
    ["*.local", "search", true],
    ["**/*.ts", "search", false],
    ["**/*.{ts,tsx}", "search", false],
    ["**/*.{ts,pem}", "search", true],
    ["{.env,x}", "search", true],
    ["*.test.*", "search", false],
    ["*", "search", true],
    ["*em", "search", true],
    [`${"{a,b}".repeat(9)}`, "search", true],
  ] as const)("%s in a %s: %j", (glob, reader, sensitive) => {
    expect(isSensitiveGlob(glob, reader).sensitive).toBe(sensitive);
  });
});

describe("workspaceRelative", () => {
  test.each([
    ["src/a.ts", "src/a.ts"],
    ["./src//a.ts", "src/a.ts"],
    ["src/../b", "b"],
    [".", "."],
    ["/w/repo", "."],
    ["/w/repo/src", "src"],
    ["/w/repo-other/src", undefined],
    ["/w", undefined],
    ["../repo/src", "src"],
    ["..", undefined],
    ["src/../../x", undefined],
    ["~/x", undefined],
    ["a\0b", undefined],
    ["/../../w/repo/x", undefined],
  ])("%j is %j", (path, expected) => {
    expect(workspaceRelative("/w/repo", path)).toBe(expected);
  });

  test("a relative path starts in the given folder", () => {
    expect([workspaceRelative("/w/repo/", "../b", "a"), workspaceRelative("/w/repo", "../../b", "a")]).toEqual([
      "b",
      undefined,
    ]);
  });

  test("a root that is not absolute contains nothing", () => {
    expect(workspaceRelative("repo", "a")).toBeUndefined();
  });
});
