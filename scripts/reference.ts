/**
 * Writes the reference pages that follow from tables in the code: the protocol, HTTP, the requirements of conformance, the tools, the
 * providers, the configuration, the files of a project, eval cases, the built-ins of scripts and redaction. Pages about behaviour are written by hand and are not touched. `npm run docs`
 */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { artifactsPage } from "./reference/artifacts-page.ts";
import { builtinsPage } from "./reference/builtins-page.ts";
import { configurationPage } from "./reference/configuration-page.ts";
import { conformancePage } from "./reference/conformance-page.ts";
import { evalsPage } from "./reference/evals-page.ts";
import { httpPage } from "./reference/http-page.ts";
import { profilesPage } from "./reference/profiles-page.ts";
import { protocolPage } from "./reference/protocol-page.ts";
import { providersPage } from "./reference/providers-page.ts";
import { redactionPage } from "./reference/redaction-page.ts";
import { slashPage } from "./reference/slash-page.ts";
import { toolsPage } from "./reference/tools-page.ts";

const root = resolve(import.meta.dirname, "..");

export interface ReferencePage {
  /** Relative to the repository root. */
  readonly path: string;
  readonly text: string;
}

/** Every generated page. The same sources always give the same bytes. */
export function referencePages(): readonly ReferencePage[] {
  return [
    { path: "docs/reference/protocol.md", text: protocolPage() },
    { path: "docs/reference/http.md", text: httpPage() },
    { path: "docs/reference/conformance.md", text: conformancePage() },
    { path: "docs/reference/tools.md", text: toolsPage() },
    { path: "docs/reference/providers.md", text: providersPage() },
    { path: "docs/reference/configuration.md", text: configurationPage() },
    { path: "docs/reference/profiles.md", text: profilesPage() },
    { path: "docs/reference/artifacts.md", text: artifactsPage() },
    { path: "docs/reference/evals.md", text: evalsPage() },
    { path: "docs/reference/built-ins.md", text: builtinsPage() },
    { path: "docs/reference/redaction.md", text: redactionPage() },
    { path: "docs/reference/slash-commands.md", text: slashPage() },
  ];
}

if (process.argv[1] === import.meta.filename) {
  for (const { path, text } of referencePages()) {
    writeFileSync(join(root, path), text);
    process.stdout.write(`${path}\n`);
  }
}
