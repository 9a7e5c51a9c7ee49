/** The corpora of shell commands, judged as the program judges them in a workspace of its own. */
import type { EverydayCommand, HostileCommand } from "./shell-corpora.ts";
import { createShellJudge, type Outcome, type ShellJudge } from "./shell-judge.ts";
import { createPreparedWorkspace, createShellWorkspace } from "./shell-workspace.ts";

/** Commands that only read and ask nevertheless, of all commands. */
export const MAX_NEEDLESS_SHARE = 0.02;

/** Commands with the same rules share a judge. */
export function createHostileJudge() {
  const workspace = createPreparedWorkspace();
  const judges = new Map<string, ShellJudge>();
  return {
    remove: () => workspace.remove(),
    async outcomeOf({ command, rules, cwd }: HostileCommand): Promise<Outcome> {
      const key = rules.join("\n");
      const judge = judges.get(key) ?? createShellJudge(workspace.root, rules);
      judges.set(key, judge);
      return (await judge.judge(command, cwd === undefined ? {} : { cwd })).outcome;
    },
  };
}

export interface JudgedEveryday {
  /** Commands that pass unasked and should not. */
  readonly missed: readonly string[];
  /** Commands that only read and ask. */
  readonly needless: readonly string[];
}

export async function judgeEveryday(rows: readonly EverydayCommand[]): Promise<JudgedEveryday> {
  const workspace = createShellWorkspace();
  try {
    const { judge } = createShellJudge(workspace.root);
    const missed: string[] = [];
    const needless: string[] = [];
    for (const { command, expect: label } of rows) {
      const { outcome } = await judge(command);
      if (outcome === "allow" && label === "ask") missed.push(command);
      if (outcome !== "allow" && label === "quiet") needless.push(command);
    }
    return { missed, needless };
  } finally {
    workspace.remove();
  }
}
