/** A project on disk for tests of the loader: files by their path, and a loader over them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import {
  createProjectLoader,
  type LoadedProject,
  type ProjectLoader,
  type ProjectLoaderOptions,
  trustsAll,
} from "#artifacts";
import { createFakeScriptChecker } from "./fake-script-checker.ts";

export interface ProjectFolder {
  readonly root: string;
  /** Beside the project. */
  readonly outside: string;
  write(file: string, content: string | Uint8Array): void;
  remove(file: string): void;
  loader(options?: Partial<ProjectLoaderOptions>): Promise<ProjectLoader>;
  load(options?: Partial<ProjectLoaderOptions>): Promise<LoadedProject>;
  /** Problems as `error code file:line:column`. */
  problems(options?: Partial<ProjectLoaderOptions>): Promise<string[]>;
}

export function createProjectFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): ProjectFolder {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "harness-project-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "project");
  const outside = join(base, "outside");
  mkdirSync(root);
  mkdirSync(outside);
  const write = (file: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  };
  for (const [file, content] of Object.entries(files)) write(file, content);
  const loader: ProjectFolder["loader"] = (options) =>
    createProjectLoader({
      root,
      checker: createFakeScriptChecker(),
      knownTools: ["fs.read", "fs.list", "exec"],
      trust: trustsAll,
      ...options,
    });
  const load: ProjectFolder["load"] = async (options) => (await loader(options)).load();
  return {
    root,
    outside,
    write,
    remove: (file) => rmSync(join(root, file), { recursive: true }),
    loader,
    load,
    problems: async (options) => problemLines(await load(options)),
  };
}

export function problemLines({ problems }: LoadedProject): string[] {
  return problems.map(({ severity, code, place: { file, line, column } }) => {
    return `${severity} ${code} ${file}:${line}:${column}`;
  });
}

/** Frontmatter and body. */
export function markdown(head: string, body = ""): string {
  return `---\n${head.replace(/^\n/, "")}${head.endsWith("\n") ? "" : "\n"}---\n${body}`;
}
