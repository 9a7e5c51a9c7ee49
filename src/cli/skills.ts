/** `harness skills`: which skills a session here has, what is in one, and what is wrong with those that do not load. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Problem, type Project, type Skill, skillsOf } from "#artifacts";
import { defined, errnoOf, messageOf, nearestName, visibleLine, visibleLines } from "#base";
import { mayHaveProject, openProject, problemText, soundProject } from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

export interface SkillFlags {
  readonly dir?: string;
  readonly json?: boolean;
}

const SKILL_FILE = /(?:^|\/)skills\/[^/]+\/SKILL\.md$/;

interface SkillFact {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  /** Why it is not offered. */
  readonly left_out?: string;
}

export async function listSkills(ports: CliPorts, flags: SkillFlags): Promise<ExitCode> {
  const { project } = await look(ports, flags);
  const facts = [...skillsOf(project).map(asFact), ...leftOutSkills(project)];
  const { terminal } = ports;
  if (flags.json === true) terminal.out(`${JSON.stringify({ skills: facts })}\n`);
  else if (facts.length === 0) terminal.out("There are no skills here. Make one with: harness skills new NAME.\n");
  else {
    const rows = facts.map(({ name, source, description, left_out }) => [name, source, left_out ?? description]);
    terminal.out(formatTable(["SKILL", "SOURCE", "DESCRIPTION"], rows, terminal.columns));
  }
  return 0;
}

export async function showSkill(ports: CliPorts, name: string, flags: SkillFlags): Promise<ExitCode> {
  const { project } = await look(ports, flags);
  const skills = skillsOf(project);
  const skill = skills.find((one) => one.name === name);
  if (skill === undefined) {
    const nearest = nearestName(
      name,
      skills.map((one) => one.name),
    );
    const hint = nearest === undefined ? "list them with harness skills list" : `did you mean ${nearest}?`;
    throw new ReasonError("UsageInvalid", `there is no skill ${visibleLine(name)}: ${hint}`);
  }
  const { terminal } = ports;
  if (flags.json === true) terminal.out(`${JSON.stringify({ ...asFact(skill), body: skill.body })}\n`);
  else terminal.out(visibleLines(`${skill.name} (${sourceOf(skill)})\n${skill.description}\n\n${skill.body}\n`));
  return 0;
}

/** 1 when a skill does not load. */
export async function validateSkills(ports: CliPorts, flags: SkillFlags): Promise<ExitCode> {
  const { project, problems } = await look(ports, flags);
  const own = problems.filter(({ place, code }) => SKILL_FILE.test(place.file) && code !== "needs-ack");
  const broken = project.leftOut.filter(({ kind, why }) => kind === "skill" && why === "broken");
  const written = skillsOf(project).filter(({ origin }) => origin !== "built-in");
  const count = written.length + leftOutSkills(project).length - broken.length;
  const { terminal } = ports;
  if (flags.json === true)
    terminal.out(`${JSON.stringify({ valid: broken.length === 0, skills: count, problems: own })}\n`);
  else {
    for (const problem of own) terminal.err(`${visibleLines(problemText(problem))}\n`);
    terminal.out(`${count} valid, ${broken.length} invalid.\n`);
  }
  return broken.length === 0 ? 0 : 1;
}

/** Writes a skill to begin with. It waits for an ack like any other: whoever makes one reads it again when it is done. */
export function newSkill({ cwd, terminal }: CliPorts, name: string, { dir }: SkillFlags): ExitCode {
  if (name.length > 64 || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) {
    const detail = `'${visibleLine(name)}' cannot be the name of a skill: use up to 64 lower-case letters, digits and single hyphens`;
    throw new ReasonError("UsageInvalid", detail);
  }
  const folder = resolve(cwd, dir ?? ".", ".harness", "skills", name);
  const file = join(folder, "SKILL.md");
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, template(name), { flag: "wx" });
  } catch (cause) {
    const detail = `${file} cannot be written (${errnoOf(cause) ?? messageOf(cause)}): choose another name`;
    throw new ReasonError("UsageInvalid", detail, { cause });
  }
  terminal.out(`Written: ${visibleLine(file)}. Edit it, then review it with: harness ack.\n`);
  return 0;
}

function template(name: string): string {
  return `---
name: ${name}
description: Says what the skill does and when to use it, in one or two sentences.
---

# ${name}

1. The first step.
2. The second step, with the command that checks it.
`;
}

async function look(
  ports: CliPorts,
  flags: SkillFlags,
): Promise<{ readonly project: Project; readonly problems: readonly Problem[] }> {
  const place = defined({ dir: flags.dir });
  // A session in a plain folder has no project, and so no skills either.
  const { loaded } = await openProject(ports, { ...place, ownSkills: mayHaveProject(ports, place) });
  return { project: soundProject(loaded), problems: loaded.problems };
}

function asFact(skill: Skill): SkillFact {
  return { name: skill.name, description: skill.description, source: sourceOf(skill) };
}

/** Where the package is says nothing about a skill that ships with it. */
function sourceOf({ origin, file }: Skill): string {
  return origin === "built-in" ? origin : file;
}

const WHY = { denied: "denied", "not-acked": "needs your ack: harness ack", broken: "broken: harness skills validate" };

export function leftOutSkills(project: Project): readonly SkillFact[] {
  return project.leftOut.flatMap(({ kind, file, why, earlier }) => {
    if (kind !== "skill" || earlier) return [];
    return [{ name: file.split("/").at(-2) ?? file, description: "", source: file, left_out: WHY[why] }];
  });
}
