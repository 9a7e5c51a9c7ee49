/** Sessions in the words of the protocol, for clients that fold its events themselves. What opens one is the command CreateSession. */

import { resolve } from "node:path";
import { z } from "zod";
import { defined } from "#base";
import type { SessionMeta } from "#engine";
import { orderKey, ReasonError, SessionId, type SessionInfo, sessionInfoOf } from "#protocol";
import { commandFrom } from "#protocol/schemas";
import { type MethodContext, method, unordered } from "./method.ts";

const LISTED_SESSIONS = 100;
export const LISTED_SESSIONS_MAX = 1000;

export const openSession = method({
  params: z.looseObject({}),
  lane: ({ resume }) => orderKey("CreateSession", typeof resume === "string" ? resume : undefined),
  async run(context, raw) {
    const { threads, directory } = context;
    const { kind: _, resume, working_dir, ...fields } = commandFrom("CreateSession", raw);
    const id =
      resume === undefined
        ? await threads.create(resolve(directory, working_dir ?? "."), fields)
        : await threads.attach(resume);
    return { session: shownInfo(context, await threads.meta(id)) };
  },
});

export const listSessions = method({
  params: z.object({
    working_dir: z.string().max(4096).optional(),
    limit: z.number().int().min(1).max(LISTED_SESSIONS_MAX).default(LISTED_SESSIONS),
  }),
  lane: unordered,
  async run(context, { working_dir: workingDir, limit }) {
    const found = await context.store.list({ limit, ...defined({ workingDir }) });
    return { sessions: found.map((meta) => shownInfo(context, meta)) };
  },
});

export const listSlashCommands = method({
  params: z.object({ session: z.string().max(200).optional() }),
  lane: unordered,
  run({ slashCommands }, { session }) {
    if (session !== undefined && !SessionId.is(session)) throw new ReasonError("SessionNotFound", { session });
    return { slash_commands: slashCommands(session) };
  },
});

export const getSession = method({
  params: z.object({ session: z.string().max(200) }),
  lane: unordered,
  run: async (context, { session }) => ({ session: shownInfo(context, await context.threads.meta(session)) }),
});

function shownInfo({ control, outward }: MethodContext, meta: SessionMeta): SessionInfo {
  const open = control.sessions().find(({ id }) => id === meta.id);
  return sessionInfoOf({ ...meta, title: outward.text(meta.title) }, open);
}
