/** Puts MCP servers of a project to the person at this terminal: the whole entry, what would run, and what it may reach. */
import { isWorkspaceFolder, type Project, type Settings } from "#artifacts";
import { isDomainEntry, paint, visibleLine } from "#base";
import {
  declaredServers,
  dropReview,
  installForReview,
  keepAnswer,
  lookAtServer,
  type ReviewServers,
  type ServerAnswers,
  type ServerReview,
  unansweredServers,
} from "#program";
import type { CliPorts } from "./cli-ports.ts";
import { foreignRows, lineRows, showPaged } from "./foreign-rows.ts";
import { textsOf } from "./permission-question.ts";
import type { QuestionScreen } from "./terminal.ts";

export type Verdict = "approved" | "denied" | "quit";

type Network = readonly string[] | "public";

interface Reach {
  readonly network: Network;
  readonly writable?: readonly string[];
}

/** Asks about each server that nobody has answered about as it is. Whoever leaves is asked again next time. */
export function reviewServersAt(ports: CliPorts): ReviewServers {
  return async (project: Project, settings: Settings, trust: ServerAnswers) => {
    const waiting = unansweredServers(declaredServers(project, settings, ports.env), settings, trust);
    const interrupted = new AbortController();
    const stopListening = ports.terminal.onInterrupt(() => interrupted.abort());
    try {
      for (const [index, declared] of waiting.entries()) {
        const review = await lookAtServer(ports, project.root, declared, trust);
        const position = ` (${index + 1} of ${waiting.length})`;
        if ((await askAboutServer(ports, project.root, review, trust, interrupted.signal, position)) === "quit") return;
      }
    } finally {
      stopListening();
    }
  };
}

/** One server, from its entry to the kept answer. A package is installed between two questions. */
export async function askAboutServer(
  ports: CliPorts,
  root: string,
  first: ServerReview,
  trust: ServerAnswers,
  signal: AbortSignal,
  position = "",
): Promise<Verdict> {
  let review = first;
  let verdict = await ask(ports, (screen) => decide(screen, review, position, signal));
  if (verdict === "approved" && review.package !== undefined) {
    ports.terminal.err(`Installing ${visibleLine(review.package)} …\n`);
    try {
      review = await installForReview(ports, root, review);
    } catch (error) {
      ports.terminal.err(`${await ports.outward.describe(error)}\n`);
      return "quit";
    }
    verdict = await ask(ports, (screen) => confirmInstalled(screen, review, signal));
  }
  const reach = verdict === "approved" ? await ask(ports, (screen) => askReach(screen, review, signal)) : NOTHING;
  if (verdict === "quit" || reach === "quit") {
    dropReview(ports, review);
    return "quit";
  }
  keepAnswer(ports, review, { answer: verdict, ...reach }, trust);
  return verdict;
}

function ask<Answer>(ports: CliPorts, question: (screen: QuestionScreen) => Promise<Answer>): Promise<Answer> {
  return ports.terminal.ask(question);
}

async function decide(
  screen: QuestionScreen,
  review: ServerReview,
  position: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const { declared, problem } = review;
  const { name } = declared.server;
  const title = `The MCP server '${name}' of ${declared.place.file} needs your approval${position}`;
  screen.show(`\n${paint(screen, "bold", textsOf(lineRows(screen, "", title)).join("\n"))}\n`);
  const entry = JSON.stringify({ [name]: declared.entry }, null, 2);
  const rows = [...factRows(screen, aboutServer(review)), ...textsOf(foreignRows(screen, entry))];
  if (!(await showPaged(screen, [...rows, ...factRows(screen, programFacts(review))], signal))) return "quit";
  if (problem !== undefined)
    screen.show(`${textsOf(lineRows(screen, "  It cannot be approved: ", problem)).join("\n")}\n`);
  const approve =
    problem !== undefined ? "" : review.package === undefined ? "[a]pprove  " : "[a] install it and look  ";
  return readVerdict(screen, `  ${approve}[d]eny  [q]uit > `, problem === undefined, signal);
}

async function confirmInstalled(screen: QuestionScreen, review: ServerReview, signal: AbortSignal): Promise<Verdict> {
  const { problem } = review;
  screen.show(`${factRows(screen, programFacts(review)).join("\n")}\n`);
  if (problem !== undefined)
    screen.show(`${textsOf(lineRows(screen, "  It cannot be approved: ", problem)).join("\n")}\n`);
  const approve = problem === undefined ? "[a]pprove  " : "";
  return readVerdict(screen, `  ${approve}[d]eny  [q]uit > `, problem === undefined, signal);
}

async function readVerdict(
  screen: QuestionScreen,
  keys: string,
  mayApprove: boolean,
  signal: AbortSignal,
): Promise<Verdict> {
  for (;;) {
    const answer = await screen.readKey(keys, signal);
    if (answer.kind !== "key") return "quit";
    const key = answer.key.toLowerCase();
    if (key === "a" && mayApprove) return "approved";
    if (key === "d") return "denied";
    if (key === "q") return "quit";
  }
}

const NOTHING: Reach = { network: [] };

/** A server on the network reaches nothing through us but its own address. */
async function askReach(screen: QuestionScreen, review: ServerReview, signal: AbortSignal): Promise<Reach | "quit"> {
  const { connection } = review.declared.server;
  if (connection.kind !== "stdio") return NOTHING;
  const { before, declared } = review;
  const kept = before?.answer === "approved" && before.entry === declared.hash ? before : undefined;
  const network = await askNetwork(screen, connection.network, kept?.network, signal);
  if (network === "quit") return "quit";
  const writable = await askWritable(screen, connection.writable ?? [], kept && (kept.writable ?? []), signal);
  return writable === "quit" ? "quit" : { network, ...(writable.length > 0 && { writable }) };
}

