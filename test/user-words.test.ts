/** Slash commands that a user has written, from the file to the model. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expandCommand, loadWordParsers } from "#artifacts";
import { loadUserWords } from "../src/program/user-words.ts";
import { createCliHome } from "./fakes/cli-process.ts";

const { parseAliases, parseCommandFile } = await loadWordParsers();

describe("a prompt with arguments", () => {
  test.each([
    ["Look at $ARGUMENTS.", "a b", "Look at a b."],
    ["$1 before $2, not $3.", "a b", "a before b, not ."],
    ["Review.", "the tests", "Review.\n\nthe tests"],
    ["Review.", "", "Review."],
    ["$ARGUMENTS", "$1 $ARGUMENTS", "$1 $ARGUMENTS"],
    ["$ARGUMENTSX $10", "", "$ARGUMENTSX $10"],
  ])("%j with %j is %j", (body, given, expected) => {
    expect(expandCommand(body, given)).toBe(expected);
  });
});

describe("a command in Markdown", () => {
  test("has its frontmatter, and says what it does not get", () => {
    const head = "---\ndescription: review a change\nargument-hint: [file]\nallowed-tools: Read\n---\n";
    expect(parseCommandFile("review.md", "review", `${head}\nLook at $1.\n!\`git diff\`\n`)).toMatchObject({
      name: "review",
      description: "review a change [file]",
      body: "Look at $1.\n!`git diff`",
      notices: [expect.stringContaining("allowed-tools is not applied"), expect.stringContaining("are not run")],
      warnings: [],
    });
  });

  test("without frontmatter is all prompt", () => {
    const parsed = parseCommandFile("a.md", "a", "Say hello.\nTwice.");
    expect(parsed).toMatchObject({ description: "Say hello.", body: "Say hello.\nTwice." });
  });

  test.each([
    ["---\ndescription: x\n", "has no end"],
    ["---\ndescription: x\n---\n", "is empty"],
    ["---\ndescription: [\n---\nx", "a.md"],
  ])("%j is left out with a warning", (text, warning) => {
    const parsed = parseCommandFile("a.md", "a", text);
    expect(parsed).not.toHaveProperty("body");
    expect(parsed.warnings.join("\n")).toContain(warning);
  });

  test("an unknown key warns with the nearest one", () => {
    expect(parseCommandFile("a.md", "a", "---\ndescripton: x\n---\ny").warnings.join()).toContain('"description"');
  });
});

describe("aliases", () => {
  test("stand for a command with a namespace, also through another alias", () => {
    const { targets } = parseAliases("aliases.toml", '[aliases]\nr = "/user:review src"\nrr = "/r deep"\n');
    expect([...targets]).toEqual([
      ["r", "/user:review src"],
      ["rr", "/user:review src deep"],
    ]);
  });

  test.each([
    ['help = "/user:x"', "would hide the built-in /help"],
    ['x = "/model"', "which is built in"],
    ['x = "/sessions:list"', "which is built in"],
    ['a = "/b"\nb = "/c"\nc = "/a"', "leads in a circle: a → b → c → a"],
    ['x = "/nothing"', "which is not an alias"],
    ['x = "user:x"', "a slash command"],
    ['X = "/user:x"', "alias: small letters"],
  ])("%j is refused", (text, why) => {
    expect(() => parseAliases("aliases.toml", `[aliases]\n${text}\n`)).toThrow(why);
  });
});

test("files that others may write are refused", async () => {
  const { env } = createCliHome();
  const folder = join(env.XDG_CONFIG_HOME ?? "", "harness");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "aliases.toml"), '[aliases]\nr = "/user:review"\n', { mode: 0o600 });
  expect([...(await loadUserWords(env)).aliases.keys()]).toEqual(["r"]);
  chmodSync(join(folder, "aliases.toml"), 0o666);
  await expect(loadUserWords(env)).rejects.toThrow("can be written by others");
});
