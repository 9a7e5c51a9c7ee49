/** What a command of the program gets when it runs in this process and nobody is at its terminal; no process is started. */
import { join, resolve } from "node:path";
import { createCrash, type runCli } from "#cli";
import { createManualClock } from "./manual-clock.ts";
import { testCredentials } from "./test-credentials.ts";

type CliPorts = Parameters<typeof runCli>[1];

const packageRoot = resolve(import.meta.dirname, "../..");

/** What was written, as it grows. */
export interface Said {
  out: string;
  err: string;
}

export interface QuietPorts extends Partial<Omit<CliPorts, "terminal">> {
  readonly cwd: string;
  readonly env: NonNullable<Parameters<typeof testCredentials>[0]>;
  readonly terminal?: Partial<CliPorts["terminal"]>;
}

/** A screen on which nobody answers. */
export function quietScreen(said: Said): Parameters<Parameters<CliPorts["terminal"]["ask"]>[0]>[0] {
  return {
    show: (text) => {
      said.err += text;
    },
    columns: 120,
    rows: 40,
    colour: false,
    readAnswer: async () => ({ kind: "end" }),
    readKey: async () => ({ kind: "end" }),
  };
}

export function quietCliPorts(said: Said, { terminal, ...parts }: QuietPorts): CliPorts {
  return {
    credentials: testCredentials(parts.env),
    concealed: () => undefined,
    crash: createCrash(),
    clipboard: () => Promise.reject(new Error("there is no clipboard here")),
    clock: createManualClock(),
    build: { version: "0.0.0", commit: "test", builtAt: "test" },
    programFile: join(packageRoot, "src", "main.ts"),
    scenariosDir: join(packageRoot, "scenarios"),
    skillsDir: join(packageRoot, "skills"),
    profilesDir: join(packageRoot, "profiles"),
    templatesDir: join(packageRoot, "templates"),
    relaunch: () => {
      throw new Error("no process is started here");
    },
    endsWhenStopped: () => undefined,
    ...parts,
    terminal: {
      out: (text) => {
        said.out += text;
      },
      err: (text) => {
        said.err += text;
      },
      status: () => undefined,
      interactive: false,
      inputIsPiped: false,
      colour: false,
      canDraw: false,
      divert: () => () => undefined,
      columns: 120,
      readLine: async () => ({ kind: "end" }),
      ask: (question) => question(quietScreen(said)),
      readSecret: async () => ({ kind: "end" }),
      readAll: async () => "",
      readLines: async function* () {},
      readChunks: async function* () {},
      readBytes: async function* () {},
      claimOutput: () => ({ write: async () => undefined, close: () => undefined }),
      outDrained: async () => undefined,
      lend: (work) => work(),
      onInterrupt: () => () => undefined,
      ...terminal,
    },
  };
}
