/** The commands about schedules. What keeps and runs them is handed in: the control knows only who may ask, and records that somebody did. */
import { defined } from "#base";
import { type CommandOf, type EventPayload, ReasonError, type ReplyOf, type SessionId } from "#protocol";
import type { Client } from "./client.ts";
import type { CommandDesk, CommandHandlers } from "./command-handlers.ts";
import { refuseDelegate } from "./shared-session.ts";

export type NewSchedule = Omit<CommandOf<"AddSchedule">, "kind" | "session">;
type ScheduleRow = ReplyOf<"AddSchedule">["result"];

/** The scheduled prompts of the user. All reject with UsageInvalid for a name or a time that cannot be used. */
export interface ScheduleDesk {
  list(): Promise<readonly ScheduleRow[]>;
  add(schedule: NewSchedule, folder: string): Promise<ScheduleRow>;
  remove(name: string): Promise<void>;
  /** Resolves when the request is stored. */
  run(name: string): Promise<ScheduleRow>;
}

type ScheduleCommands = Pick<CommandHandlers, "ListSchedules" | "AddSchedule" | "RemoveSchedule" | "RunSchedule">;

export function scheduleHandlers({ find, schedules, store }: CommandDesk): ScheduleCommands {
  /** A schedule opens sessions, which are none of those that a token names. */
  function deskFor({ allow }: Client, id: SessionId): ScheduleDesk {
    refuseDelegate(find(id), "works for another session; schedules are changed there");
    allow?.("CreateSession");
    if (schedules !== undefined) return schedules;
    throw new ReasonError("NotAllowed", "Schedules cannot be changed here: no daemon of this program would run them.");
  }

  const publish = (id: SessionId, payload: EventPayload<"ScheduleChanged">): Promise<unknown> =>
    find(id).live.engine.bus.publish("ScheduleChanged", payload);

  return {
    ListSchedules: async (client, { session }) => ({ result: await deskFor(client, session).list() }),
    async AddSchedule(client, { session, kind: _, ...schedule }) {
      const desk = deskFor(client, session);
      const folder = (await store.get(session))?.workingDir;
      if (folder === undefined) throw new ReasonError("SessionNotFound", { session });
      const result = await desk.add(schedule, folder);
      const { name, next_at } = result;
      await publish(session, { name, change: "added", by: client.id, folder, ...defined({ next_at }) });
      return { result };
    },
    async RemoveSchedule(client, { session, name }) {
      await deskFor(client, session).remove(name);
      await publish(session, { name, change: "removed", by: client.id });
      return {};
    },
    async RunSchedule(client, { session, name }) {
      const result = await deskFor(client, session).run(name);
      await publish(session, { name, change: "run", by: client.id });
      return { result };
    },
  };
}
