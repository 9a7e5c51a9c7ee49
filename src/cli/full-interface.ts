/** The full interface on a session, of a daemon or of this process. */
import { stripVTControlCharacters } from "node:util";
import { setFlagsFromString } from "node:v8";
import { defined } from "#base";
import type { Input } from "#client";
import { loadConfig } from "#program";
import type { SessionId, SessionInfo } from "#protocol";
import { createProcessScreen, type InterfaceEnd, runInterface } from "#tui";
import { type AttachedParts, createResend } from "./attach-resend.ts";
import { createAttachedImages } from "./attached-images.ts";
import { expiryReminder, noReminder } from "./expiry-reminder.ts";
import { firstRunText, OFFLINE_MODEL } from "./first-run.ts";
import { imageProtocol } from "./image-protocol.ts";
import { openInputDraft } from "./input-draft.ts";
import { openInputHistory } from "./input-history.ts";
import type { InterfaceFlags } from "./interface-choice.ts";
import { editOutside } from "./outside-editor.ts";
import { saveReview } from "./saved-review.ts";
import { helpText, runSlash, type Words, withOwnRows } from "./slash-words.ts";
import type { Terminal } from "./terminal.ts";

/** Of what is alive. */
const HEAP_GROWING_PERCENT = 20;

export interface FullInterfaceParts extends Omit<AttachedParts, "view">, InterfaceFlags {
  readonly info: Pick<SessionInfo, "id" | "profile" | "model" | "working_dir" | "last_event_id">;
  readonly since: number;
  /** The sessions are those of this user on this machine. */
  readonly isOwnLog: boolean;
  /** How the person gets back to the session. */
  readonly comeBack: string;
}

export async function showFullInterface(parts: FullInterfaceParts): Promise<InterfaceEnd> {
  const { ports, client, session, info, left } = parts;
  const { outward, terminal, clock } = ports;
  const { interface: look, keys, retention } = (await loadConfig(ports, undefined)).settings;
  const history = openInputHistory(ports, info.working_dir);
  const resend = createResend({ ...parts, view: { lastEvent: info.last_event_id } });
  const images = createAttachedImages(ports);
  const send = (input: Input): Promise<unknown> => resend(input, () => session.send(input));
  let rows = withOwnRows([]);
  const current = async (): Promise<typeof rows> => {
    rows = withOwnRows(await session.slashCommands());
    return rows;
  };
  const notices = divertedNotices(terminal);
  if (info.model === OFFLINE_MODEL && ports.env.HARNESS_MODEL === undefined) notices.add(firstRunText(ports));
  keepHeapSmall();
  ports.crash.advise(parts.comeBack);
  return await runInterface({
    screen: ports.early ?? createProcessScreen(process),
    clock,
    theme: !terminal.colour ? "none" : look.theme === "auto" ? "dark" : look.theme,
    followsBackground: terminal.colour && look.theme === "auto",
    keys,
    vim: look.vim,
    ...defined({ images: terminal.colour ? imageProtocol(ports.env) : undefined }),
    client,
    session,
    facts: {
      session: info.id,
      profile: info.profile,
      isCostShown: parts.quietCost !== true && look.isCostShown,
    },
    model: String(info.model),
    since: parts.since,
    last: info.last_event_id,
    history: () => history.inputs(),
    remember: (text) => history.add(text),
    draft: openInputDraft(ports, info.working_dir),
    reminder: parts.isOwnLog ? expiryReminder(ports, client, retention) : noReminder,
    commands: current,
    send: async (text) => send(await images.contentOf(text)),
    attachedImages: images,
    async slash(line, print) {
      const said: Terminal = { ...terminal, err: print, out: print };
      let other: SessionId | undefined;
      const words: Words = {
        handlers: { help: async () => print(helpText(await current())) },
        known: () => rows,
        rows: current,
        show: async (text) => print(await outward.orNothing(text)),
        contentOf: images.contentOf,
        send,
        moveTo(next) {
          other = next;
        },
      };
      await runSlash(said, session, words, line);
      return other;
    },
    save: async (name, text) => saveReview(ports, name, await outward.orNothing(text)),
    editOutside: (text) => terminal.lend(() => editOutside(ports, text)),
    afterwards: (text) => terminal.err(`${text}\n`),
    notices: notices.listen,
    describe: (error) => outward.describe(error),
    signal: left,
    crashed: ports.crash.signal,
  }).finally(() => {
    ports.crash.advise(undefined);
    notices.end();
  });
}

/** What is written to the terminal while the interface has it. The first words may come before it listens. */
function divertedNotices(terminal: Pick<Terminal, "divert">) {
  let early = "";
  let show = (text: string): void => {
    early += text;
  };
  const end = terminal.divert((text) => show(stripVTControlCharacters(text).trim()));
  return {
    end() {
      show = () => undefined;
      end();
    },
    add(text: Promise<string>): void {
      void text.then((known) => show(known));
    },
    listen(listener: (text: string) => void): void {
      show = (text) => {
        if (text !== "") listener(text);
      };
      show(early);
    },
  };
}

/** It stays open for days, in many terminals: what was read is collected before it has grown to several times of what is alive. */
function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  setFlagsFromString("--semi-space-growth-factor=1");
}
