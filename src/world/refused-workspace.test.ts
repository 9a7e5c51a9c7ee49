import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { refusedWorkspace } from "./refused-workspace.ts";

function folders() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "harness-refused-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const home = join(base, "people/ada");
  const own = join(home, ".local/share/harness");
  for (const folder of [own, join(home, "code/.git/hooks"), join(home, "code/.vscode"), join(home, "head")])
    mkdirSync(folder, { recursive: true });
  const refused = (folder: string): string | undefined =>
    refusedWorkspace(folder, {
      env: { HOME: home },
      own: [own, join(home, ".config/harness"), join(home, "code/a.sock")],
      apart: [own, join(home, ".config/harness")],
    });
  return { base, home, own, refused };
}

test("the file system, homes and what holds them, and the program's own folders are refused with a remedy", () => {
  const { home, own, refused } = folders();
  expect(refused("/")).toContain("the whole file system");
  expect(refused(home)).toContain("it is a home folder");
  expect(refused(homedir())).toContain("home");
  expect(refused(dirname(homedir()))).toMatch(/home|file system/);
  expect(refused(dirname(home))).toContain("it contains a home folder");
  expect(refused(own)).toContain("belongs to this program");
  expect(refused(join(own, "undo"))).toContain("belongs to this program");
  expect(refused(join(home, ".config/harness"))).toContain("belongs to this program");
  expect(refused(home)).toContain("Name the folder of a project");
});

test("what holds a folder of the program is refused, what holds a file of it is not", () => {
  const { home, own, refused } = folders();
  expect(refused(dirname(own))).toContain(`it contains ${own}`);
  expect(refused(join(home, ".local"))).toContain("belongs to this program");
  expect(refused(join(home, "code"))).toBeUndefined();
});

test.each(["/etc", "/dev", "/proc", "/proc/self", "/sys", "/usr", "/usr/bin", "/bin", "/boot"])(
  "%s is refused",
  (folder) => {
    expect(folders().refused(folder)).toContain("belongs to the system");
  },
);

test("folders whose files all steer other programs are refused", () => {
  const { home, refused } = folders();
  expect(refused(join(home, "code/.git"))).toContain(".git");
  expect(refused(join(home, "code/.git/hooks"))).toContain(".git");
  expect(refused(join(home, "code/.harness/hooks"))).toContain(".harness");
  expect(refused(join(home, "code/.vscode"))).toContain("an editor");
  expect(refused(join(home, ".ssh"))).toContain("SSH");
});

test("a link, a trailing slash and .. lead to the folder itself", () => {
  const { base, home, refused } = folders();
  symlinkSync(home, join(base, "link"));
  expect(refused(join(base, "link"))).toBeDefined();
  expect(refused(`${home}/`)).toBeDefined();
  expect(refused(`${home}/code/..`)).toBeDefined();
});

test("a project is not refused, wherever it lies", () => {
  const { base, home, refused } = folders();
  for (const folder of [join(home, "code"), join(home, "head"), join(home, ".cache/harness/scratch/a")])
    expect(refused(folder)).toBeUndefined();
  expect(refused(join(home, ".claude/worktrees/a"))).toBeUndefined();
  expect(refused(join(base, "people/adam"))).toBeUndefined();
  expect(refused(join(home, ".local/share/harness-notes"))).toBeUndefined();
});
