/**
 * `node bench/sandbox.ts`: the hostile scripts of the corpus in a real sandbox, in both confinements, none of which may get anything
 * out. What a confinement costs is measured by `bench/reader.ts`.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createSandboxArena, type EscapeScript } from "../test/fakes/sandbox-arena.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const figures = await runCorpus();
printFigures("sandbox", figures);
process.exitCode = figures.every(holds) ? 0 : 1;

async function runCorpus(): Promise<Figure[]> {
  const file = resolve(import.meta.dirname, "../test/corpora/sandbox-escapes.json");
  const scripts = JSON.parse(await readFile(file, "utf8")) as EscapeScript[];
  const arena = await createSandboxArena();
  const counts = { attempts: 0, writes: 0, connections: 0, survivors: 0, leaks: 0, claims: 0 };
  try {
    for (const script of scripts) {
      const networks = script.aim === "network" ? (["none", "listed"] as const) : ([script.network ?? "open"] as const);
      // In the reader, which has one network only, all of the workspace counts.
      const ways = [...networks.map((network) => ({ network, confinement: "workspace" as const }))];
      for (const { network, confinement } of [...ways, { network: "open" as const, confinement: "reader" as const }]) {
        const attempt = await arena.attempt(script, network, { confinement });
        const { writes, connections, survivors, leaked, claimed, output } = attempt;
        counts.attempts++;
        counts.writes += writes.length;
        counts.connections += connections.length;
        counts.survivors += survivors;
        counts.leaks += leaked ? 1 : 0;
        counts.claims += claimed ? 1 : 0;
        if (writes.length + connections.length + survivors > 0 || leaked || claimed) {
          process.stdout.write(
            `GOT OUT: ${script.name} (${confinement}, ${network})\n${JSON.stringify({ writes, connections, survivors })}\n${output}\n`,
          );
        }
      }
    }
  } finally {
    await arena.close();
  }
  process.stdout.write(`${scripts.length} scripts, ${counts.attempts} attempts\n`);
  const none = (name: string, ours: number): Figure => ({ name, unit: "", ours, limit: 0 });
  return [
    none("writes outside or to protected files", counts.writes),
    none("connections off the list", counts.connections),
    none("processes that outlived their command", counts.survivors),
    none("secrets read", counts.leaks),
    none("other ways out", counts.claims),
  ];
}
