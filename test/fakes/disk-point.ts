/** One moment at which the campaign of full disks takes a disk away, and what all moments need. */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Folder, LoggedEvent } from "./disk-daemon.ts";
import type { PointContext } from "./full-disks.ts";

export const LOOK_EVERY_MS = 20;
export const PATIENCE_MS = 10_000;

export interface DiskPoint {
  readonly name: string;
  /** What has to be on the small disk for it to make sense. */
  readonly needs: readonly Folder[];
  /** The only layout for it. */
  readonly layout?: string;
  run(context: PointContext): Promise<void>;
}

export const words = (chars: number): string => randomBytes(chars / 2).toString("hex");

/** Input whose turn is waited for: answered and in the log, or refused. */
export async function sendInput({ daemon, session, ...context }: PointContext, text: string): Promise<void> {
  const answer = await daemon.input(session, text);
  if (answer.status !== 200) return context.expectRefusal(`the input ${text.slice(0, 20)}`, answer);
  const { turn, outcome } = answer.json;
  context.acknowledged(`the turn of ${text.slice(0, 20)}`, session, (log) => {
    const begun = log.find(({ kind, payload }) => kind === "TurnStarted" && payload.turn === turn);
    const ended = log.find(({ kind, payload }) => kind === "TurnEnded" && payload.turn === turn);
    return begun?.payload.content[0].text === text && ended?.payload.outcome === outcome;
  });
}

export async function seen({ daemon, session }: PointContext, kind: string): Promise<LoggedEvent> {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
    const event = (await daemon.log(session)).findLast((one) => one.kind === kind);
    if (event !== undefined) return event;
    await pause(LOOK_EVERY_MS);
  }
  throw new Error(`no ${kind} was seen`);
}
