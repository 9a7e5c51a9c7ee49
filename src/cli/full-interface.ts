/** The full interface on a session of a daemon: what `attach` shows on a terminal that is asked for it. */
import { loadConfig } from "#program";
import type { SessionId, SessionInfo } from "#protocol";
import { createProcessScreen, type InterfaceEnd, runInterface, type ScreenPort } from "#tui";
import { type AttachedParts, createResend } from "./attach-resend.ts";
import { openInputDraft } from "./input-draft.ts";
import { openInputHistory } from "./input-history.ts";
import { editOutside } from "./outside-editor.ts";
import { saveReview } from "./saved-review.ts";
import { helpText, runSlash, type Words, withOwnRows } from "./slash-words.ts";
import type { Terminal } from "./terminal.ts";

export interface FullInterfaceParts extends Omit<AttachedParts, "view"> {
  readonly info: Pick<SessionInfo, "id" | "profile" | "model" | "working_dir" | "last_event_id">;
  readonly since: number;
  readonly screen?: ScreenPort;
}

export async function showFullInterface(parts: FullInterfaceParts): Promise<InterfaceEnd> {
  const { ports, client, session, info, left } = parts;
  const { outward, terminal, clock } = ports;
  const { interface: look, keys } = (await loadConfig(ports, undefined)).settings;
  const history = openInputHistory(ports, info.working_dir);
  const resend = createResend({ ...parts, view: { lastEvent: info.last_event_id } });
  const send = (text: string): Promise<unknown> => resend(text, () => session.send(text));
  let rows = withOwnRows(await session.slashCommands());
  const current = async (): Promise<typeof rows> => {
    rows = withOwnRows(await session.slashCommands());
    return rows;
  };
  return runInterface({
    screen: parts.screen ?? createProcessScreen(process),
    clock,
    theme: !terminal.colour ? "none" : look.theme === "auto" ? "dark" : look.theme,
    followsBackground: terminal.colour && look.theme === "auto",
    keys,
    vim: look.vim,
    client,
    session,
    facts: { session: info.id, profile: info.profile, branch: "", isCostShown: true },
    model: String(info.model),
    since: parts.since,
    last: info.last_event_id,
    history: () => history.inputs(),
    remember: (text) => history.add(text),
    draft: openInputDraft(ports, info.working_dir),
    commands: current,
    send,
    async slash(line, print) {
      const said: Terminal = { ...terminal, err: print, out: print };
      let other: SessionId | undefined;
      const words: Words = {
        handlers: { help: async () => print(helpText(await current())) },
        known: () => rows,
        rows: current,
        show: async (text) => print(await outward.orNothing(text)),
        send,
        moveTo(next) {
          other = next;
        },
      };
      await runSlash(said, session, words, line);
      return other;
    },
    save: async (name, text) => saveReview(ports, name, await outward.orNothing(text)),
    editOutside: (text) => editOutside(ports, text),
    afterwards: (text) => terminal.err(`${text}\n`),
    describe: (error) => outward.describe(error),
    signal: left,
  });
}
