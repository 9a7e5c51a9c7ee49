import { expect, test } from "vitest";
import type { AwaitingFile } from "#artifacts";
import { quietCliPorts, quietScreen } from "../../test/fakes/quiet-cli-ports.ts";
import { reviewFiles } from "./ack-review.ts";
import { createOutward } from "./outward.ts";

type Trust = Parameters<typeof reviewFiles>[1];
type Waiting = ReturnType<Trust["look"]>;

/** Reviews one file on a screen of 100 by 29, so that a page has 20 rows, with these keys; then somebody leaves. */
async function reviewed(waiting: Partial<Waiting>, keys: string) {
  const said = { out: "", err: "" };
  const left = [...keys];
  const ports = quietCliPorts(said, {
    cwd: "/",
    env: {},
    terminal: {
      ask: (question) =>
        question({
          ...quietScreen(said),
          columns: 100,
          rows: 29,
          readKey: async (prompt) => {
            said.err += `${prompt}\n`;
            const key = left.shift();
            return key === undefined ? { kind: "end" } : { kind: "key", key };
          },
        }),
    },
  });
  const file: AwaitingFile = { file: "harness.md", kind: "config", change: "new", ...waiting };
  const acked: unknown[] = [];
  // The two things that a review does with it.
  const trust = {
    look: () => ({ hash: "0123456789abcdef0123", ...file, ...waiting }),
    ack: (files: unknown) => acked.push(files),
  };
  const { accepted } = await reviewFiles(
    { ...ports, args: [], outward: createOutward(ports) },
    trust as unknown as Trust,
    [file],
    new AbortController().signal,
  );
  return { shown: said.err, accepted, asked: keys.length - left.length, acked: acked.length };
}

const eightPages = Array.from({ length: 160 }, (_, line) => `line ${line + 1}`).join("\n");

test("[a] accepts only when every page was shown; before, it shows the next one", async () => {
  const early = await reviewed({ text: eightPages }, "aaaaaaa");
  expect(early).toMatchObject({ accepted: [], acked: 0 });
  expect(early.shown).toContain("[a] next page, 7 of 8 not shown yet  [d]eny");
  expect(early.shown).toContain("160 lines, 1,331 bytes · sha256 0123456789abcdef\n");
  for (let line = 1; line <= 160; line++) expect(early.shown).toContain(`  │ +line ${line}\n`);
  expect(await reviewed({ text: eightPages }, "aaaaaaaa")).toMatchObject({ accepted: ["harness.md"], acked: 1 });
  expect(await reviewed({ text: eightPages }, "npnnnnnna")).toMatchObject({ accepted: [] });
  expect(await reviewed({ text: "short" }, "a")).toMatchObject({ accepted: ["harness.md"] });
});

test("the whole file, seen to its end, counts as every page; a part of it does not", async () => {
  expect(await reviewed({ text: eightPages }, "v     a")).toMatchObject({ accepted: ["harness.md"] });
  expect(await reviewed({ text: eightPages }, "v qa")).toMatchObject({ accepted: [] });
  // It does not show what was taken out.
  const acked = { sha256: "0", at: "2026-01-01", text: eightPages };
  const changed = { change: "changed" as const, acked, text: eightPages.replaceAll(/\d+/g, "now") };
  expect(await reviewed(changed, "v     a")).toMatchObject({ accepted: [] });
});

test("a page is no longer than the screen, however long a line is, and every row has its prefix", async () => {
  const text = `${"x ".repeat(2000)}\nneeds\u200b\n  [a]ccept  [d]eny > a\r`;
  const { shown } = await reviewed({ text }, "aaa");
  expect(shown).toMatch(/page 1 of 3\n(?: {2}[│↪] .+\n){20} {2}\[a\] next page, 2 of 3/);
  expect(shown).toContain("  │ +needs⟨U+200B⟩\n  │ +  [a]ccept  [d]eny > a⟨U+000D⟩\n");
});
