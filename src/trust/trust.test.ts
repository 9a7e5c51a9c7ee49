import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { surveyProject } from "#artifacts";
import { classifyChange } from "./change-class.ts";
import { parseLock, writeLock } from "./lock-file.ts";
import { createLockFileTrust, createProjectTrust, type ProjectTrust } from "./project-trust.ts";
import { rekeyTrust } from "./rekey.ts";

const KEYS = { mac: Buffer.alloc(32, 1), text: Buffer.alloc(32, 2) };
const OTHER = { mac: Buffer.alloc(32, 3), text: Buffer.alloc(32, 4) };

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "harness-trust-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  root = join(base, "project");
  put("harness.md", "---\nmodel: openai:x\n---\n\nYou are careful.\n");
  put(
    ".harness/hooks/guard.md",
    "---\nevent: tool.pre\npriority: 1\nscript: |\n  def handle(event, payload): return allow()\n---\n",
  );
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function trust(options: { root?: string; keys?: typeof KEYS; own?: string[]; promoted?: string[] } = {}): ProjectTrust {
  return createProjectTrust({
    root: options.root ?? root,
    directory: join(base, "state"),
    keys: () => options.keys ?? KEYS,
    by: "ada",
    now: () => Date.UTC(2026, 0, 2),
    ownFolders: options.own ?? [],
    onPromoted: (file) => options.promoted?.push(file),
  });
}

async function waiting(by: Pick<ProjectTrust, "judge"> = trust()): Promise<string[]> {
  return by.judge((await surveyProject({ root })).files).awaiting.map(({ change, file }) => `${change} ${file}`);
}

async function ackAll(by = trust()): Promise<void> {
  by.ack(
    by.judge((await surveyProject({ root })).files).awaiting.map((file) => by.look(file)),
    "individual",
  );
}

const lockPath = (): string => join(base, "state", readdirSync(join(base, "state"))[0] ?? "", "approved.lock");

describe("what waits", () => {
  test("everything at first, nothing once it is acked, and a changed byte of any kind again", async () => {
    expect(await waiting()).toEqual(["new harness.md", "new .harness/hooks/guard.md"]);
    await ackAll();
    expect(await waiting()).toEqual([]);
    put("harness.md", "---\nmodel: openai:x\n---\n\nYou are careful!\n");
    put(".harness/tools/x.md", "---\nscript: |\n  def run(args): return 1\n---\n\nX.\n");
    expect(await waiting()).toEqual(["changed harness.md", "new .harness/tools/x.md"]);
  });

  test("a file that is gone, for it may have been a guard; not one that is merely not read any more", async () => {
    put("notes.txt", "n");
    put("harness.md", "---\ncontext: { files: [notes.txt] }\n---\n");
    await ackAll();
    put("harness.md", "---\n---\n");
    await ackAll();
    expect(await waiting()).toEqual([]);
    rmSync(join(root, ".harness"), { recursive: true });
    expect(await waiting()).toEqual(["removed .harness/hooks/guard.md"]);
    await ackAll();
    expect(await waiting()).toEqual([]);
  });

  test("what is agreed to is what was shown, not what lies there meanwhile", async () => {
    const by = trust();
    const [first] = by.judge((await surveyProject({ root })).files).awaiting;
    if (first === undefined) throw new Error("something waits");
    const seen = by.look(first);
    put("harness.md", "---\nsandbox: 'off'\n---\n");
    by.ack([seen], "individual");
    expect(await waiting()).toContain("changed harness.md");
  });

  test("in a folder of the user's own, prose and metadata pass with a notice; anything else waits there too", async () => {
    const promoted: string[] = [];
    const own = trust({ own: [base], promoted });
    await ackAll(own);
    put("harness.md", "---\nmodel: openai:x\n---\n\nOther words.\n");
    expect(await waiting(own)).toEqual([]);
    expect(promoted).toEqual(["harness.md"]);
    put("harness.md", "---\nmodel: openai:y\n---\n\nOther words.\n");
    expect(await waiting(own)).toEqual(["changed harness.md"]);
    expect(await waiting(trust())).toEqual(["changed harness.md"]);
  });

  test("what was swapped for something harmless between the look and the ack waits in a folder of one's own too", async () => {
    const own = trust({ own: [base] });
    await ackAll(own);
    put("harness.md", "---\nmodel: openai:y\n---\n\nYou are careful.\n");
    const { files } = await surveyProject({ root });
    put("harness.md", "---\nmodel: openai:x\n---\n\nOther words.\n");
    expect(own.judge(files).awaiting.map(({ file }) => file)).toEqual(["harness.md"]);
  });
});

