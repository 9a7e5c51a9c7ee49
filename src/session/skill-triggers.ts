/**
 * Which skills match what happens in a session: an input of a person with one of their keywords, a call that works on one of their
 * files, or `/skills:NAME`. A skill that matches is raised in the list of the prompt and stays so. It gets nothing else from it.
 */
import type { Skill } from "#artifacts";
import { matchPath } from "#governance";
import type { Event } from "#protocol";

/** The beginning of an input is searched for keywords. */
const MAX_INPUT_CHARS = 64 * 1024;

export interface SkillTriggers {
  /** The names of those that have matched. */
  raised(): ReadonlySet<string>;
  raise(name: string): void;
  /** Events of the session at the root: those of a delegate are the words of a model. */
  onEvent(event: Event): void;
  touch(path: string): void;
}

export function createSkillTriggers(skills: () => readonly Skill[], root: string): SkillTriggers {
  const names = new Set<string>();

  function raiseThose(matches: (skill: Skill) => boolean): void {
    for (const skill of skills()) if (!names.has(skill.name) && matches(skill)) names.add(skill.name);
  }

  return {
    raised: () => names,
    raise: (name) => void names.add(name),
    onEvent({ kind, payload }) {
      if ((kind !== "TurnStarted" && kind !== "TurnSteered") || "refused" in payload) return;
      const said = payload.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
      const words = asWords(said.slice(0, MAX_INPUT_CHARS));
      raiseThose(({ triggers }) => triggers.keywords.some((keyword) => mentions(words, keyword)));
    },
    touch(path) {
      raiseThose(({ triggers }) =>
        triggers.files.some((glob) => matchPath(glob.includes("/") ? glob : `**/${glob}`, path, "narrow", root)),
      );
    },
  };
}

function mentions(words: string, keyword: string): boolean {
  const wanted = asWords(keyword);
  return wanted.trim() !== "" && words.includes(wanted);
}

/** Small letters and digits with one space between words and around them, so that a keyword is found as whole words only. */
function asWords(text: string): string {
  return ` ${
    text
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu)
      ?.join(" ") ?? ""
  } `;
}
