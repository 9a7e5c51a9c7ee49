/** Nested context files as a hostile repository has them: circles, links, and more text than a prompt may have. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "./fakes/harness-rig.ts";
import { createProjectRig } from "./fakes/project-rig.ts";

/** What all context files may take of a prompt, with everything else in it. */
const MAX_PROMPT_CHARS = 32_000 * 4 + 40_000;

async function touched(paths: readonly string[], files: Record<string, string>, prepare?: (root: string) => void) {
  const replies = [...paths.map((path) => calls(["fs_read", { path }])), says("done")];
  const rig = await createProjectRig({ "AGENTS.md": "ROOT", ...files }, replies, {
    prepare: ({ root }) => prepare?.(root),
  });
  await rig.send();
  const prompt = JSON.stringify(rig.vendor.requests.at(-1)?.body);
  return { rig, prompt };
}

test("circles of folders and files end, and no text comes from a link that leaves the project", async () => {
  const { rig, prompt } = await touched(["loop/loop/pkg/a.ts", "pkg/a.ts", "out/a.ts"], { "pkg/a.ts": "1" }, (root) => {
    symlinkSync(".", join(root, "loop"));
    symlinkSync("AGENTS.md", join(root, "pkg/AGENTS.md"));
    mkdirSync(join(root, "out"));
    symlinkSync("../../secret.md", join(root, "out/AGENTS.md"));
  });
  expect(rig.of("TurnEnded")).toMatchObject([{ outcome: "answered" }]);
  expect(prompt.match(/ROOT/g)).toHaveLength(1);
});

test("a file of 10 MB is left out or cut, and many files share one budget", async () => {
  const folders = Array.from({ length: 60 }, (_, index) => Array.from({ length: index + 1 }, () => "d").join("/"));
  const deep = folders.at(-1) ?? "";
  const files = Object.fromEntries(folders.map((folder) => [`${folder}/AGENTS.md`, `${"word ".repeat(4_000)}\n`]));
  const { rig, prompt } = await touched([`${deep}/a.ts`, "big/a.ts"], {
    ...files,
    [`${deep}/a.ts`]: "1",
    "big/a.ts": "1",
    "big/AGENTS.md": "BIG ".repeat(2_500_000),
  });
  expect(rig.of("TurnEnded")).toMatchObject([{ outcome: "answered" }]);
  expect(prompt.length).toBeLessThan(MAX_PROMPT_CHARS);
  expect(prompt).toContain("ROOT");
});

test("files that import each other are not followed", async () => {
  const { prompt } = await touched(["pkg/a.ts"], {
    "pkg/AGENTS.md": "See @../AGENTS.md and @AGENTS.md",
    "pkg/a.ts": "1",
  });
  expect(prompt.match(/ROOT/g)).toHaveLength(1);
});
