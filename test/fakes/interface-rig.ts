/** The interface on a real session of this process, and on a terminal whose screen is read. */
import { onTestFinished } from "vitest";
import { connectEngine } from "#client/engine";
import { createSystemClock, createSystemRandom } from "#world";
import { type InterfaceParts, runInterface } from "../../src/tui/interface.ts";
import { createHarnessRig } from "./harness-rig.ts";
import { noImages } from "./interface-parts.ts";
import { openScreenTerminal } from "./screen-terminal.ts";

export async function startInterface(
  replies: Parameters<typeof createHarnessRig>[0],
  size: readonly [number, number] = [80, 24],
  parts: Partial<InterfaceParts> = {},
) {
  const rig = await createHarnessRig(replies);
  const system = createSystemClock();
  let laterMs = 0;
  const clock = { ...system, monotonicMs: () => system.monotonicMs() + laterMs };
  const client = connectEngine({ engine: rig.harness, interactive: true, clock, random: createSystemRandom() });
  const session = await client.open();
  const said: string[] = [];
  const slashes: string[] = [];

  function show(more: Partial<InterfaceParts>) {
    const screen = openScreenTerminal(...size);
    const leave = new AbortController();
    const over = runInterface({
      screen: screen.port,
      clock,
      theme: "none",
      followsBackground: false,
      keys: {},
      client,
      session,
      facts: { session: session.id, profile: "default", isCostShown: true },
      model: "test:model",
      since: 0,
      last: 0,
      history: () => ["an earlier input", "another one, with a word"],
      draft: { text: "", keep: async () => undefined },
      commands: () => session.slashCommands(),
      editOutside: async (text) => `${text} edited`,
      remember: async () => undefined,
      attachedImages: noImages,
      reminder: { text: async () => "", hide: async () => undefined },
      send: (text) => session.send(text),
      async slash(line, print) {
        slashes.push(line);
        print(`said: ${line}`);
        return undefined;
      },
      afterwards: (text) => said.push(text),
      save: async (name) => name,
      notices: () => undefined,
      describe: async (error) => `✗ ${String(error)}`,
      signal: leave.signal,
      crashed: new AbortController().signal,
      ...parts,
      ...more,
    });
    onTestFinished(async () => {
      leave.abort();
      await over;
    });
    return { screen, over };
  }

  // Interfaces go first.
  onTestFinished(() => client.close());
  const first = show({});
  await first.screen.shows("sess_");
  /** Long enough after a question for its keys to count. */
  const settle = (): void => {
    laterMs += 1_000;
  };
  /** Another interface on the same session: events up to `since` were before its time. */
  async function attach(since: number) {
    const { screen } = show({ since, last: since });
    await screen.shows("sess_");
    return screen;
  }
  return { rig, ...first, session, slashes, said, settle, attach };
}
