/** `node artifacts-child.js ROOT [CACHE]`: loads a project once. Run by bench/artifacts.ts from the bundle. */
import { loadProject, trustsAll } from "#artifacts";

const [, , root = "", folder] = process.argv;
const { project, problems } = await loadProject({
  root,
  checkerVersion: "bench",
  checker: async () => (await import("./compiling-checker.ts")).compilingChecker(),
  knownTools: [],
  trust: trustsAll,
  ...(folder === undefined ? {} : { cache: { folder, key: () => new Uint8Array(32) } }),
});
if (project === undefined) throw new Error(`the project does not load: ${JSON.stringify(problems[0])}`);
