/** Opens a hostile repository with the program as users start it, and counts what of the bait was taken. Free of any test library. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bait, baits } from "./bait.ts";
import { launcher, sharedCompileCache } from "./launcher.ts";
import { type MockProviderServer, startMockProvider } from "./mock-provider-server.ts";

const KEY = "sk-ant-right-key";

export interface BaitResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Taken {
  /** Names of what ran. */
  readonly ran: readonly string[];
  /** Requests that went to the vendor of the bait. */
  readonly wrongRequests: number;
  /** Words of bait in what the right vendor was sent. */
  readonly words: readonly string[];
}

export interface BaitTrap {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Standard input is empty: nobody is there. */
  run(...args: string[]): Promise<BaitResult>;
  /** All that was taken so far. */
  taken(): Taken;
  /** Requests to the vendor that the user chose. */
  readonly asked: number;
  close(): Promise<void>;
}

export async function openTrap(chosen: readonly Bait[]): Promise<BaitTrap> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-bait-")));
  const [root, marks, outside] = ["repository", "marks", "outside"].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [root, marks, outside]) mkdirSync(folder);
  const always = { type: "message", blocks: [{ type: "text", text: "done" }] } as const;
  const [right, wrong]: [MockProviderServer, MockProviderServer] = await Promise.all([
    startMockProvider({ always }),
    startMockProvider({ always }),
  ]);
  for (const bait of chosen) bait.put({ root, marks, outside, wrongUrl: wrong.url });
  // What making the bait has set off is no catch.
  for (const mark of readdirSync(marks)) rmSync(join(marks, mark));
  const env = {
    PATH: `${root}:${process.env.PATH ?? ""}`,
    HOME: home,
    XDG_CACHE_HOME: join(home, "cache"),
    ...sharedCompileCache,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: right.url,
    HARNESS_MODEL: "anthropic:claude-x",
  };
  let shown = "";
  return {
    root,
    env,
    get asked() {
      return right.requests.length;
    },
    run(...args) {
      const child = spawn(process.execPath, [launcher, ...args], { cwd: root, env });
      child.stdin.end();
      const said = { out: "", err: "" };
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => (said.out += chunk));
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said.err += chunk));
      return new Promise((done) => {
        child.once("close", (code) => {
          shown += said.out + said.err;
          done({ code, ...said });
        });
      });
    },
    taken() {
      const sent = JSON.stringify(right.requests.map(({ body, headers }) => [body, headers]));
      return {
        // A hook has no way to leave a file; what it logs is shown.
        ran: [...readdirSync(marks), ...(/\[script\] BAIT-HOOK/.test(shown) ? ["hook"] : [])],
        wrongRequests: wrong.requests.length,
        words: baits.map(({ word }) => word).filter((word) => sent.includes(word)),
      };
    },
    async close() {
      await Promise.all([right.close(), wrong.close()]);
      rmSync(home, { recursive: true, force: true });
    },
  };
}
