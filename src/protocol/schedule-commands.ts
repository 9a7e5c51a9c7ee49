/** Commands about scheduled prompts: they belong to the user, and a session only says where a new one works and who asked. */
import { row } from "./command-row.ts";

export const scheduleCommands = {
  ListSchedules: row({
    text: "Lists the schedules of this user: their times, and what became of their ticks.",
    params: ({ session }) => ({ session }),
    reply: ({ z, scheduleRow }) => ({ result: z.array(scheduleRow).readonly() }),
    scope: "none",
    humanOnly: "list schedules",
    feature: "schedules",
    rpc: "schedule.list",
  }),
  AddSchedule: row({
    text:
      "Adds a prompt that the daemon sends at set times, each time in a new session in the folder of this session. " +
      "Either cron or every says when. The token has to cover CreateSession for all sessions.",
    params: ({ z, session, scheduleName, schedulePrompt }) => ({
      session,
      name: scheduleName,
      prompt: schedulePrompt,
      cron: z.string().max(200).optional().describe("Minute, hour, day, month, day of the week."),
      timezone: z.string().max(100).optional().describe("For cron, such as Europe/Berlin; default: the server's own."),
      every: z.string().max(20).optional().describe("An interval from now on: 30m, 6h, 1d; at least 1m."),
      model: z.string().min(1).optional().describe("provider:name; default: as configured."),
      profile: z.string().min(1).optional(),
      plan: z.boolean().optional().describe("True: its sessions begin in plan mode."),
      max_cost_usd: z.number().positive().optional().describe("For one run, with all of its delegates."),
      max_steps: z.number().int().positive().optional().describe("For one run."),
    }),
    reply: ({ scheduleRow }) => ({ result: scheduleRow }),
    scope: "session",
    humanOnly: "add schedules",
    feature: "schedules",
    route: "POST /v1/sessions/{id}/schedules",
    rpc: "schedule.add",
  }),
  RemoveSchedule: row({
    text: "Removes a schedule of this user. A run that works goes on, and the sessions of earlier runs stay.",
    params: ({ session, scheduleName }) => ({ session, name: scheduleName }),
    scope: "session",
    humanOnly: "remove schedules",
    feature: "schedules",
    rpc: "schedule.remove",
  }),
  RunSchedule: row({
    text: "Asks for one run of a schedule now, outside its times. Refused while it runs. ListSchedules says what became of it.",
    params: ({ session, scheduleName }) => ({ session, name: scheduleName }),
    reply: ({ scheduleRow }) => ({ result: scheduleRow }),
    scope: "session",
    humanOnly: "run schedules",
    feature: "schedules",
    rpc: "schedule.run",
  }),
};
