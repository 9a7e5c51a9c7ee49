/**
 * Servers that are killed in the middle of a call: every call must end in a structured result, and no process may be left. Default:
 * 200 kills.
 */
import { resolve } from "node:path";
import { createSpawningWorld, openServers, stdioServer } from "../test/fakes/mcp-world.ts";

const kills = Number(process.argv[2] ?? 200);
const program = resolve(import.meta.dirname, "../test/fakes/hostile-mcp-server.ts");
const world = createSpawningWorld();
const servers = openServers([stdioServer("victim", [program, "hang-call"])], { world });
await servers.ready();

let structured = 0;
for (let count = 0; count < kills; count++) {
  const call = servers.run("mcp.victim.call").then(
    () => "an answer",
    (error: Error) => error.message,
  );
  await new Promise((resume) => setTimeout(resume, count % 7));
  process.kill(-world.pids.at(-1)!, "SIGKILL");
  if ((await call).startsWith("«mcp-server-unavailable»")) structured += 1;
  await servers.restart("victim");
}
await servers.close();
const left = world.pids.filter((pid) => {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false; // gone
  }
});
console.log(`${kills} kills: ${structured} structured results, ${left.length} processes left of ${world.pids.length}`);
process.exitCode = structured === kills && left.length === 0 ? 0 : 1;
