import { expect, test } from "vitest";
import { builtInWords, deedOf } from "./built-in-words.ts";
import { ReasonError } from "./reasons.ts";
import { parseSlash, slashArguments, slashUsage, typedWord } from "./slash-commands.ts";

const call = `call_${"0".repeat(26)}`;
const turn = `turn_${"0".repeat(26)}`;

/** The word, the arguments and what is to be done, or the problem. */
function read(line: string) {
  const found = parseSlash(line, builtInWords);
  return "problem" in found ? found : { word: typedWord(found.command), args: found.args };
}

test.each([
  ["/model a:b", { word: "model", args: { model: "a:b" } }],
  ["/rules", { word: "rules", args: {} }],
  ["/rules revoke Bash(npm test)", { word: "rules", args: { change: "revoke", rule: "Bash(npm test)" } }],
  ["/undo", { word: "undo", args: {} }],
  ["/undo  turn_1 ", { word: "undo", args: { target: "turn_1" } }],
  ["/steer look at\nboth files", { word: "steer", args: { text: "look at\nboth files" } }],
  ["/sessions:list", { word: "sessions:list", args: {} }],
])("%j is read by the table", (line, expected) => {
  expect(read(line)).toEqual(expected);
});

test.each([
  ["/nothing here", "Unknown command: /nothing. /help lists the commands."],
  ["/modl a:b", "Unknown command: /modl. Did you mean /model? /help lists the commands."],
  ["/session:list", "Unknown command: /session:list. Did you mean /sessions:list? /help lists the commands."],
  ["/", "Unknown command: /. /help lists the commands."],
  ["/model", "Usage: /model MODEL"],
  ["/rules forget X", "Usage: /rules [revoke|keep] [RULE]"],
  ["/cancel it", "Usage: /cancel"],
])("%j is refused with the way out", (line, problem) => {
  expect(read(line)).toEqual({ problem, isKnown: problem.startsWith("Usage") });
});

test("every built-in command that was promised is there; skills, agents, profiles and servers bring their own", () => {
  const promised =
    "help clear compact cost model profile resume sessions:list sessions:resume sessions:pin sessions:branch sessions:export permissions permissions:promote health quit mcp";
  expect(builtInWords.map(typedWord)).toEqual(expect.arrayContaining(promised.split(" ")));
});

test("every word is read as itself", () => {
  for (const command of builtInWords) {
    const args = command.args_schema.required.map((name) => name);
    expect(parseSlash([slashUsage(command).split(" ")[0], ...args].join(" "), builtInWords)).toHaveProperty("command");
  }
});

test.each([
  ["help", {}, { by: "client" }],
  ["sessions:list", {}, { by: "engine" }],
  ["model", { model: "a:b" }, { by: "command", command: { kind: "SetModel", model: "a:b" } }],
  ["steer", { text: "x" }, { by: "command", command: { kind: "SteerTurn", content: [{ type: "text", text: "x" }] } }],
  ["rules", {}, { by: "engine" }],
  ["rules", { change: "keep", rule: "Bash" }, { by: "command", command: { kind: "PromoteRule", rule: "Bash" } }],
  ["undo", {}, { by: "command", command: { kind: "UndoTurn" } }],
  ["undo", { target: call }, { by: "command", command: { kind: "UndoCall", call_id: call } }],
  ["redo", { target: turn }, { by: "command", command: { kind: "Redo", turn } }],
  ["skills:review", {}, { by: "engine" }],
] as const)("/%s %j is carried out by whoever can", (word, args, deed) => {
  const [namespace = "", name = ""] = word.includes(":") ? word.split(":") : ["", word];
  expect(deedOf({ namespace, name }, args)).toEqual(deed);
});

test("arguments that fit the schema and make no sense are refused", () => {
  expect(() => deedOf({ namespace: "", name: "undo" }, { target: "it" })).toThrow("neither a call");
  expect(() => deedOf({ namespace: "", name: "rules" }, { change: "keep" })).toThrow("Name a rule");
});

test.each([[undefined], ["x"], [{}], [{ model: 7 }], [{ model: "a:b", more: "x" }]])(
  "%j are not arguments of /model",
  (given) => {
    const model = builtInWords.find(({ name }) => name === "model");
    if (model === undefined) throw new Error("there is no /model");
    expect(() => slashArguments(model, given)).toThrow(ReasonError);
  },
);
