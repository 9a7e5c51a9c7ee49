/** An example project of this repository, copied into a folder of its own and run through the program, as a user would run it. */
import { cpSync } from "node:fs";
import { resolve } from "node:path";
import type { Event, EventKind, EventPayload } from "#protocol";
import { ackProject } from "./ack-project.ts";
import { createInProcessCli, type InProcessCli } from "./in-process-cli.ts";

const examples = resolve(import.meta.dirname, "../../examples");

export interface ExampleRun {
  readonly code: number;
  readonly answer: string;
  of<Kind extends EventKind>(kind: Kind): EventPayload<Kind>[];
  /** What the scripts of the project have counted. */
  readonly counters: Readonly<Record<string, number>>;
}

export interface Example extends InProcessCli {
  /** One prompt, answered by the scripted model of the example. */
  ask(prompt: string, ...flags: string[]): Promise<ExampleRun>;
}

export function openExample(name: string): Example {
  const cli = createInProcessCli({ PATH: process.env.PATH ?? "" });
  cpSync(resolve(examples, name), cli.workspace, { recursive: true });
  const run: InProcessCli["run"] = async (...args) => {
    await ackProject(cli);
    return cli.run(...args);
  };
  return {
    ...cli,
    run,
    async ask(prompt, ...flags) {
      const { code, out } = await run("run", "-m", "scripted:./model.yaml", "--json", ...flags, prompt);
      const events: Event[] = out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      // Chosen by its kind.
      const of = (kind: EventKind) =>
        events.filter((event) => event.kind === kind).map(({ payload }) => payload) as never;
      const ran = { code, of } as Pick<ExampleRun, "code" | "of">;
      const answer = ran
        .of("TextDelta")
        .map(({ text }) => text)
        .join("");
      return { ...ran, answer, counters: ran.of("MetricsCounted").at(-1)?.counters ?? {} };
    },
  };
}

export function textOf({ content }: EventPayload<"ToolResult">): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}
