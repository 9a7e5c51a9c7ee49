/** Files of a project as they were in a commit, written into a folder. Takes only what a project consists of. */
import { writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { ReasonError } from "#protocol";
import { makeFolder } from "#world";
import { git } from "./git.ts";
import { PROJECT_FILES } from "./projects.ts";

const MAX_FILES = 500;
const MAX_CHARS = 32 * 1024 * 1024;

export interface CheckOut {
  /** A folder of the repository. */
  readonly repository: string;
  readonly revision: string;
  /** From the root of the repository: a folder, or a file. Empty: the root. */
  readonly path: string;
  /** An empty one, to be written to. */
  readonly folder: string;
}

/** Returns where the path is now. */
export async function checkOut({ repository, revision, path, folder }: CheckOut): Promise<string> {
  const failed = (why: string, cause?: unknown): ReasonError =>
    new ReasonError("UsageInvalid", `'${revision}:${path}' is not a policy: ${why}`, { cause });
  if (revision.startsWith("-")) throw failed("a revision cannot begin with a dash");
  const inside = posix.normalize(path === "" ? "." : path).replace(/\/$/, "");
  if (inside.startsWith("/") || inside.split("/").includes("..")) throw failed("the path is not in the repository");
  const commit = (await git(repository, ["rev-parse", "--verify", `${revision}^{commit}`], failed)).trim();
  const listed = await git(repository, ["ls-tree", "-r", "-z", "--full-tree", commit], failed);
  const files = listed.split("\0").flatMap((row) => {
    const [, mode, object, name] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(row) ?? [];
    // Links are left out: they could lead anywhere here.
    return mode?.startsWith("100") === true && object !== undefined && name !== undefined ? [{ object, name }] : [];
  });
  const isFile = files.some(({ name }) => name === inside);
  const base = isFile ? posix.dirname(inside) : inside;
  const below = files.flatMap((file) => {
    const relative =
      base === "." ? file.name : file.name.startsWith(`${base}/`) ? file.name.slice(base.length + 1) : "";
    return relative === "" ? [] : [{ ...file, relative }];
  });
  const own = below.filter(({ name, relative }) => name === inside || isOfProject(relative));
  if (own.length === 0) throw failed("there is no project in that commit");
  let texts = "";
  let count = 0;
  const write = async (some: readonly (typeof below)[number][]): Promise<void> => {
    count += some.length;
    if (count > MAX_FILES) throw failed(`it has more than ${MAX_FILES} files`);
    for (const { object, name } of some) {
      const text = await git(repository, ["cat-file", "blob", object], failed);
      texts += text;
      if (texts.length > MAX_CHARS) throw failed(`its files have more than ${MAX_CHARS} characters`);
      makeFolder(dirname(join(folder, name)));
      writeFileSync(join(folder, name), text);
    }
  };
  await write(own);
  // Files that `context.files` may name: a project that misses one does not load.
  await write(below.filter((file) => !own.includes(file) && texts.includes(file.relative)));
  return join(folder, inside);
}

function isOfProject(relative: string): boolean {
  return PROJECT_FILES.includes(relative) || relative.startsWith(".harness/");
}
