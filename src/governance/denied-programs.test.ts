import { expect, test } from "vitest";
import { deniedPrograms } from "./denied-programs.ts";
import { parseRule } from "./rules.ts";

test("the programs that are denied whatever their arguments are", () => {
  const denied = ["Bash(curl *)", "Bash(/usr/bin/wget)", "exec(NC:*)", "*(ssh **)", "Bash(curl)"];
  const others = ["Bash(git push *)", "Bash(rm -rf *)", "Bash(c*)", "Bash", "Read(curl)", "WebFetch(domain:curl)"];
  const rules = [...denied, ...others].map((text) => parseRule(text, "deny", "test"));
  expect(deniedPrograms(rules)).toEqual(["curl", "nc", "ssh", "wget"]);
  expect(deniedPrograms(denied.map((text) => parseRule(text, "ask", "test")))).toEqual([]);
});