describe("the lock", () => {
  test("is private, sorted and says who, when and what", async () => {
    await ackAll();
    expect(statSync(lockPath()).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(lockPath())).mode & 0o777).toBe(0o700);
    const { files, ...rest } = JSON.parse(readFileSync(lockPath(), "utf8"));
    expect(rest).toEqual({
      format: "harness-approved-lock",
      version: 1,
      root,
      mac: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const rest2 = {
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      at: "2026-01-02T00:00:00.000Z",
      by: "ada",
      how: "individual",
    };
    expect(files).toEqual([
      { path: ".harness/hooks/guard.md", class: "hook", ...rest2 },
      { path: "harness.md", class: "config", ...rest2 },
    ]);
  });

  test.each([
    ["an entry that somebody put in", (text: string) => text.replace(/"sha256": "[0-9a-f]{2}/, '"sha256": "00')],
    ["a missing code", (text: string) => text.replace(/,\s*"mac": "[0-9a-f]+"/, "")],
    ["an empty code", (text: string) => text.replace(/"mac": "[0-9a-f]+"/, '"mac": ""')],
    ["another version", (text: string) => text.replace('"version": 1', '"version": 2')],
    ["no JSON", () => "{"],
    ["an emitted lock in its place", () => writeLock({ files: [] })],
  ])("does not count with %s, and says so", async (_, forge) => {
    await ackAll();
    writeFileSync(lockPath(), forge(readFileSync(lockPath(), "utf8")));
    expect(await waiting()).toHaveLength(2);
    expect(trust().problem()).toContain("Harness ignores");
  });

  test("does not count with another key, for another project, as a link or when others can reach it", async () => {
    await ackAll();
    expect(await waiting(trust({ keys: OTHER }))).toHaveLength(2);
    const path = lockPath();
    const copy = join(base, "copy.lock");
    copyFileSync(path, copy);
    const other = join(base, "other");
    mkdirSync(other);
    const there = trust({ root: other });
    there.ack([], "individual");
    const [folder = ""] = readdirSync(join(base, "state")).filter((name) => !path.includes(name));
    copyFileSync(copy, join(base, "state", folder, "approved.lock"));
    expect(there.problem()).toContain("for this project");
    chmodSync(path, 0o644);
    expect(await waiting()).toHaveLength(2);
    rmSync(path);
    chmodSync(copy, 0o600);
    symlinkSync(copy, path);
    expect(await waiting()).toHaveLength(2);
  });

  test("keeps what was acked for the difference, sealed, and lets go of what is not needed", async () => {
    await ackAll();
    put("harness.md", "---\nmodel: openai:y\n---\n\nYou are careful.\n");
    const seen = trust().look({ file: "harness.md", kind: "config", change: "changed" });
    expect(seen).toMatchObject({
      acked: { text: "---\nmodel: openai:x\n---\n\nYou are careful.\n" },
      changed: { class: "endpoint", parts: ["model"] },
    });
    const texts = join(dirname(lockPath()), "texts");
    for (const name of readdirSync(texts)) expect(readFileSync(join(texts, name), "utf8")).not.toContain("careful");
    await ackAll();
    expect(readdirSync(texts)).toHaveLength(2);
    expect(
      trust({ keys: { ...KEYS, text: OTHER.text } }).look({ file: "harness.md", kind: "config", change: "changed" })
        .acked,
    ).not.toHaveProperty("text");
  });

  test("goes over to another key of the machine with its texts", async () => {
    await ackAll();
    expect(rekeyTrust({ directory: join(base, "state"), from: KEYS, to: OTHER })).toEqual({ unreadable: 0 });
    expect(await waiting(trust({ keys: OTHER }))).toEqual([]);
    expect(trust({ keys: OTHER }).look({ file: "harness.md", kind: "config", change: "changed" }).acked).toHaveProperty(
      "text",
    );
    expect(rekeyTrust({ directory: join(base, "state"), from: KEYS, to: OTHER })).toEqual({ unreadable: 1 });
  });

  test("handed on, it accepts exactly what it lists", async () => {
    await ackAll();
    const handed = parseLock(writeLock({ files: trust().entries() }));
    expect(handed).not.toHaveProperty("root");
    const by = createLockFileTrust(root, handed);
    expect(await waiting(by)).toEqual([]);
    put(".harness/tools/x.md", "---\n---\n\nX.\n");
    put("harness.md", "---\n---\n");
    rmSync(join(root, ".harness/hooks/guard.md"));
    expect(await waiting(by)).toEqual([
      "changed harness.md",
      "new .harness/tools/x.md",
      "removed .harness/hooks/guard.md",
    ]);
  });

  test.each([
    ["[]", "format"],
    ['{"format":"harness-approved-lock","version":1}', "files"],
    ['{"format":"harness-approved-lock","version":1,"files":[{"path":"a"}]}', "entry 1"],
  ])("%s is refused with what is wrong", (text, message) => {
    expect(() => parseLock(text)).toThrow(message);
  });
});

describe("classes of change", () => {
  const file = (head: string, body = "Text."): string => `---\n${head}---\n\n${body}\n`;
  test.each([
    ["hook", file("event: a\n"), file("event: a\n"), "metadata", []],
    ["tool", file("version: '1'\n"), file("version: '2'\n"), "metadata", ["version"]],
    ["tool", file("version: '1'\n"), file("version: '2'\n", "Other."), "prose", ["version", "the text"]],
    ["hook", file("event: a\n"), file("event: b\n"), "code-adjacent", ["event"]],
    ["config", file(""), file("permissions: { allow: [Bash] }\n"), "code-adjacent", ["permissions"]],
    ["tool", file("script: x\n"), file("script: y\n", "Other."), "executable", ["script", "the text"]],
    [
      "config",
      file("model: { name: x }\n"),
      file("model: { name: x, base_url: y }\nhooks: []\n"),
      "endpoint",
      ["model", "hooks"],
    ],
    ["config", file(""), "---\n: : [\n---\n", "executable", ["the whole file"]],
    ["hook", file("event: a\n"), file("# why\nevent: a\n\n"), "metadata", []],
    ["hook", file("event: a\n"), file('event: a\n"script": x\n'), "executable", ["the whole file"]],
    ["hook", file("event: a\n"), file("event: a\nevent: b\n"), "executable", ["the whole file"]],
    [
      "hook",
      file("description: &s a\nscript: *s\n"),
      file("description: &s b\nscript: *s\n"),
      "executable",
      ["the whole file"],
    ],
    ["config", "model: x\n", "model: y\n", "endpoint", ["model"]],
    ["context", "a", "b", "prose", ["the text"]],
  ] as const)("%s %#", (kind, before, after, expected, parts) => {
    expect(classifyChange(kind, before, after)).toEqual({ class: expected, parts });
  });
});
