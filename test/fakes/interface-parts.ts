/** What the interface is given besides a screen and a clock, where nothing of it matters. */
import type { ClientSession } from "#client";
import type { InterfaceParts } from "../../src/tui/interface.ts";
import type { ThemeName } from "../../src/tui/theme.ts";

export const SESSION_ID = "sess_01GOLDEN";

export const noImages: InterfaceParts["attachedImages"] = {
  fromPaste: () => undefined,
  fromClipboard: () => Promise.reject(new Error("There is no image in the clipboard.")),
  contentOf: async (text) => text,
};

export function interfaceParts(
  theme: ThemeName,
  session = { id: SESSION_ID } as unknown as ClientSession, // a scene that needs more brings its own
): Omit<InterfaceParts, "screen" | "clock"> {
  return {
    theme,
    followsBackground: false,
    keys: {},
    client: { session: () => session, sessions: async () => [] },
    session,
    facts: { session: SESSION_ID, profile: "default", isCostShown: true },
    model: "test:model",
    since: 0,
    last: 0,
    history: () => [],
    remember: async () => undefined,
    attachedImages: noImages,
    reminder: { text: async () => "", hide: async () => undefined },
    draft: { text: "", keep: async () => undefined },
    commands: async () => [],
    send: async () => undefined,
    slash: async () => undefined,
    editOutside: async () => undefined,
    save: async (name) => name,
    afterwards: () => undefined,
    notices: () => undefined,
    describe: async (error) => String(error),
    signal: new AbortController().signal,
    crashed: new AbortController().signal,
  };
}
