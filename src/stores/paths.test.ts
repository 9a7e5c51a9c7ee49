import { expect, it } from "vitest";
import { foldersApart, harnessPaths, ownFolders } from "./paths.ts";

it("follows the XDG variables", () => {
  const env = { XDG_DATA_HOME: "/d", XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" };
  expect(harnessPaths(env)).toEqual({
    sessionsDb: "/d/harness/sessions.db",
    dataDir: "/d/harness",
    configDir: "/c/harness",
    stateDir: "/s/harness",
  });
});

it("falls back to the home folder, also for empty and relative variables", () => {
  const env = { HOME: "/home/ada", XDG_DATA_HOME: "", XDG_STATE_HOME: "relative" };
  expect(harnessPaths(env)).toEqual({
    sessionsDb: "/home/ada/.local/share/harness/sessions.db",
    dataDir: "/home/ada/.local/share/harness",
    configDir: "/home/ada/.config/harness",
    stateDir: "/home/ada/.local/state/harness",
  });
});

it("says what to set when there is no home folder", () => {
  expect(() => harnessPaths({})).toThrow("neither XDG_DATA_HOME nor HOME is an absolute path");
  expect(() => harnessPaths({ HOME: "ada" })).toThrow("HOME");
});

it("the caches that the program relies on are its own, the folders of sessions in the cache are not", () => {
  const env = { HOME: "/home/ada", XDG_CACHE_HOME: "/fast" };
  for (const name of ["compile-cache", "projects", "workspaces"]) {
    expect(ownFolders(env)).toContain(`/fast/harness/${name}`);
    expect(ownFolders({ HOME: "/home/ada" })).toContain(`/home/ada/.cache/harness/${name}`);
  }
  expect(ownFolders(env)).not.toContain("/fast/harness/scratch");
  expect(foldersApart(env)).toContain("/fast/harness/scratch");
});
