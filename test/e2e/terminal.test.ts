/** The program on a real pseudo-terminal: conversation, questions, Ctrl-C. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCliHome, openCliTerminal } from "../fakes/cli-process.ts";

const ENTER = "\r";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** Calls `exec` once for each turn, then answers. */
const SCENARIO = `
name: touching
rules:
  - when: {tool: exec}
    reply: [{text: "Done touching."}]
  - when: {tool: ask_user}
    reply: [{text: "You said {{tool_result}}"}]
  - when: {input: question}
    reply: [{tool: ask_user, args: {question: "Which one?", options: [first, second]}}]
  - when: {input: sleep}
    reply: [{tool: exec, args: {command: "sleep 600"}}]
  - when: {input: touch}
    reply: [{tool: exec, args: {command: "touch made.txt"}}]
otherwise: [{text: "Nothing to do."}]
`;

describe("a terminal", () => {
  test("starts a conversation without arguments, and leaves on Ctrl-D", async () => {
    const terminal = openCliTerminal(createCliHome(), []);
    await terminal.see("› ");
    terminal.type(`hello${ENTER}`);
    await terminal.see("offline");
    await terminal.see("› ");
    terminal.type(CTRL_D);
    expect(await terminal.exit).toBe(0);
  });

  test("demo goes on as a conversation", async () => {
    const terminal = openCliTerminal(createCliHome(), ["demo"]);
    await terminal.see("Your turn.");
    await terminal.see("› ");
    terminal.type(`/help${ENTER}`);
    await terminal.see("/model");
    terminal.type(`/quit${ENTER}`);
    expect(await terminal.exit).toBe(0);
  });

  test("asks before it changes something: deny, then allow once", async () => {
    const home = createCliHome();
    home.put("touching.yaml", SCENARIO);
    const terminal = openCliTerminal(home, ["run", "--model", "scripted:./touching.yaml"]);
    await terminal.see("› ");
    terminal.type(`touch it${ENTER}`);
    await terminal.see("touch made.txt");
    await terminal.see("[d] deny");
    terminal.type(`d because I say so${ENTER}`);
    await terminal.see("Done touching.");
    expect(existsSync(join(home.workspace, "made.txt"))).toBe(false);
    terminal.type(`touch it${ENTER}`);
    await terminal.see("[d] deny");
    terminal.type(`what${ENTER}`);
    await terminal.see("Type o, g, t or d");
    terminal.type(`o${ENTER}`);
    await terminal.see("Done touching.");
    expect(existsSync(join(home.workspace, "made.txt"))).toBe(true);
    terminal.type(`/quit${ENTER}`);
    expect(await terminal.exit).toBe(0);
  });

  test("lets the model ask a question", async () => {
    const home = createCliHome();
    home.put("touching.yaml", SCENARIO);
    const terminal = openCliTerminal(home, ["run", "--model", "scripted:./touching.yaml", "a question please"]);
    await terminal.see("Which one?");
    await terminal.see("2. second");
    terminal.type(`2${ENTER}`);
    await terminal.see("You said");
    await terminal.see("second");
    expect(await terminal.exit).toBe(0);
  });

  test("Ctrl-C cancels the turn, the conversation goes on, a second one leaves", async () => {
    const home = createCliHome();
    home.put("touching.yaml", SCENARIO);
    const terminal = openCliTerminal(home, ["run", "--model", "scripted:./touching.yaml", "--allow", "Bash"]);
    await terminal.see("› ");
    terminal.type(`sleep${ENTER}`);
    await terminal.see("● Bash");
    terminal.type(CTRL_C);
    await terminal.see("Press Ctrl-C again within 2s to exit.");
    await terminal.see("Cancelled.");
    await terminal.see("› ");
    terminal.type(`hello${ENTER}`);
    await terminal.see("Nothing to do.");
    await terminal.see("› ");
    terminal.type(CTRL_D);
    expect(await terminal.exit).toBe(0);
  });

  test("Ctrl-C twice leaves with 130", async () => {
    const terminal = openCliTerminal(createCliHome(), []);
    await terminal.see("› ");
    terminal.type(CTRL_C);
    await terminal.see("Press Ctrl-C again");
    await terminal.see("› ");
    terminal.type(CTRL_C);
    expect(await terminal.exit).toBe(130);
  });
});
