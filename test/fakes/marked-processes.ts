/** Processes of this machine whose command line has a text in it, in whichever namespace they run. */
import { execFileSync } from "node:child_process";

/** Process ids; one that ended but was not reaped does not run. */
export function processesWith(text: string): number[] {
  const rows = execFileSync("ps", ["-eo", "pid=,stat=,args=", "-ww"], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return rows
    .split("\n")
    .map((row) => /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(row))
    .filter((row) => row !== null && !row[2]?.startsWith("Z") && row[3]?.includes(text))
    .map((row) => Number(row?.[1]));
}