async function askNetwork(
  screen: QuestionScreen,
  wanted: Network,
  kept: Network | undefined,
  signal: AbortSignal,
): Promise<Network | "quit"> {
  const keep = kept === undefined ? "" : `[k]eep: ${networkText(kept)}  `;
  const hosts = wanted === "public" || wanted.length === 0 ? "" : `[h] ${visibleLine(wanted.join(", "))}  `;
  const asks = wanted.length === 0 ? "" : ` The entry asks for ${visibleLine(networkText(wanted))}.`;
  screen.show(`  Which hosts may it reach?${asks}\n`);
  for (;;) {
    const keys = `  ${keep}[n]one  ${hosts}[o]ther hosts  [p] any public host  [q]uit > `;
    const answer = await screen.readKey(keys, signal);
    if (answer.kind !== "key") return "quit";
    switch (answer.key.toLowerCase()) {
      case "n":
        return [];
      case "p":
        return "public";
      case "q":
        return "quit";
      case "k":
        if (kept !== undefined) return kept;
        break;
      case "h":
        if (hosts !== "") return wanted;
        break;
      case "o": {
        const named = await typedWords(screen, "Hosts", isDomainEntry, "a host name, an address or *.name", signal);
        if (named !== undefined) return named;
        break;
      }
      default:
    }
  }
}

/** Steering files stay as they are in each case. */
async function askWritable(
  screen: QuestionScreen,
  wanted: readonly string[],
  kept: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<readonly string[] | "quit"> {
  const keep = kept === undefined ? "" : `[k]eep: ${visibleLine(writableText(kept))}  `;
  const asks = wanted.length === 0 ? "" : ` The entry asks for ${visibleLine(writableText(wanted))}.`;
  screen.show(`  Which files of the workspace may it change?${asks}\n`);
  for (;;) {
    const answer = await screen.readKey(`  ${keep}[n]one  [f]olders  [w]orkspace  [q]uit > `, signal);
    if (answer.kind !== "key") return "quit";
    switch (answer.key.toLowerCase()) {
      case "n":
        return [];
      case "w":
        return ["."];
      case "q":
        return "quit";
      case "k":
        if (kept !== undefined) return kept;
        break;
      case "f": {
        const named = await typedWords(screen, "Folders", isWorkspaceFolder, "a folder of the workspace", signal);
        if (named !== undefined) return named;
        break;
      }
      default:
    }
  }
}

function writableText(folders: readonly string[]): string {
  if (folders.includes(".")) return "the whole workspace";
  return folders.length === 0 ? "none" : folders.join(", ");
}

async function typedWords(
  screen: QuestionScreen,
  what: string,
  isRight: (word: string) => boolean,
  right: string,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const answer = await screen.readAnswer(`  ${what}, with blanks between them > `, signal);
  if (answer.kind !== "line") return undefined;
  const typed = answer.text.split(/[\s,]+/).filter((word) => word !== "");
  const wrong = typed.find((word) => !isRight(word));
  if (wrong === undefined) return typed.length === 0 ? undefined : typed;
  screen.show(`  ${visibleLine(wrong)} is not ${right}.\n`);
  return undefined;
}

export function networkText(network: Network): string {
  if (network === "public") return "any public host";
  return network.length === 0 ? "no host" : network.join(", ");
}

function aboutServer({ declared, before }: ServerReview): readonly string[] {
  const { connection } = declared.server;
  return [
    connection.kind === "stdio"
      ? "a program that runs on your machine in a sandbox, reads the workspace, and offers tools to the agent"
      : `a server on the network at ${new URL(connection.url).host}: what the agent sends to its tools leaves your machine`,
    ...(declared.agent === undefined ? [] : [`only for the agent '${declared.agent}'`]),
    ...(before === undefined ? [] : [`you ${before.answer} an earlier version on ${before.at.slice(0, 10)}`]),
  ];
}

const OPEN =
  "What runs is not pinned as a whole: this command runs what its arguments or other files say, and those may change after your approval.";

/** What runs now, and how that differs from what was approved. Values of variables are never shown. */
function programFacts({ declared, program, installed, before, package: wanted }: ServerReview): readonly string[] {
  const old = new Map(before?.files.map(({ path, sha256 }) => [path, sha256]));
  const files = (program?.files ?? []).flatMap(({ path, real, sha256 }) => {
    const was = old.get(path);
    return [
      `file ${path}${real === undefined || real === path ? "" : ` → ${real}`}`,
      `  sha256 ${sha256}`,
      ...(was === undefined || was === sha256 ? [] : [`  before ${was}`]),
    ];
  });
  const version = (of: NonNullable<ServerReview["installed"]>): string =>
    `${of.name}@${of.version}${of.integrity === undefined ? "" : ` ${of.integrity}`}`;
  const earlier = before?.installed;
  return [
    ...(installed === undefined ? [] : [`package ${version(installed)}`]),
    ...(installed === undefined || earlier === undefined ? [] : [`before ${version(earlier)}`]),
    ...(wanted !== undefined && installed === undefined ? [`package ${wanted}, not installed yet`] : []),
    ...(program === undefined ? [] : [`program ${program.path}`]),
    ...files,
    ...(program?.isOpen === true ? [OPEN] : []),
    ...(declared.variables.length === 0
      ? []
      : [`gets these variables of your environment: ${declared.variables.join(", ")}`]),
  ];
}

function factRows(screen: QuestionScreen, facts: readonly string[]): readonly string[] {
  return facts.flatMap((fact) => textsOf(lineRows(screen, "  ", fact)));
}
