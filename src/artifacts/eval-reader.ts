/** The reader of eval cases, loaded when there are some: nobody else needs it. */
import type { readEvalFile } from "./eval-file.ts";

export async function loadEvalReader(): Promise<typeof readEvalFile> {
  return (await import("./eval-file.ts")).readEvalFile;
}
