/** A text in the person's own editor: `$VISUAL` or `$EDITOR`, on this terminal, with a file that only they can read. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#stores/keys";
import {
  childEnvironment,
  createSystemRandom,
  makePrivateDirectory,
  readOwnedFile,
  runOnTerminal,
  writePrivateFile,
} from "#world";
import type { CliPorts } from "./cli-ports.ts";

const MAX_BYTES = 1024 * 1024;
const NAME_BYTES = 8;
/** What editors need of a desktop, besides what every program gets. */
const SHOWN_BY = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "COLORTERM"];

/** Undefined when nothing was changed. Rejects when there is no editor, it failed, or it left too much. */
export async function editOutside(
  { env, cwd }: Pick<CliPorts, "env" | "cwd">,
  text: string,
): Promise<string | undefined> {
  const named = env.VISUAL?.trim() || env.EDITOR?.trim();
  if (named === undefined || named === "") {
    throw new ReasonError("UsageInvalid", "no editor is set. Set VISUAL or EDITOR, for example EDITOR=nano");
  }
  const [program = "", ...args] = named.split(/\s+/);
  const folder = join(harnessPaths(env).stateDir, "edits");
  const file = join(folder, `input-${Buffer.from(createSystemRandom().bytes(NAME_BYTES)).toString("hex")}.md`);
  makePrivateDirectory(folder);
  writePrivateFile(file, text, { durable: false });
  try {
    const shown = SHOWN_BY.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
    const own = childEnvironment(env, cwd, Object.fromEntries(shown) as Record<string, string>); // those that are set
    const code = await runOnTerminal({ program, args: [...args, file], cwd, env: own }).catch((cause: unknown) => {
      throw new ReasonError("UsageInvalid", `the editor ${named} could not be started`, { cause });
    });
    if (code !== 0) throw new ReasonError("FileFailed", `the editor ${named} ended with ${code ?? "a signal"}`);
    const edited = readOwnedFile(file, MAX_BYTES)?.toString("utf8").trimEnd();
    return edited === text ? undefined : edited;
  } finally {
    rmSync(file, { force: true });
  }
}
