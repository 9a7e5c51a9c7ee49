/** Steering files that are reached through links and through files that git's configuration includes. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox } from "../../test/fakes/test-sandbox.ts";

interface Case {
  readonly title: string;
  /** What the person has: text of a file, or `-> TARGET` for a link. Names that begin with `~` are in the home. */
  readonly files: Readonly<Record<string, string>>;
  readonly configuration?: Readonly<Record<string, string>>;
  /** What git or an editor would obey. */
  readonly obeyed: string;
  /** Other ways for the command to reach it. */
  readonly script?: string;
}

const INCLUDE = (path: string): string => `[include]\n\tpath = ${path}\n`;
const HOOKS = (path: string): string => `[core]\n\thooksPath = ${path}\n`;

const CASES: readonly Case[] = [
  {
    title: "a hook that is a link to a file",
    files: { "scripts/check.sh": "mine", ".git/hooks/pre-commit": "-> ../../scripts/check.sh" },
    obeyed: "scripts/check.sh",
    script: "mv scripts s; mkdir scripts",
  },
  {
    title: "a hook that is a link to nothing yet",
    files: { ".git/hooks/pre-commit": "-> ../../scripts/check.sh" },
    obeyed: "scripts/check.sh",
  },
  {
    title: "a hook that is a link to nothing in a folder that is there",
    files: { "scripts/a.txt": "", ".git/hooks/pre-commit": "-> ../../scripts/check.sh" },
    obeyed: "scripts/check.sh",
  },
  {
    title: "a hook that is a link over another link",
    files: { "one/check.sh": "-> ../two/check.sh", "two/check.sh": "mine", ".git/hooks/x": "-> ../../one/check.sh" },
    obeyed: "one/check.sh",
    script: "rm one/check.sh; mv two t; mkdir two; echo PLANTED > two/check.sh",
  },
  {
    title: "a link in a configured folder of hooks",
    files: { "hooks/pre-commit": "-> ../check.sh", "check.sh": "mine" },
    configuration: { "core.hooksPath": "hooks" },
    obeyed: "check.sh",
  },
  {
    title: "a folder of hooks behind a link",
    files: { "real/hooks/a": "", lnk: "-> real" },
    configuration: { "core.hooksPath": "lnk/hooks" },
    obeyed: "lnk/hooks/pre-commit",
    script: "rm lnk; mkdir -p lnk/hooks; echo PLANTED > real/hooks/pre-commit",
  },
  {
    title: "a folder of hooks that an included file names",
    files: { ".git/more": HOOKS("hooks"), "hooks/a": "" },
    configuration: { "include.path": "more" },
    obeyed: "hooks/pre-commit",
  },
  {
    title: "the included file itself, in .git",
    files: { ".git/more": HOOKS("hooks") },
    configuration: { "include.path": "more" },
    obeyed: ".git/more",
  },
  {
    title: "a file that an included file includes, with a condition",
    files: { "a.inc": '[includeIf "onbranch:x"] path = "conf/b.inc" # b\n', "conf/b.inc": INCLUDE("c.inc") },
    configuration: { "include.path": "../a.inc" },
    obeyed: "conf/c.inc",
    script: "mv conf c; mkdir conf",
  },
  {
    title: "files that include each other",
    files: { "a.inc": INCLUDE("b.inc"), "b.inc": INCLUDE("a.inc") },
    configuration: { "include.path": "../a.inc" },
    obeyed: "b.inc",
  },
  {
    title: "a folder of hooks that the person names for all repositories",
    files: { "~/.gitconfig": HOOKS("team-hooks"), "team-hooks/a": "" },
    obeyed: "team-hooks/pre-commit",
  },
  {
    title: "one that is not there yet, named in settings that are a link",
    files: { "~/dotfiles/git": HOOKS("team-hooks"), "~/.config/git/config": "-> ../../dotfiles/git" },
    obeyed: "team-hooks/pre-commit",
  },
  {
    title: "a file of the workspace that the settings of the person include",
    files: { "~/.gitconfig": INCLUDE("../ws.inc") },
    obeyed: "ws.inc",
  },
  { title: "a steering file that is a link to nothing", files: { ".envrc": "-> env/dev.sh" }, obeyed: "env/dev.sh" },
  { title: "a steering folder that is a link to nothing", files: { ".vscode": "-> c/v" }, obeyed: "c/v/tasks.json" },
  {
    title: "a link to a file in a steering folder",
    files: { ".vscode/tasks.json": "-> ../conf/tasks.json", "conf/tasks.json": "mine" },
    obeyed: "conf/tasks.json",
  },
];

function prepare(workspace: TemporaryWorkspace, { files, configuration = {} }: Case): string {
  const home = join(workspace.outside, "home");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: workspace.root });
  git("init", "-q");
  for (const [name, text] of Object.entries(files)) {
    const path = name.startsWith("~") ? join(home, name.slice(1)) : join(workspace.root, name);
    mkdirSync(dirname(path), { recursive: true });
    const inWorkspace = text.replace("../ws.inc", join(workspace.root, "ws.inc"));
    if (text.startsWith("-> ")) symlinkSync(text.slice(3), path);
    else writeFileSync(path, inWorkspace);
  }
  for (const [key, value] of Object.entries(configuration)) git("config", key, value);
  return home;
}

function textAt(path: string): string | undefined {
  return existsSync(path) && lstatSync(path).isFile() ? readFileSync(path, "utf8") : undefined;
}

describe.runIf(hasSandbox)("a command does not change", () => {
  test.each(CASES)("$title", async (one) => {
    const workspace = createTemporaryWorkspace();
    const home = prepare(workspace, one);
    const env = { ...process.env, HOME: home, XDG_CACHE_HOME: join(workspace.outside, "caches") };
    const before = textAt(join(workspace.root, one.obeyed));
    const write = `mkdir -p ${dirname(one.obeyed)}; echo PLANTED > ${one.obeyed}; rm -f ${one.obeyed}; echo PLANTED > ${one.obeyed}`;
    await createTestSandbox(workspace, { env }).shell(`(${one.script ?? ":"}\n${write}) 2>/dev/null; touch ran`);
    expect(existsSync(join(workspace.root, "ran"))).toBe(true);
    expect(textAt(join(workspace.root, one.obeyed))).toBe(before);
  });
});

describe.runIf(hasSandbox)("a command still runs where", () => {
  test.each<[string, Readonly<Record<string, string>>]>([
    ["a link leads into itself", { ".vscode": "-> .vscode/a", ".envrc": "-> .envrc" }],
    ["a folder of git is a file", { ".git/info": "-> /dev/null", ".git/worktrees": "text" }],
    ["hooks are a loop of links", { ".git/hooks/a": "-> b", ".git/hooks/b": "-> a" }],
  ])("%s", async (_title, files) => {
    const workspace = createTemporaryWorkspace();
    execFileSync("git", ["init", "-q", "--template="], { cwd: workspace.root });
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(workspace.root, name)), { recursive: true });
      if (text.startsWith("-> ")) symlinkSync(text.slice(3), join(workspace.root, name));
      else workspace.put(name, text);
    }
    expect(await createTestSandbox(workspace).shell("echo ran")).toContain("ran\n");
  });
});
