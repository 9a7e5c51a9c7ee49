/** `harness validate`: what is wrong with a project, all of it at once, without asking a model. */

import { isBareProject, type LoadedProject, type Problem, type Project } from "#artifacts";
import { counted, visibleLine } from "#base";
import { lookAtProject, openProject } from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

const WATCH_MS = 200;

export interface ValidateFlags {
  readonly config?: string;
  readonly verbose?: boolean;
  readonly json?: boolean;
  readonly watch?: boolean;
}

/** 0 when the project is valid, 1 when it is not. With `--watch` it goes on until Ctrl-C, and that is 0. */
export async function validateCommand(ports: CliPorts, flags: ValidateFlags): Promise<ExitCode> {
  const { terminal, clock } = ports;
  const opened = flags.watch === true ? await openProject(ports, { ...flags, ownSkills: false }) : undefined;
  const { loaded, root, name, tookMs } = opened ?? (await lookAtProject(ports, flags));
  const hasOptional = (loaded.project?.optional.length ?? 0) + (loaded.project?.leftOut.length ?? 0) > 0;
  if (loaded.project !== undefined && isBareProject(loaded.project) && !hasOptional) {
    const detail = `there is no harness.md or harness.yaml in ${root}. harness init writes one.`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  await tell(ports, name, loaded, tookMs, flags);
  if (opened === undefined) return loaded.project === undefined ? 1 : 0;
  const { loader } = opened;
  const left = new AbortController();
  const stopListening = terminal.onInterrupt(() => left.abort());
  ports.endsWhenStopped();
  try {
    while (!left.signal.aborted) {
      await clock.sleep(WATCH_MS, left.signal);
      if (left.signal.aborted) break;
      const changedMs = clock.monotonicMs();
      const changed = loader.refresh();
      if (changed === undefined) continue;
      if (flags.json !== true) terminal.out("\n");
      await tell(ports, name, changed, clock.monotonicMs() - changedMs, flags);
    }
    return 0;
  } finally {
    stopListening();
  }
}

async function tell(
  ports: CliPorts,
  name: string,
  { project, problems }: LoadedProject,
  tookMs: number,
  flags: ValidateFlags,
): Promise<void> {
  // Problems quote the files; a project without any is told as fast as it was checked.
  const { terminal } = problems.length === 0 ? ports : await ports.outward.through(ports, flags.json);
  const took = Math.max(1, Math.round(tookMs));
  if (flags.json) {
    terminal.out(`${JSON.stringify(report(project, problems, took))}\n`);
    return;
  }
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  if (project === undefined) {
    terminal.out(`❌ ${name} not valid\n   ${counted(errors, "error")}${and(warnings)} (${took} ms)\n`);
  } else {
    const { tools, hooks, agents } = project;
    const counts = [counted(tools.length, "tool"), counted(hooks.length, "hook"), counted(agents.length, "agent")];
    terminal.out(`✅ ${name} valid\n   ${counts.join(", ")} (${took} ms)\n`);
    if (warnings > 0) terminal.out(`   ${counted(warnings, "warning")}\n`);
  }
  for (const group of byFile(problems)) terminal.out(`\n${group.map(problemLines).join("")}`);
  if (flags.verbose && project !== undefined) terminal.out(`\n${listing(project)}`);
}

function and(warnings: number): string {
  return warnings === 0 ? "" : `, ${counted(warnings, "warning")}`;
}

/** Files with errors first; within a file errors first, then by place. */
function byFile(problems: readonly Problem[]): readonly (readonly Problem[])[] {
  const groups = [...Map.groupBy(problems, ({ place }) => place.file).values()];
  const weight = ({ severity }: Problem): number => (severity === "error" ? 0 : 1);
  const sorted = groups.map((group) =>
    group.toSorted((a, b) => weight(a) - weight(b) || a.place.line - b.place.line || a.place.column - b.place.column),
  );
  return sorted.toSorted(([a], [b]) => (a === undefined || b === undefined ? 0 : weight(a) - weight(b)));
}

function problemLines({ severity, code, place, message, expected, nearest }: Problem): string {
  const lines = [`${place.file}:${place.line}:${place.column}: ${severity}: ${message} [${code}]`];
  if (expected !== undefined) lines.push(`    expected: ${expected}`);
  if (nearest !== undefined) lines.push(`    did you mean "${nearest}"?`);
  return lines.map((line) => `${visibleLine(line)}\n`).join("");
}

/** Every tool, hook, agent and bundle, with where it is written. */
function listing({ tools, hooks, agents, bundles, configFile }: Project): string {
  const place = (artifact: { place: { file: string; line: number } }): string =>
    `${artifact.place.file}:${artifact.place.line}`;
  const kinds = Map.groupBy(bundles, ({ type }) => type);
  const harness = configFile === undefined ? 0 : 1;
  const perKind = [
    ...(harness === 0 ? [] : [`harness:1`]),
    ...[...kinds].map(([kind, { length }]) => `${kind}:${length}`),
  ];
  const kindsText = perKind.length === 0 ? "" : ` (kind=${perKind.join(", ")})`;
  const lines = [
    `tools: ${tools.length} registered`,
    ...tools.map((tool) => `  ${tool.name}  ${place(tool)}`),
    `hooks: ${hooks.length} registered`,
    ...hooks.map((hook) => `  ${hook.name}  ${hook.event}  priority ${hook.priority}  ${place(hook)}`),
    `agents: ${agents.length} registered`,
    ...agents.map((agent) => `  ${agent.name}  ${place(agent)}`),
    `artifacts: ${bundles.length + harness}${kindsText}`,
    ...bundles.map((bundle) => `  ${bundle.name}  ${bundle.type}  priority ${bundle.priority}  ${place(bundle)}`),
  ];
  return lines.map((line) => `${visibleLine(line)}\n`).join("");
}

function report(project: Project | undefined, problems: readonly Problem[], tookMs: number): Record<string, unknown> {
  const names = (artifacts: readonly { name: string }[] | undefined) => artifacts?.map(({ name }) => name) ?? [];
  return {
    valid: project !== undefined,
    ...(project === undefined
      ? { reason: "ConfigInvalid" }
      : { file: project.configFile ?? null, version: project.version }),
    tools: names(project?.tools),
    hooks: names(project?.hooks),
    agents: names(project?.agents),
    artifacts: names(project?.bundles),
    errors: problems.filter(({ severity }) => severity === "error").length,
    warnings: problems.filter(({ severity }) => severity === "warning").length,
    problems: problems.map(({ place, ...problem }) => ({ ...problem, ...place })),
    duration_ms: tookMs,
  };
}
