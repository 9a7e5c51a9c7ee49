/** Files of a project that are not in the prompt, or have no effect yet, each with the reason: what `harness context` says of them. */
import {
  nestedFolders,
  notEnabledFiles,
  type OptionalPlaces,
  optionalFiles,
  optionalKinds,
  type Project,
  type Settings,
  surveyProject,
} from "#artifacts";
import { optionalPlaces, type ProjectPlace, usedServers, userTrust } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import { leftOutSkills } from "./skills.ts";

export interface FileRow {
  readonly kind: string;
  readonly name: string;
  readonly source: string;
  /** Why it is not in effect. */
  readonly hidden: string;
}

const NOT_ACKED = "needs your ack: harness ack";
const WHY = { denied: "denied", "not-acked": NOT_ACKED, broken: "broken: harness validate" };

export async function filesWithoutEffect(
  ports: CliPorts,
  project: Project,
  settings: Settings,
  place: ProjectPlace,
): Promise<readonly FileRow[]> {
  const places = await optionalPlaces(ports, place);
  const hidden = "not enabled: name it in context_sources of config.toml or of a profile";
  const notEnabled = notEnabledFiles(project.root, places).map((file) => ({ ...row("file", file), hidden }));
  return [
    ...leftOutSkills(project).map(({ name, source, left_out = "" }) => ({
      ...{ kind: "skills", name, source, hidden: left_out },
    })),
    ...notEnabled,
    ...(await nestedRows(ports, project, places)),
    // Context files and skills have rows of their own.
    ...project.leftOut.flatMap(({ kind, file, why, earlier }) => {
      if (earlier || kind === "instructions" || kind === "skill") return [];
      return [{ ...row(optionalKinds[kind].name, file), hidden: WHY[why] }];
    }),
    ...usedServers(project, settings, ports.env, userTrust(ports, project.root)).unused.map(({ name, file, why }) => ({
      ...{ kind: "MCP server", name, source: file, hidden: why },
    })),
    ...hookRows(ports, project, places.projectHooks === true),
  ];
}

/** They join when the agent works in their folder, and need an answer then or before. */
async function nestedRows(ports: CliPorts, { root }: Project, places: OptionalPlaces): Promise<readonly FileRow[]> {
  const { folders } = nestedFolders(root, places);
  if (folders.length === 0) return [];
  const { files, nested } = await surveyProject({ root, optional: places, touched: folders });
  const found = files.filter(({ file }) => nested.includes(file));
  const { awaiting, denied } = userTrust(ports, root).judge(found);
  const waiting = new Set(awaiting.map(({ file }) => file));
  return found.map(({ file }) => {
    const joins = `joins when the agent works in ${file.slice(0, file.lastIndexOf("/"))}`;
    const hidden = denied.includes(file) ? WHY.denied : waiting.has(file) ? `${NOT_ACKED} --nested` : joins;
    return { ...row("file", file), hidden };
  });
}

/** They are read whether or not they may run, so that somebody can see what a repository brings. */
function hookRows(ports: CliPorts, project: Project, areAllowed: boolean): readonly FileRow[] {
  const files = [
    ...optionalFiles(project, "hooks").filter(({ content }) => content.hooks.length > 0),
    ...optionalFiles(project, "hookScript"),
  ];
  if (files.length === 0) return [];
  const { awaiting, denied } = userTrust(ports, project.root).judge(files);
  const waiting = new Set(awaiting.map(({ file }) => file));
  return files.flatMap(({ kind, file }) => {
    const hidden = !areAllowed
      ? "not enabled: --allow-project-hooks, or allow_project_hooks in config.toml"
      : denied.includes(file)
        ? WHY.denied
        : waiting.has(file)
          ? NOT_ACKED
          : undefined;
    return hidden === undefined ? [] : [{ ...row(optionalKinds[kind].name, file), hidden }];
  });
}

function row(kind: string, file: string): Omit<FileRow, "hidden"> {
  return { kind, name: file, source: file };
}
