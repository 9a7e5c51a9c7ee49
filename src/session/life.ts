/** How a session begins and ends, and what it takes back. */
import { defined } from "#base";
import type { ImportedTurns, LiveSession } from "#control";
import { endInterrupted } from "#delegation";
import { publishContext, type Reopened, type SessionLog } from "#engine";
import { type EventPayload, ReasonError } from "#protocol";
import { changesReport } from "./changes-report.ts";
import { publishImport } from "./continued-session.ts";
import type { SessionDependencies, Undo } from "./dependencies.ts";
import type { SessionEngine } from "./engine.ts";
import { reportLostJobs } from "./lost-jobs.ts";
import type { AgentTree, Birth } from "./tree.ts";
import type { SessionWorld } from "./world.ts";

export interface TakenLog {
  readonly log: SessionLog;
  /** Where an earlier run left the session. */
  readonly earlier: Reopened | undefined;
  readonly model: string;
  readonly profile: string;
}

export function lifeOf({
  depth,
  dependencies,
  birth,
  imported,
  world: { ports, sandbox, servers },
  place,
  session: { engine, hooks, jobs, close },
  log,
  earlier,
  model,
}: Omit<TakenLog, "profile"> & {
  readonly depth: number;
  readonly dependencies: SessionDependencies;
  readonly birth: Birth | undefined;
  readonly imported: ImportedTurns | undefined;
  readonly world: SessionWorld;
  readonly place: AgentTree;
  readonly session: SessionEngine;
}): Pick<LiveSession, "begin" | "changes" | "finish" | "restore" | "release"> {
  const { root } = ports.files;
  const { workspace, profile, runtime, context, mode } = place;
  return {
    async begin() {
      const linked = root === workspace ? {} : { root };
      await engine.bus.publish("SessionStarted", {
        working_dir: workspace,
        ...linked,
        profile,
        model,
        ...bornAs(birth),
      });
      // A delegate is part of the session at its root, which has been through this.
      if (birth !== undefined) {
        mode.delegates.add(engine.bus);
        if (mode.plan) await engine.bus.publish("PlanModeChanged", { active: true });
        return;
      }
      await runtime?.refresh();
      await tellHooks("session.start");
      if (imported !== undefined) await publishImport(engine.bus, mode, imported);
      if (Object.keys(context.values()).length > 0) await context.set(engine.bus, {});
      if (earlier !== undefined) {
        await endInterrupted(earlier.remains.openDelegations, engine.bus, dependencies.store);
        await reportLostJobs(earlier.remains.lasting.jobs, engine.bus);
      }
      await engine.begin();
    },
    async finish() {
      if (birth !== undefined) return;
      await jobs?.stopAll("the session ended");
      await tellHooks("session.end");
      await runtime?.close();
    },
    restore: async (command, by) => keptVersions().restore(engine.bus, root, command, by),
    async changes({ turn, path }) {
      const found = await keptVersions().changes(root, engine.id, defined({ turn, path }));
      return changesReport(found, engine.bus);
    },
    async release() {
      // Also where its end could not be recorded: nothing of it goes on.
      await jobs?.stopAll("the session ended");
      mode.delegates.delete(engine.bus);
      await engine.settled();
      await close();
      // Those of its root are not a delegate's to end.
      if (birth === undefined) dependencies.programServers.open.delete(servers);
      await servers.close();
      await sandbox.close();
      // The folder of another session stays: that one may be at work in it.
      if (birth === undefined && dependencies.scratch?.of(engine.id) === workspace)
        dependencies.scratch.close(workspace);
      await log.release();
    },
  };

  function keptVersions(): Undo {
    const { undo } = dependencies;
    if (undo !== undefined) return undo;
    throw new ReasonError("NotAllowed", "Undo is off here, so Harness keeps no earlier versions.");
  }

  /** Informs: what hooks answer to these changes nothing, but they may add context. */
  async function tellHooks(event: "session.start" | "session.end"): Promise<void> {
    if (hooks === undefined || hooks.idle(event)) return;
    const { signal } = new AbortController();
    const verdict = await hooks.dispatch(event, null, { session: engine.id, depth, nesting: 0, signal });
    if (!verdict.blocked) await publishContext(engine.bus, verdict.context ?? []);
  }
}

function bornAs(
  birth: Birth | undefined,
): Pick<EventPayload<"SessionStarted">, "parent" | "call_id" | "agent" | "depth"> {
  if (birth === undefined) return {};
  const { spec, parent } = birth;
  return { parent, call_id: spec.callId, agent: spec.agent, depth: spec.depth };
}
