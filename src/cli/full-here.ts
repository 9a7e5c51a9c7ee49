/** The full interface on sessions of this process, one after the other, until the person leaves. */
import { defined } from "#base";
import { connectEngine } from "#client/engine";
import type { OpenedProgram, RunFlags } from "#program";
import type { SessionId } from "#protocol";
import { createSystemRandom } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import { showFullInterface } from "./full-interface.ts";
import type { InterfaceFlags } from "./interface-choice.ts";
import { beginningOfLastTurn } from "./session-view.ts";

export interface ConversationHere extends InterfaceFlags {
  readonly resume?: SessionId;
  /** For the session that is resumed, if it is to have another one. */
  readonly profile?: string;
  readonly flags: Pick<RunFlags, "set">;
  readonly left: AbortSignal;
}

export async function converseInFull(
  ports: CliPorts,
  { harness, workspace }: OpenedProgram,
  { resume, profile, flags, left, ...look }: ConversationHere,
): Promise<void> {
  const random = createSystemRandom();
  const client = connectEngine({ engine: harness, interactive: true, clock: ports.clock, random });
  let next = resume;
  try {
    for (;;) {
      const opened = await client.submit({
        kind: "CreateSession",
        ...(next === undefined ? { working_dir: workspace } : { resume: next }),
        ...defined({ context: flags.set, profile: next === resume ? profile : undefined }),
      });
      const session = client.session(opened.session);
      const info = await session.info();
      const since = next === undefined ? 0 : await beginningOfLastTurn(session, info.last_event_id);
      const comeBack = `The session is in the log; to continue it: harness run --resume ${session.id}`;
      const here = { ports, client, session, info, since, left, revival: undefined, comeBack, isOwnLog: true };
      const end = await showFullInterface({ ...here, ...look });
      if (end.kind !== "other") return;
      next = end.session;
    }
  } finally {
    await client.close();
  }
}
