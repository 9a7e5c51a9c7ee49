/** A program with profiles of a user and of a project, opened in this process as the command line opens it, with a model that answers. */
import { onTestFinished } from "vitest";
import { createOutward } from "#cli";
import { openProgram, type RunFlags } from "#program";
import type { CommandOf, Event, ReplyOf, SessionId } from "#protocol";
import { createInProcessCli, type InProcessCli } from "./in-process-cli.ts";
import { quietCliPorts } from "./quiet-cli-ports.ts";

/** Answers every input, and writes a file when it is asked to. */
export const ANSWERS = `
name: answers
rules:
  - when: { tool: fs.write }
    reply: [{ text: "Done." }]
  - when: { input: "write" }
    reply: [{ tool: fs.write, args: { path: a.txt, content: "x" } }]
  - when: { input: "/./" }
    reply: [{ text: "I heard you." }]
`;

export interface ProfiledProgram {
  readonly cli: InProcessCli;
  readonly harness: Awaited<ReturnType<typeof openProgram>>["harness"];
  readonly said: { readonly err: string };
  open(command?: Partial<CommandOf<"CreateSession">>, identityClass?: "human" | "agent"): Promise<SessionId>;
  /** Resolves to the events of the turn. */
  turn(session: SessionId, text: string): Promise<readonly Event[]>;
  /** What is typed: `profiles:review`. */
  slash(
    session: SessionId,
    word: string,
    options?: string,
    identityClass?: "human" | "agent",
  ): Promise<ReplyOf<"RunSlashCommand">["result"]>;
  log(session: SessionId): Promise<readonly Event[]>;
}

export interface ProfiledFiles {
  /** Paths below the workspace; `../.config/harness/…` is the configuration of the user. */
  readonly files: Readonly<Record<string, string>>;
  readonly flags?: Partial<RunFlags>;
  readonly projectLater?: boolean;
}

export async function createProfiledProgram({
  files,
  flags = {},
  projectLater = false,
}: ProfiledFiles): Promise<ProfiledProgram> {
  // Whoever reviews accepts everything.
  const cli = createInProcessCli({}, "a");
  cli.put("answers.yaml", ANSWERS);
  for (const [path, text] of Object.entries(files)) cli.put(path, text);
  await cli.run("ack", ...(flags.profile === undefined ? [] : ["--profile", flags.profile]));
  const said = { out: "", err: "" };
  const quiet = quietCliPorts(said, { env: cli.env, cwd: cli.workspace });
  const ports = { ...quiet, args: [], outward: createOutward(quiet) };
  const { harness } = await openProgram(ports, {
    flags: { store: "jsonl", model: "scripted:./answers.yaml", ...flags },
    offlineAllowed: false,
    projectLater,
  });
  onTestFinished(() => harness.shutdown());
  const clients = {
    human: harness.control.connect({ identityClass: "human", interactive: false }),
    agent: harness.control.connect({ identityClass: "agent", interactive: false }),
  };

  async function log(session: SessionId): Promise<readonly Event[]> {
    return harness.archive.read(session, { after: 0, limit: 10_000 });
  }

  return {
    ...{ cli, harness, said, log },
    async open(command = {}, identityClass = "human") {
      const { session } = await clients[identityClass].submit({
        kind: "CreateSession",
        ...(command.resume === undefined ? { working_dir: cli.workspace } : {}),
        ...command,
      });
      return session;
    },
    async turn(session, text) {
      const before = (await log(session)).at(-1)?.id ?? 0;
      const content = [{ type: "text" as const, text }];
      const { done } = await clients.human.submit({ kind: "SendInput", session, content });
      await done;
      return (await log(session)).filter(({ id }) => id > before);
    },
    async slash(session, word, options, identityClass = "human") {
      const [namespace = "", name = ""] = word.includes(":") ? word.split(":") : ["", word];
      const args = options === undefined ? {} : { options };
      return (await clients[identityClass].submit({ kind: "RunSlashCommand", session, namespace, name, args })).result;
    },
  };
}
