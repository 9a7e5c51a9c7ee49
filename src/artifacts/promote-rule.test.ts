import { describe, expect, test } from "vitest";
import { addAllowRule } from "./promote-rule.ts";
import { parseUserConfig } from "./user-config.ts";

const RULE = 'Bash(git commit -m "a b" *)';

describe("adding a rule to config.toml", () => {
  test.each([
    ["an empty file", ""],
    ["a file without permissions", "max_steps = 5\n"],
    ["a table without allow", '[permissions]\ndeny = ["Bash(rm *)"]\n\n[tools]\non_error = "stop"\n'],
    ["an empty list", "[permissions]\nallow = []\n"],
    ["a list on one line", '[permissions] # mine\nallow = ["Read"] # keep\n'],
    ["a list over several lines", '[permissions]\nallow = [\n  "Read", # first\n  "Write(a)",\n]\n'],
  ])("works on %s and keeps the rest", async (_name, text) => {
    const added = await addAllowRule("config.toml", text, RULE);
    const { settings } = await parseUserConfig("config.toml", added);
    expect(settings.permissions.map(({ effect, rule }) => `${effect} ${rule}`)).toContain(`allow ${RULE}`);
    for (const line of text.split("\n"))
      for (const comment of line.match(/#.*/) ?? []) expect(added).toContain(comment);
    expect(await addAllowRule("config.toml", added, RULE)).toBe(added);
  });

  test("gives up where it would change something else", async () => {
    const inline = 'permissions = { allow = ["Read"] }\n';
    await expect(addAllowRule("config.toml", inline, RULE)).rejects.toThrow();
  });
});
