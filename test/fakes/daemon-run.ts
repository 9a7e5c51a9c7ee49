/** `harness daemon run` as a child process of a test, in a home of its own. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { join } from "node:path";
import { type CliHome, startCli } from "./cli-process.ts";

export interface DaemonRun {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has written to standard error so far. */
  said(): string;
}

/** Resolves when it listens, rejects when it ends before. */
export async function startDaemonRun(home: CliHome, ...flags: readonly string[]): Promise<DaemonRun> {
  const child = startCli(home, ["daemon", "run", ...flags]);
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said.includes("the token is in")) resolve();
    });
    child.once("close", () => reject(new Error(`the daemon ended: ${said}`)));
  });
  return { child, said: () => said };
}

/** A socket and a token file beside the workspace, and the flags that name them. */
export function daemonPlace(home: CliHome) {
  const socket = join(home.workspace, "..", "c.sock");
  const tokenFile = join(home.workspace, "..", "token");
  return { socket, tokenFile, flags: ["--listen", `unix:${socket}`, "--token-file", tokenFile] } as const;
}
