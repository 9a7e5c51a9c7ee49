/**
 * The test of one page of the guide. Each page has a file of its own in `test/campaigns`, so that pages run at the same time; the
 * page that people read first is in `test/e2e`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { followGuide, type GuideOptions } from "./guide.ts";
import { startLoopbackServer } from "./loopback-server.ts";

const root = resolve(import.meta.dirname, "../..");

export interface GuideTest extends GuideOptions {
  /** A page that lost its commands would pass without running any. */
  readonly minCommands: number;
  /** What the server on port 8000 of the page answers. Absent: there is none. */
  readonly says?: string;
  /** The folder of this repository whose content the page leads to. */
  readonly endsIn?: string;
}

export function testGuide(name: string, { minCommands, says, endsIn, here = {}, ...options }: GuideTest): void {
  const page = `docs/guide/${name}.md`;
  test(`${page} does what it says`, async () => {
    const { folder, commands } = await followGuide(page, { ...options, here: { ...here, ...(await servers(says)) } });
    expect(commands).toBeGreaterThanOrEqual(minCommands);
    if (endsIn !== undefined) expect(contents(folder)).toEqual(contents(join(root, endsIn)));
  });
}

/** Where the page has a fixed port, the test has a free one. */
async function servers(says: string | undefined): Promise<Readonly<Record<string, string>>> {
  if (says === undefined) return {};
  const { port } = await startLoopbackServer((_request, response) => response.end(says));
  return { "localhost:8000": `localhost:${port}` };
}

/** The files of a folder with their texts. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [relative(folder, file), readFileSync(file, "utf8")];
    }),
  );
}
