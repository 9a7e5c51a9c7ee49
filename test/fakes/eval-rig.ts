/** Eval cases as text, and `harness eval` in this process on a folder with some. */
import { onTestFinished } from "vitest";
import { ackProject } from "./ack-project.ts";
import { createInProcessCli, type InProcessCli } from "./in-process-cli.ts";
import { type MockProviderServer, startMockProvider } from "./mock-provider-server.ts";

interface Report {
  readonly passed: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly spent_usd: number;
  readonly stopped?: string;
  readonly cases: readonly {
    readonly name: string;
    readonly status: string;
    readonly mode?: string;
    readonly model?: string;
    readonly detail?: string;
    readonly run: number;
    readonly turns: number;
    readonly session?: string;
    readonly assertions: readonly { readonly label: string; readonly passed: boolean; readonly reason: string }[];
  }[];
}

/** Its owner has looked at every case that is run. */
export function openEvals(env: Readonly<Record<string, string>> = {}): InProcessCli {
  const cli = openStrangersEvals(env);
  return {
    ...cli,
    async run(...args) {
      if (args[0] === "eval") await ackProject(cli);
      return cli.run(...args);
    },
  };
}

/** With `key`, somebody answers every question with it. */
export function openStrangersEvals(env: Readonly<Record<string, string>> = {}, key?: string): InProcessCli {
  return createInProcessCli({ PATH: process.env.PATH ?? "", ...env }, key);
}

export async function evalReport(cli: InProcessCli, ...args: string[]): Promise<Report & { readonly code: number }> {
  const { code, out, err } = await cli.run("eval", ...args, "--json");
  if (!out.startsWith("{")) throw new Error(err);
  return { code, ...(JSON.parse(out) as Report) };
}

/** A case that plays a scenario with one reply. */
export function scriptedCase(name: string, grade: readonly string[], reply = "- text: All is well."): string {
  return `name: ${name}
category: smoke
setup:
  tools: [fs.write, exec]
  allow: [Write]
  scenario:
    name: ${name}
    rules:
      - when: { step: 1 }
        reply:
          ${reply.replaceAll("\n", "\n          ")}
    otherwise:
      - text: All is well.
turns:
  - role: user
    content: Begin.
grade:
${grade.map((one) => `  - ${one}`).join("\n")}
`;
}

export const goodCase = scriptedCase("good", ["{ type: response_contains, value: well }", "{ type: no_errors }"]);
export const badCase = scriptedCase("bad", ["{ type: response_contains, value: ill }", "{ type: no_errors }"]);

export function liveCase(name: string, grade = "{ type: response_contains, value: Hello }"): string {
  return `name: ${name}
model: gpt-4o-mini
max_tokens: 77
setup:
  system_prompt: Be brief.
turns:
  - content: Say hello.
grade:
  - ${grade}
`;
}

export async function startModel(
  text = "Hello.",
): Promise<{ vendor: MockProviderServer; env: Record<string, string> }> {
  const usage = { input: 100_000, output: 10_000 };
  const vendor = await startMockProvider({ always: { type: "message", blocks: [{ type: "text", text }], usage } });
  onTestFinished(() => vendor.close());
  return { vendor, env: { OPENAI_API_KEY: "sk-test-key-0123456789abcdef", OPENAI_BASE_URL: `${vendor.url}/v1` } };
}
