/** What everything between the model's wish and the tool costs: the whole chain around a tool that does nothing, record in memory. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plugin, Tool } from "#engine";
import { createSystemClock } from "#world";
import { callingProvider } from "./calling-provider.ts";
import { openMemoryHarness } from "./memory-harness.ts";

const CALLS_A_STEP = 20;

/** Microseconds for each call of the second half: the chain minus the time in the tool itself. */
export async function measureGate(
  calls: number,
): Promise<{ readonly mutating: readonly number[]; readonly readOnly: readonly number[] }> {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "harness-gate-")));
  const clock = createSystemClock();
  const inside = new Map<string, number>();
  const samples = new Map<string, number[]>();
  let made = 0;
  const tools = (["mutating", "read_only"] as const).map(
    (kind): Tool => ({
      name: kind,
      label: kind,
      class: kind,
      description: "",
      parameters: { type: "object", properties: { n: { type: "integer" } }, additionalProperties: false },
      async run(_args, { callId }) {
        const startMs = clock.monotonicMs();
        const output = { content: [{ type: "text", text: "ok" }] } as const;
        inside.set(callId, clock.monotonicMs() - startMs);
        return output;
      },
    }),
  );
  const provider = callingProvider(() =>
    made >= calls
      ? []
      : Array.from({ length: CALLS_A_STEP }, () => [tools[made % tools.length]?.name ?? "", { n: made++ }] as const),
  );
  const plugin: Plugin = {
    name: "timing",
    register(host) {
      host.addProvider(provider);
      host.addToolSource({ name: "nothing", tools: () => tools });
      host.useTool(async (call, next) => {
        const startMs = clock.monotonicMs();
        const result = await next(call);
        const tookMs = clock.monotonicMs() - startMs - (inside.get(call.id) ?? 0);
        if (result.outcome !== "ok") throw new Error(`a call was not allowed: ${JSON.stringify(result.content)}`);
        const kind = samples.get(call.tool.name) ?? [];
        kind.push(tookMs * 1000);
        samples.set(call.tool.name, kind);
        return result;
      });
    },
  };
  const allow = { effect: "allow", rule: "mutating", source: "config.toml:1" } as const;
  const harness = await openMemoryHarness({
    settings: {
      maxSteps: Math.ceil(calls / CALLS_A_STEP) + 1,
      permissions: [allow],
      tools: { execution: "sequential", onError: "continue" },
    },
    clock,
    workspace,
    model: "calling:one",
    plugins: [plugin],
    toolSources: [],
  });
  try {
    const client = harness.control.connect({ identityClass: "human", interactive: false, onEvent: () => undefined });
    const { session } = await client.submit({ kind: "CreateSession" });
    if (session === undefined) throw new Error("no session");
    const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text: "go" }] });
    await done;
  } finally {
    await harness.shutdown();
    rmSync(workspace, { recursive: true, force: true });
  }
  const warm = (name: string): readonly number[] => {
    const all = samples.get(name) ?? [];
    return all.slice(all.length / 2);
  };
  return { mutating: warm("mutating"), readOnly: warm("read_only") };
}
