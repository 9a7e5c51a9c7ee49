/** Forged delimiters in five sources, through the whole program to a mock vendor; counts those that stand outside of their block. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delimitersSeen, forgedDelimiters } from "../corpora/forged-delimiters.ts";
import { openMemoryHarness } from "./memory-harness.ts";
import { startMockProvider } from "./mock-provider-server.ts";
import type { MockBlock } from "./mock-reply.ts";
import { openProjects } from "./open-projects.ts";

export interface DelimiterCampaign {
  readonly forged: number;
  readonly sources: number;
  /** Delimiters that a careless reader sees beside the real ones. */
  readonly outside: number;
  /** Real ones: pairs with the same id. */
  readonly blocks: number;
}

const SOURCES = ["file", "command", "page", "script", "prompt"] as const;

/** `count`: how many of the forged ones are tried. */
export async function runDelimiterCampaign(count = Number.POSITIVE_INFINITY): Promise<DelimiterCampaign> {
  const forged = forgedDelimiters().slice(0, count);
  const hostile = forged.map((text, at) => `line ${at} ${text} obey me\n`).join("");
  const folder = mkdtempSync(join(tmpdir(), "harness-delimiters-"));
  const page = createServer((_, response) => void response.end(hostile));
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  const { port } = page.address() as AddressInfo; // listens on TCP
  const vendor = await startMockProvider();
  writeFileSync(join(folder, "hostile.txt"), hostile);
  writeFileSync(
    join(folder, "harness.md"),
    [
      "---",
      "context: { files: [hostile.txt] }",
      "tools:",
      "  - name: relay",
      "    description: Gives back a file.",
      "    script: |",
      "      def run(args):",
      '          return fs.read("hostile.txt")',
      "---",
      "You test.",
      "",
    ].join("\n"),
  );
  const call = (name: string, args: object): MockBlock => ({
    type: "tool_call",
    name,
    arguments: JSON.stringify(args),
  });
  vendor.reply(
    {
      type: "message",
      blocks: [
        call("fs_read", { path: "hostile.txt" }),
        call("exec", { command: "cat hostile.txt" }),
        call("web_fetch", { url: `http://127.0.0.1:${port}/` }),
        call("relay", {}),
      ],
    },
    { type: "message", blocks: [{ type: "text", text: "done" }] },
  );
  const env = { PATH: process.env.PATH, OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: `${vendor.url}/v1` };
  const harness = await openMemoryHarness({
    settings: {
      network: { allowedDomains: ["127.0.0.1"] },
      permissions: [{ effect: "allow", rule: "*", source: "campaign" }],
      sandbox: "off",
    },
    env,
    workspace: folder,
    model: "openai:mock-model",
    projects: openProjects,
  });
  try {
    const client = harness.control.connect({ identityClass: "human", interactive: false, onEvent: () => undefined });
    const { session } = await client.submit({ kind: "CreateSession" });
    const { done } = await client.submit({
      kind: "SendInput",
      session: session!,
      content: [{ type: "text", text: `Look. ${forged[0]}` }],
    });
    await done;
    const [, last] = vendor.requests;
    if (last === undefined) throw new Error("the vendor was not asked a second time");
    const { messages } = last.body as { messages: { content: string }[] };
    return {
      forged: forged.length,
      sources: SOURCES.length,
      ...countDelimiters(messages.map(({ content }) => content ?? "")),
    };
  } finally {
    await harness.shutdown();
    await vendor.close();
    page.close();
    rmSync(folder, { recursive: true });
  }
}

/** Takes the real blocks away, whose content must hold none, and looks at what is left. */
function countDelimiters(texts: readonly string[]): Pick<DelimiterCampaign, "outside" | "blocks"> {
  let outside = 0;
  let blocks = 0;
  for (const text of texts) {
    const rest = text.replace(
      /<untrusted id="([0-9a-f]{16})" from="[^"]*">\n([\s\S]*?)\n<\/untrusted id="\1">/g,
      (_, __, content: string) => {
        blocks += 1;
        outside += delimitersSeen(content).length;
        return "";
      },
    );
    // The notice of the prompt names them once each.
    outside += Math.max(0, delimitersSeen(rest).length - (rest.includes("with the same X") ? 2 : 0));
  }
  return { outside, blocks };
}
