/**
 * A notification of the desktop as a way to have a token confirmed, for a daemon that has no terminal. The code is an argument of the
 * program that shows it, so that other programs of the same user can see it for a moment: it is used where it was asked for.
 */
import { existsSync } from "node:fs";
import type { ConfirmationChannel } from "#auth";
import { EffectError, type ProcessPort } from "#base";
import { describeClaims } from "#program";
import { createProcesses } from "#world";

const TIMEOUT_MS = 10_000;
/** What is shown of claims: a notification is small. */
const SHOWN_CHARS = 300;
/** What the program needs of our environment to find the desktop of the user. */
const SESSION_VARIABLES = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"];

interface Notifier {
  readonly file: string;
  readonly args: (title: string, text: string) => readonly string[];
}

const NOTIFIERS: readonly Notifier[] = [
  { file: "/usr/bin/notify-send", args: (title, text) => ["--urgency=critical", "--app-name=harness", title, text] },
  {
    file: "/usr/bin/osascript",
    // The texts are arguments of the script and never part of it.
    args: (title, text) => [
      "-e",
      "on run argv",
      "-e",
      "display notification (item 2 of argv) with title (item 1 of argv)",
      "-e",
      "end run",
      title,
      text,
    ],
  },
];

export interface DesktopChannelOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Default: that of this machine. */
  readonly processes?: ProcessPort;
  /** Default: the first of those that are known which is installed. */
  readonly notifier?: Notifier;
}

export function createDesktopChannel({ env, cwd, processes, notifier }: DesktopChannelOptions): ConfirmationChannel {
  const found = notifier ?? NOTIFIERS.find(({ file }) => existsSync(file));
  return {
    kind: "notification",
    isThere: () => found !== undefined,
    async show(code, claims) {
      if (found === undefined) return false;
      const text = `Code ${code}. ${describeClaims(claims)}`.slice(0, SHOWN_CHARS);
      const session = SESSION_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
      try {
        const { code: exit } = await (processes ?? createProcesses({ root: cwd, env })).run(
          {
            file: found.file,
            args: found.args("A program is requesting a token", text),
            env: Object.fromEntries(session) as Record<string, string>,
            timeoutMs: TIMEOUT_MS,
          },
          new AbortController().signal,
        );
        return exit === 0;
      } catch (error) {
        if (error instanceof EffectError) return false;
        throw error;
      }
    },
  };
}
