/**
 * `skill`: the text of a skill that the user allowed, or a file of its folder. It reads nothing itself: the text was read with the
 * project, and a file goes through `fs.read` with everything that judges it. What a skill says to run is an ordinary call.
 */

import { posix } from "node:path";
import { objectSchema } from "#base";
import { type Tool, ToolError, textOutput } from "#engine";
import { optionalText } from "./arguments.ts";
import type { ToolFacts } from "./facts.ts";

const MAX_FOUND = 20;

/** As much of a skill as the tool needs. */
export interface OfferedSkill {
  readonly name: string;
  readonly body: string;
  /** Absent: it has no other files. */
  readonly folder?: string;
}

export interface SkillShelf {
  skills(): readonly OfferedSkill[];
  /** One line for each skill that matches. */
  search(words: string): readonly string[];
}

export const skillFacts = {
  name: "skill",
  label: "Skill",
  class: "read_only",
  kind: "skill",
  relays: true,
  subject: (args) => [optionalText(args, "name"), optionalText(args, "file")].filter(Boolean).join("/"),
} as const satisfies ToolFacts;

export function createSkillTool(shelf: SkillShelf): Tool & ToolFacts {
  return {
    ...skillFacts,
    description:
      "Read a skill by name before a task that its description covers; with file, a file of its folder. search finds skills by words.",
    parameters: objectSchema({ name: { type: "string" }, file: { type: "string" }, search: { type: "string" } }),
    async run(args, { call, ports }) {
      const [name, file, search] = ["name", "file", "search"].map((key) => optionalText(args, key));
      if (name === undefined) {
        const found = shelf.search(search ?? "");
        const more = found.length > MAX_FOUND ? [`[${found.length - MAX_FOUND} more; use more words]`] : [];
        return textOutput([...found.slice(0, MAX_FOUND), ...more].join("\n") || "No skill matches.");
      }
      const skill = shelf.skills().find((one) => one.name === name);
      if (skill === undefined) throw new ToolError(`There is no skill ${name}. Find one with search.`);
      const { folder: own, body } = skill;
      if (file === undefined) return textOutput(own === undefined ? body : `Folder of this skill: ${own}\n\n${body}`);
      if (own === undefined) throw new ToolError(`The skill ${name} is not in this project: it has no other files.`);
      const path = posix.join(own, file);
      if (posix.isAbsolute(file) || !isBelow(own, path)) throw outside(file, name);
      // Where it leads to, in the end: a link may not leave the folder either.
      const [folder, target] = [await ports.files.locate(own), await ports.files.locate(path)];
      if (!isBelow(folder, target)) throw outside(file, name);
      return call("fs.read", { path: target });
    },
  };
}

function isBelow(folder: string, path: string): boolean {
  return posix.normalize(path).startsWith(`${posix.normalize(folder)}/`);
}

function outside(file: string, name: string): ToolError {
  return new ToolError(`${file} is not in the folder of the skill ${name}.`);
}
