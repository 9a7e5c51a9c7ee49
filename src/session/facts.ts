/** What a client can show of a session besides its events: what it runs with, as it is now. Read only. */
import type { Project, ShellHook } from "#artifacts";
import { type Clock, defined } from "#base";
import type { LiveSession } from "#control";
import type { EngineSession, SessionCore } from "#engine";
import { displayText, howItEnded } from "#protocol";
import type { BackgroundJobs, Job } from "#tools";
import { modeOf, type SessionMode } from "./agreements.ts";
import type { SessionDependencies } from "./dependencies.ts";
import { gitBranch } from "./git-branch.ts";
import type { SessionServers } from "./servers.ts";
import { projectHooks } from "./shell-hooks.ts";

export interface FactsParts {
  readonly dependencies: Pick<SessionDependencies, "settings" | "autoApprove" | "modelRows" | "clock">;
  readonly core: SessionCore;
  readonly engine: Pick<EngineSession, "lasting" | "waitingInputs">;
  readonly mode: SessionMode;
  readonly folder: string;
  readonly servers: Pick<SessionServers, "states">;
  readonly project: () => Project | undefined;
  readonly jobs: BackgroundJobs | undefined;
}

type Facts = Awaited<ReturnType<LiveSession["describe"]>>;

export function sessionFacts({
  dependencies,
  core,
  engine,
  mode,
  folder,
  servers,
  project,
  jobs,
}: FactsParts): LiveSession["describe"] {
  const { settings, modelRows, clock } = dependencies;
  return async () => {
    const models = modelRows();
    const own = models.find(({ model }) => model === core.state.model);
    const branch = await gitBranch(folder);
    const { todos, agreed, proposed } = engine.lasting;
    const hooks = [...(settings.allowProjectHooks ? projectHooks(project()) : []), ...settings.hooks];
    const facts: Facts = {
      mode: dependencies.autoApprove ? "auto" : modeOf(mode),
      sandbox: settings.sandbox,
      models,
      servers: servers
        .states()
        .map(({ name, state, tools, lastError }) => ({ name, state, tools, ...defined({ last_error: lastError }) })),
      hooks: hooks.map(hookRow),
      jobs: (jobs?.list() ?? []).map((job) => jobRow(job, clock)),
      todos,
      queued: engine.waitingInputs.map(({ id, content }) => ({ id, text: displayText(content) })),
      ...defined({
        branch,
        context_tokens: own?.context_tokens,
        agreed_plan: agreed,
        proposed_plan: proposed && { plan: proposed.plan, ...defined({ call_id: proposed.call }) },
      }),
    };
    // What servers and files say passes the redactor, as everything does that leaves a session.
    const { payload } = core.redaction.payload("CustomEvent", { namespace: "facts", kind: "session", payload: facts });
    return payload as Facts; // the redactor changes texts alone
  };
}

function hookRow({ event, command, source }: ShellHook): Facts["hooks"][number] {
  return { event, command, source };
}

function jobRow({ id: job, command, startedMs, isKept, end }: Job, clock: Clock): Facts["jobs"][number] {
  const agoMs = clock.monotonicMs() - startedMs;
  const started_at = new Date(clock.now() - agoMs).toISOString();
  return { job, command, started_at, kept: isKept, ...defined({ ended: end && howItEnded(end) }) };
}
