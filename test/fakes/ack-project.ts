/** Agrees to every file of a project as it is now, as its owner would with `harness ack`: for tests that run a project. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type JudgedFile, readFileContent, surveyProject } from "#artifacts";
import { defined } from "#base";
import { createProjectTrust } from "#trust";
import { trustDirectory, trustKeySource } from "../../src/program/project-keys.ts";

export interface AckPlace {
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
}

/** For `-c FILE`, the file is `configFile`. */
export async function ackProject({ workspace, env }: AckPlace, configFile?: string): Promise<void> {
  const survey = await surveyProject({ root: workspace, ...defined({ configFile }) });
  const trust = createProjectTrust({
    root: survey.root,
    directory: trustDirectory(env),
    keys: trustKeySource(env),
    by: "test",
    now: Date.now,
    ownFolders: [],
    onPromoted: () => undefined,
  });
  const waiting = trust.judge([...survey.files, ...caseFiles(survey.root)]).awaiting.map((file) => trust.look(file));
  if (waiting.length > 0) trust.ack(waiting, "individual");
}

/** Eval cases and scenarios, wherever they lie. */
function caseFiles(root: string): JudgedFile[] {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.ya?ml$/.test(name));
  return names.flatMap((file): JudgedFile[] => {
    if (file.includes("node_modules") || PROJECT_FILE.test(file)) return [];
    const outcome = readFileContent(join(root, file), file, root);
    return "problem" in outcome ? [] : [{ file, kind: "eval", hash: outcome.content.hash }];
  });
}

const PROJECT_FILE = /(?:^|\/)harness\.ya?ml$/;
