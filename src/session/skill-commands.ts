/** `/skills:NAME` and `/skills:reload`: the skills of a session as slash commands. */
import { type Project, skillsOf } from "#artifacts";
import { counted, visibleLine } from "#base";
import type { SlashEntry, SlashSource } from "#engine";
import { textArguments } from "#protocol";
import type { ProjectRuntime } from "./project.ts";

/** As it is typed: `/skills:release the shop`. */
const TASK_SCHEMA = textArguments("text");

export function skillCommands(runtime: ProjectRuntime | undefined): SlashSource {
  const reload: SlashEntry = {
    namespace: "skills",
    name: "reload",
    description: "Look at the skills on disk again; new and changed ones need your ack",
    args_schema: textArguments(),
    async run() {
      await runtime?.refresh();
      return { text: runtime === undefined ? "0 skills." : reloadText(runtime.live.current()) };
    },
  };
  return {
    owner: "skills",
    namespaces: ["skills"],
    entries: () => [reload, ...(runtime === undefined ? [] : entriesOf(runtime.live))],
  };
}

function reloadText(project: Pick<Project, "optional" | "leftOut">): string {
  const left = project.leftOut.filter(({ kind, why }) => kind === "skill" && why !== "denied");
  const lines = left.slice(0, NAMED_FILES).map(({ file, why }) => `  ${visibleLine(file)}: ${WHY[why]}`);
  const more = left.length > lines.length ? [`  and ${left.length - lines.length} more`] : [];
  return [`${counted(skillsOf(project).length, "skill")}.`, ...lines, ...more].join("\n");
}

const NAMED_FILES = 10;
const WHY = {
  denied: "denied",
  "not-acked": "needs your ack. Harness asks in the next turn; harness ack asks now.",
  broken: "broken. harness skills validate says why.",
};

function entriesOf({ current, skillTriggers }: ProjectRuntime["live"]): readonly SlashEntry[] {
  return skillsOf(current()).map(({ name, description }) => ({
    ...{ namespace: "skills", name, description, args_schema: TASK_SCHEMA },
    // The input is the user's; the text of the skill comes as the result of a tool, between delimiters.
    run({ text = "" }) {
      skillTriggers.raise(name);
      return { input: `Read the skill ${name} with the tool skill, and follow it. ${text}`.trim() };
    },
  }));
}
