/** A home in which `harness daemon start` runs; a daemon that is left there ends with the test. */

import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect } from "vitest";
import { defined } from "#base";
import { callCli } from "./cli-call.ts";
import { type CliHome, type CliResult, createCliHome, runCli } from "./cli-process.ts";

export interface DaemonStatus {
  readonly state: string;
  readonly pid?: number;
  readonly version?: string;
  // biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
  readonly health?: any;
}

export interface DaemonHome extends CliHome {
  readonly socket: string;
  readonly claims: string;
  readonly tokenFile: string;
  daemon(verb: string, ...args: string[]): Promise<CliResult>;
  /** Starts one, which must work, and gives its process. */
  start(...args: string[]): Promise<number>;
  status(): Promise<DaemonStatus>;
  /** Asks the daemon; rejects when nobody answers. */
  // biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; json: any }>;
  /** The lines of the program's own log. */
  logged(): Record<string, unknown>[];
}

/** With a `launcher` it is the program there instead of that of all tests. */
export function createDaemonHome(extraEnv: Readonly<Record<string, string>> = {}, launcher?: string): DaemonHome {
  const home = { ...createCliHome(extraEnv), ...defined({ launcher }) };
  const root = home.env.HOME ?? "";
  const [data, state] = [join(root, "data", "harness"), join(root, ".local", "state", "harness")];
  const claims = join(data, "daemon");
  const made: DaemonHome = {
    ...home,
    socket: join(data, "control.sock"),
    claims,
    tokenFile: join(state, "control.token"),
    daemon: (verb, ...args) => runCli(home, ["daemon", verb, ...args]),
    async start(...args) {
      const { code, out, err } = await made.daemon("start", ...args, "--json");
      expect(code, err).toBe(0);
      return (JSON.parse(out) as { pid: number }).pid;
    },
    async status() {
      return JSON.parse((await callCli(home, ["daemon", "status", "--json"])).out) as DaemonStatus;
    },
    ask: (method, path, body) =>
      new Promise((resolve, reject) => {
        const token = readFileSync(made.tokenFile, "utf8").trim();
        const headers = { host: "localhost", "x-harness-token": token };
        const asked = request({ socketPath: made.socket, method, path, headers, agent: false }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("error", reject);
          response.on("end", () => {
            resolve({ status: response.statusCode ?? 0, json: (text === "" ? {} : JSON.parse(text)) as unknown });
          });
        });
        asked.on("error", reject);
        asked.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    logged() {
      const folder = join(state, "log");
      return readdirSync(folder)
        .filter((name) => /^harness-\d{8}\.log$/.test(name))
        .toSorted()
        .flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
  };
  return made;
}

export function textBody(text: string): unknown {
  return { content: [{ type: "text", text }] };
}
