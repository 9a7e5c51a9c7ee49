/** Which file a name on the command line means. */
import { extname } from "node:path";
import { ReasonError } from "#protocol";

const PROJECT_EXTENSIONS = [".md", ".yaml", ".yml"];

/** Whether `-c` names a project file, as opposed to a configuration file (`.toml`). Any other extension is refused. */
export function namesProject(config: string): boolean {
  const extension = extname(config).toLowerCase();
  if (PROJECT_EXTENSIONS.includes(extension)) return true;
  if (extension === ".toml") return false;
  const detail = `--config needs a project file (.md, .yaml) or a configuration file (.toml), not '${config}'`;
  throw new ReasonError("UsageInvalid", detail);
}
