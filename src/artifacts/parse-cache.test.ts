import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openBox, sealBox } from "#base";
import { createFakeScriptChecker } from "../../test/fakes/fake-script-checker.ts";
import { createProjectFolder, markdown, type ProjectFolder } from "../../test/fakes/project-folder.ts";
import { createSmallDisk, whyNoDisk } from "../../test/fakes/small-disk.ts";
import { CACHE_SCHEMA, openParseCache } from "./parse-cache.ts";
import type { LoadedProject } from "./project.ts";
import { loadProject, trustsAll } from "./project-loader.ts";

const FILES = {
  "harness.md": markdown("context: {files: [a.txt]}\nunknown: 1\n", "Hi."),
  "a.txt": "text",
  ".harness/tools/a.md": markdown("script: |\n  def run(args): return 1\n", "A."),
  ".harness/hooks/b.md": markdown("event: tool.pre\nmatch: [x]\nscript: |\n  def handle(e, p): SYNTAX\n"),
  ".harness/plugins/c.md": markdown("condition: 'False'\n", "C."),
};

const key = (): Uint8Array => new Uint8Array(32).fill(7);
/** What the fake checker of version 1 makes of it. */
const LABEL = `parse cache ${CACHE_SCHEMA} 1`;

interface Kept extends ProjectFolder {
  readonly cacheDir: string;
  file(): string;
  /** As a new process would: what it found, and what the checker was asked about. */
  loadAnew(version?: string): Promise<{ loaded: LoadedProject; asked: readonly string[] }>;
}

function kept(files: Readonly<Record<string, string>> = FILES): Kept {
  const folder = createProjectFolder(files);
  const cacheDir = join(folder.outside, "cache");
  return {
    ...folder,
    cacheDir,
    file: () => join(cacheDir, readdirSync(cacheDir)[0] ?? ""),
    async loadAnew(version = "1") {
      const checker = createFakeScriptChecker(version);
      return { loaded: await folder.load({ cache: { folder: cacheDir, key }, checker }), asked: checker.asked };
    },
  };
}

describe("the parse cache", () => {
  test("gives the next process the same, problems included, without asking the checker", async () => {
    const project = kept();
    const first = await project.loadAnew();
    expect(first.asked).toEqual(["a", "b", "False"]);
    const second = await project.loadAnew();
    expect(second).toEqual({ loaded: first.loaded, asked: [] });
  });

  test("does not take a finding that somebody without the key wrote, and shows nothing to them", async () => {
    const project = kept();
    const load = async (fill: number) => {
      const checker = createFakeScriptChecker("1");
      await project.load({ cache: { folder: project.cacheDir, key: () => new Uint8Array(32).fill(fill) }, checker });
      return checker.asked;
    };
    await load(1);
    expect(readFileSync(project.file(), "latin1")).not.toMatch(/return 1|text|SYNTAX/);
    expect(await load(2)).toEqual(["a", "b", "False"]);
    expect(await load(2)).toEqual([]);
  });

  test("is neither read nor written without its key", async () => {
    const project = kept();
    const key = (): never => {
      throw new Error("no key");
    };
    await project.load({ cache: { folder: project.cacheDir, key }, checker: createFakeScriptChecker("1") });
    expect(readdirSync(project.cacheDir)).toEqual([]);
  });

  test("is private, and one file", async () => {
    const project = kept();
    await project.loadAnew();
    expect(readdirSync(project.cacheDir)).toHaveLength(1);
    expect(statSync(project.file()).mode & 0o777).toBe(0o600);
    expect(statSync(project.cacheDir).mode & 0o777).toBe(0o700);
  });

  test("knows a changed file, a moved one and another checker", async () => {
    const project = kept();
    await project.loadAnew();
    project.write(".harness/tools/a.md", FILES[".harness/tools/a.md"].replace("1", "2"));
    project.write(".harness/tools/d.md", FILES[".harness/tools/a.md"]);
    expect((await project.loadAnew()).asked).toEqual(["a", "d"]);
    expect((await project.loadAnew("2")).asked).toEqual(["a", "d", "b", "False"]);
  });

  test("is not used with a checker that has no version", async () => {
    const project = kept();
    await project.load({ cache: { folder: project.cacheDir, key } });
    expect(() => readdirSync(project.cacheDir)).toThrow("ENOENT");
  });

  test.each<[string, (box: Buffer) => Uint8Array | string]>([
    ["cut off", (box) => box.subarray(0, -10)],
    ["empty", () => ""],
    ["of another schema", (box) => sealBox(key(), openBox(key(), box, LABEL) ?? "", "parse cache 0 1")],
    ["changed by somebody", (box) => box.with(40, (box[40] ?? 0) ^ 1)],
    ["other JSON", () => sealBox(key(), "[]", LABEL)],
  ])("counts as absent when it is %s", async (_, damage) => {
    const project = kept();
    const { loaded } = await project.loadAnew();
    writeFileSync(project.file(), damage(readFileSync(project.file())));
    expect(await project.loadAnew()).toEqual({ loaded, asked: ["a", "b", "False"] });
    expect((await project.loadAnew()).asked).toEqual([]);
  });

  test("counts as absent when others may write it", async () => {
    const project = kept();
    await project.loadAnew();
    chmodSync(project.file(), 0o666);
    expect((await project.loadAnew()).asked).toEqual(["a", "b", "False"]);
  });

  test("that cannot be written costs nothing but time", async () => {
    const project = kept();
    writeFileSync(project.cacheDir, "a file");
    expect((await project.loadAnew()).loaded.problems).not.toEqual([]);
  });

  test.skipIf(whyNoDisk() !== undefined)("on a full disk is skipped, which is said once", () => {
    const disk = createSmallDisk();
    const problems: string[] = [];
    const onProblem = (message: string): void => void problems.push(message);
    const folder = join(disk.path, "cache");
    const cache = openParseCache({ folder, key, onProblem }, "/project", "1");
    disk.fill();
    for (let time = 0; time < 3; time++) cache.keep(new Map());
    expect(problems).toEqual([expect.stringMatching(/next start is slower.*no space is left/)]);
    disk.makeRoom();
    cache.keep(new Map());
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test("spares a single load the checker, and only while it has everything", async () => {
    const project = kept();
    const { root, cacheDir } = project;
    const checkers: string[][] = [];
    const once = () =>
      loadProject({
        root,
        cache: { folder: cacheDir, key },
        knownTools: [],
        trust: trustsAll,
        checkerVersion: "1",
        checker: async () => {
          const checker = createFakeScriptChecker();
          checkers.push(checker.asked);
          return checker;
        },
      });
    const first = await once();
    expect(await once()).toEqual(first);
    expect(checkers).toEqual([["a", "b", "False"]]);
    project.write(".harness/plugins/c.md", markdown("condition: 'True'\n"));
    expect((await once()).problems).toHaveLength(first.problems.length - 1);
    expect(checkers).toEqual([["a", "b", "False"], ["True"]]);
  });

  test("never holds the admin policy", async () => {
    const project = kept({});
    const adminPolicy = join(project.outside, "policy.md");
    writeFileSync(adminPolicy, markdown("sandbox: required\n"));
    project.write(".harness/tools/a.md", FILES[".harness/tools/a.md"]);
    await project.load({
      adminPolicy,
      cache: { folder: project.cacheDir, key },
      checker: createFakeScriptChecker("1"),
    });
    const box = openBox(key(), readFileSync(project.file()), LABEL);
    expect(box?.toString("utf8")).toContain(".harness/tools/a.md");
    expect(box?.toString("utf8")).not.toContain("policy.md");
  });
});
