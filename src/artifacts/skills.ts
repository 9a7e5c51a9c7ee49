/** The skills that are in force: one of each name, and how they are shown before anybody asks for one. */
import { posix } from "node:path";
import { BYTES_PER_TOKEN } from "./context-sources.ts";
import { optionalFiles } from "./optional-file.ts";
import type { Project } from "./project.ts";

/** Of the list of skills in the prompt, estimated. */
const MAX_LIST_TOKENS = 4_000;

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  /** The tools that the agent is left with while the skill is in force. Absent: all. */
  readonly allowedTools?: readonly string[];
  readonly origin: "built-in" | "user" | "project";
  /** Its `SKILL.md`: relative to the project, or absolute for a skill from elsewhere. */
  readonly file: string;
  /** Where its other files are; absent for a skill from outside the project, which is its `SKILL.md` alone. */
  readonly folder?: string;
  readonly triggers: { readonly files: readonly string[]; readonly keywords: readonly string[] };
}

/**
 * By name. Of two with one name the later one counts: built-in skills, those of the user, then the folders of the table in
 * `file-kinds.ts` in its order.
 */
export function skillsOf(project: Pick<Project, "optional">): readonly Skill[] {
  const skills = new Map<string, Skill>();
  for (const { file, content, origin = "project" } of optionalFiles(project, "skill")) {
    const folder = origin === "project" ? { folder: posix.dirname(file) } : {};
    skills.set(content.name, { ...content, origin, file, ...folder });
  }
  return [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Those that the prompt lists, raised ones first. A built-in skill is listed only when it is raised. */
export function listedSkills(skills: readonly Skill[], raised: ReadonlySet<string> = new Set()): readonly Skill[] {
  const isRaised = ({ name }: Skill): boolean => raised.has(name);
  return [...skills.filter(isRaised), ...skills.filter((skill) => !isRaised(skill) && skill.origin !== "built-in")];
}

/** Names and descriptions, as many as fit; the tool `skill` finds the others. Empty when there is nothing to list. */
export function skillList(all: readonly Skill[], raised: ReadonlySet<string> = new Set()): string {
  const skills = listedSkills(all, raised);
  const lines: string[] = [];
  let leftChars = MAX_LIST_TOKENS * BYTES_PER_TOKEN;
  for (const skill of skills) {
    const line = `${skillLine(skill)}${raised.has(skill.name) ? " [matches this session]" : ""}`;
    leftChars -= line.length + 1;
    if (leftChars < 0) break;
    lines.push(line);
  }
  const more = skills.length - lines.length;
  return [...lines, ...(more === 0 ? [] : [`(${more} more skills: find them with skill(search))`])].join("\n");
}

/** The skills that mention every word, by name. */
export function findSkills(skills: readonly Skill[], search: string): readonly Skill[] {
  const wanted = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return skills.filter((skill) => {
    const text = `${skillLine(skill)} ${skill.triggers.keywords.join(" ")}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

export function skillLine({ name, description, triggers: { files } }: Skill): string {
  return `- ${name}: ${description}${files.length === 0 ? "" : ` (files: ${files.join(", ")})`}`;
}
