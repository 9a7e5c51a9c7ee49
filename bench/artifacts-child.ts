/** `node artifacts-child.js ROOT [CACHE]`: loads a project once. Run by bench/artifacts.ts, as one bundled file. */
import { createProjectLoader } from "#artifacts";
import { compilingChecker } from "./compiling-checker.ts";

const [, , root = "", cacheDir] = process.argv;
const loader = await createProjectLoader({
  root,
  checker: compilingChecker(),
  knownTools: [],
  ...(cacheDir === undefined ? {} : { cacheDir }),
});
const { project, problems } = loader.load();
if (project === undefined) throw new Error(`the project does not load: ${JSON.stringify(problems[0])}`);
