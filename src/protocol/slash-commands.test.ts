import { expect, test } from "vitest";
import { parseSlash, slashCommands, slashUsage } from "./slash-commands.ts";

test.each([
  ["/model a:b", { word: "model", args: { model: "a:b" } }],
  ["/rules", { word: "rules", args: {} }],
  ["/rules revoke Bash(npm test)", { word: "rules", args: { change: "revoke", rule: "Bash(npm test)" } }],
  ["/undo", { word: "undo", args: {} }],
  ["/undo  turn_1 ", { word: "undo", args: { target: "turn_1" } }],
  ["/steer look at\nboth files", { word: "steer", args: { text: "look at\nboth files" } }],
  ["/sessions:list", { word: "sessions:list", args: {} }],
])("%j is read by the table", (line, read) => {
  expect(parseSlash(line)).toEqual(read);
});

test.each([
  ["/nothing here", "Unknown command: /nothing"],
  ["/", "Unknown command: /"],
  ["/model", "Usage: /model MODEL"],
  ["/rules forget X", "Usage: /rules [revoke|keep] [RULE]"],
  ["/cancel it", "Usage: /cancel"],
])("%j is refused with the way out", (line, problem) => {
  expect(parseSlash(line)).toEqual({ problem, isKnown: problem.startsWith("Usage") });
});

test("every word is read as itself", () => {
  for (const command of slashCommands) {
    const args = command.args_schema.required.map((name) => name);
    expect(parseSlash([slashUsage(command).split(" ")[0], ...args].join(" "))).not.toHaveProperty("problem");
  }
});
