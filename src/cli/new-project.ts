/** `harness scaffold` and `harness init`: a project that works as it is, from the files in `templates/`. */
import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf, messageOf, visibleLine } from "#base";
import { PROJECT_FILES } from "#program";
import { ReasonError } from "#protocol";
import { makeFolder } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

/** A file of a new project, by its path there, and the template it is made from. */
type Layout = readonly (readonly [path: string, template: string])[];

const scaffoldLayout: Layout = [
  ["harness.md", "harness.md"],
  [".harness/tools/read_file.md", "tools/read_file.md"],
  [".harness/tools/write_file.md", "tools/write_file.md"],
  [".harness/hooks/safety.md", "hooks/safety.md"],
];

const initLayout: Layout = [
  ["harness.md", "harness.md"],
  [".harness/tools/read_file.md", "tools/read_file.md"],
  [".harness/tools/write_file.md", "tools/write_file.md"],
  [".harness/tools/list_files.md", "tools/list_files.md"],
  [".harness/tools/get_current_folder.md", "tools/get_current_folder.md"],
  [".harness/hooks/block_dangerous_commands.md", "hooks/block_dangerous_commands.md"],
  [".harness/hooks/detect_secrets.md", "hooks/detect_secrets.md"],
];

/** Built-in tools whose job a tool of the layout has. */
const replacedBy: Readonly<Record<string, string>> = {
  "tools/read_file.md": "fs.read",
  "tools/write_file.md": "fs.write",
  "tools/list_files.md": "fs.list",
};

const CI_WORKFLOW = ".github/workflows/evals.yml";

/** Stands in the Markdown of `harness.md`, so it is one line of plain text. */
const NAME = /^[^\p{Cc}/\\]{1,100}$/u;

/** Makes a new folder; refuses when something is there. */
export async function scaffoldCommand(ports: CliPorts, name: string): Promise<ExitCode> {
  const root = resolve(ports.cwd, name);
  const title = checkedName(basename(root));
  try {
    await mkdir(root);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT") {
      throw new ReasonError("UsageInvalid", `the folder ${dirname(root)} does not exist`, { cause: error });
    }
    if (code !== "EEXIST") throw error;
    throw new ReasonError("AlreadyExists", `${root} already exists; nothing was written.`);
  }
  const { written } = await writeProject(ports, root, title, scaffoldLayout);
  await ackWritten(ports, root, written);
  await mkdir(join(root, ".harness", "agents"));
  tell(ports, root, [...written, ".harness/agents/"], []);
  ports.terminal.err(`Next: cd ${name}, harness validate, harness run\n`);
  return 0;
}

/** A workflow that runs the evals of a project, for GitHub; refuses when there is one. */
export async function initCiCommand({ cwd, templatesDir, terminal }: CliPorts): Promise<ExitCode> {
  const target = join(resolve(cwd), CI_WORKFLOW);
  if (await exists(target)) throw new ReasonError("AlreadyExists", `${target} already exists; nothing was written.`);
  makeFolder(dirname(target));
  await writeFile(target, await readFile(join(templatesDir, "ci", "evals.yml"), "utf8"), { flag: "wx" });
  terminal.out(`Created in ${resolve(cwd)}:\n  ${CI_WORKFLOW}\n`);
  terminal.err("Next: harness ack --emit-lockfile, harness eval --record, and commit both\n");
  return 0;
}

/** In the current folder; refuses when it is a project already. Other files that are there stay as they are. */
export async function initCommand(ports: CliPorts, name: string | undefined): Promise<ExitCode> {
  const root = resolve(ports.cwd);
  const title = name === undefined || name === "." ? basename(root) : checkedName(name);
  for (const file of PROJECT_FILES) {
    if (!(await exists(join(root, file)))) continue;
    throw new ReasonError(
      "AlreadyExists",
      `${join(root, file)} already exists, so this folder is a project. Nothing was written.`,
    );
  }
  const { written, kept } = await writeProject(ports, root, title, initLayout);
  await ackWritten(ports, root, written);
  tell(ports, root, written, kept);
  ports.terminal.err("Next: harness validate, harness run\n");
  return 0;
}

async function writeProject(
  { templatesDir }: CliPorts,
  root: string,
  title: string,
  layout: Layout,
): Promise<{ readonly written: readonly string[]; readonly kept: readonly string[] }> {
  const written: string[] = [];
  const kept: string[] = [];
  const replaced = layout.flatMap(([, template]) => {
    const tool = replacedBy[template];
    return tool === undefined ? [] : [`    - ${tool}`];
  });
  for (const [path, template] of layout) {
    const text = await readFile(join(templatesDir, template), "utf8");
    const target = join(root, path);
    makeFolder(dirname(target));
    try {
      await writeFile(
        target,
        text.replace("{{replaced}}", () => replaced.join("\n")).replaceAll("{{name}}", () => title),
        { flag: "wx" },
      );
      written.push(path);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      kept.push(path);
    }
  }
  return { written, kept };
}

/** What this program wrote needs no second look; what was there already does. Where it cannot be kept, the first run asks. */
async function ackWritten(ports: CliPorts, root: string, written: readonly string[]): Promise<void> {
  try {
    await keepAck(ports, root, written);
  } catch (error) {
    const why = messageOf(error);
    ports.terminal.err(
      `warning: the ack of the new files could not be stored: ${visibleLine(why)}. harness run will ask.\n`,
    );
  }
}

async function keepAck(ports: CliPorts, root: string, written: readonly string[]): Promise<void> {
  const [{ surveyProject }, { userTrust }] = await Promise.all([import("#artifacts"), import("#program")]);
  const survey = await surveyProject({ root });
  const trust = userTrust(ports, survey.root);
  const own = trust.judge(survey.files).awaiting.filter(({ file }) => written.includes(file));
  trust.ack(
    own.map((file) => trust.look(file)),
    "created",
  );
}

function tell({ terminal }: CliPorts, root: string, written: readonly string[], kept: readonly string[]): void {
  terminal.out(`Created in ${root}:\n${written.map((path) => `  ${path}\n`).join("")}`);
  if (kept.length > 0) terminal.out(`Left as they were:\n${kept.map((path) => `  ${path}\n`).join("")}`);
}

function checkedName(name: string): string {
  if (NAME.test(name)) return name;
  const detail = `'${name}' is not a valid project name: use one line without a slash, at most 100 characters. To create a new folder, use harness scaffold.`;
  throw new ReasonError("UsageInvalid", detail);
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}
