/** Reads the arguments and redirects of a command, together with the commands that run inside them. */
import type { CommandArgument, Redirection, Statement, SyntaxNode, WordPart } from "unbash";
import type { RedirectedFile, SimpleCommand } from "./command.ts";
import { feedOf, printsPlainly } from "./feeds.ts";
import { forked, NOTHING_AROUND, type Reading, type Surroundings, unclear } from "./reading.ts";
import { visitScripts } from "./scope.ts";
import { type Printed, type ReadWord, readWord, type WordReader, wordHazard } from "./words.ts";

export interface ReadArgument {
  readonly words: readonly ReadWord[];
  /** What the substitutions in it run. */
  readonly commands: readonly SimpleCommand[];
}

export function readArgument(part: CommandArgument, reading: Reading): ReadArgument {
  const hazard = wordHazard(part, reading.scope);
  if (hazard !== undefined) unclear(reading, hazard);
  const commands: SimpleCommand[] = [];
  const read = new Map<SyntaxNode, SimpleCommand[]>();
  for (const script of visitScripts(part)) {
    const inner = readInner(script.commands, reading);
    read.set(script, inner);
    commands.push(...inner);
  }
  const reader: WordReader = {
    unclear: (why) => unclear(reading, why),
    printed: (expansion) => printedBy(expansion, read),
  };
  if (part.type === "Word") return { words: readWord(part, reading.scope, reader), commands };
  // Arguments of `export` and its kin arrive as assignments; for the words they are just text.
  if (part.value.type !== "Word" || part.index !== undefined) {
    unclear(reading, "it assigns an array");
    return { words: [{ text: part.text, glob: false, certainty: "unknown" }], commands };
  }
  const [value] = readWord(part.value, reading.scope, reader);
  const sign = part.append === true ? "+=" : "=";
  const { text = "", certainty = "unknown", feed, plain } = value ?? {};
  const word = { text: `${part.name}${sign}${text}`, glob: value?.glob === true, certainty };
  return { words: [{ ...word, ...(feed && { feed }), ...(plain && { plain }) }], commands };
}

export function readRedirects(
  redirects: readonly Redirection[],
  reading: Reading,
): { around: Surroundings; commands: SimpleCommand[] } {
  const files: RedirectedFile[] = [];
  const commands: SimpleCommand[] = [];
  let hereDocument = false;
  let hereText: string | undefined;
  let ownInput = false;
  for (const redirect of redirects) {
    if (
      redirect.operator.startsWith("<") ||
      (redirect.descriptor?.type === "FileDescriptor" && redirect.descriptor.value === 0)
    )
      ownInput = true;
    if (redirect.descriptor?.type === "FileDescriptorVariable")
      unclear(reading, "it opens a descriptor into a variable");
    if (redirect.type === "HereDoc") {
      const { pos, end, text, parts } = redirect.body;
      commands.push(...readArgument({ type: "Word", pos, end, text: "", value: text, parts }, reading).commands);
      ownInput = true;
      if (redirect.closing === undefined) unclear(reading, "its here-document is not closed");
      hereDocument = true;
      hereText = redirect.body.text;
      continue;
    }
    if (redirect.target === undefined) {
      unclear(reading, "a redirect has no target");
      continue;
    }
    const read = readArgument(redirect.target, reading);
    commands.push(...read.commands);
    const [target] = read.words;
    if (target === undefined) continue;
    if (redirect.type === "HereString") {
      hereDocument = true;
      hereText = target.text;
      continue;
    }
    if (target.glob || read.words.length > 1) unclear(reading, "a redirect goes to a pattern");
    if (target.certainty === "unknown")
      unclear(reading, `a redirect goes to ${target.text}, which is only known at run time`);
    const copiesDescriptor = /^[<>]&$/.test(redirect.operator) && /^(?:\d|-)$/.test(target.text);
    // Bash expands the name of such a file twice, quoted or not.
    if (/^[<>]&$/.test(redirect.operator) && !copiesDescriptor && !/^[\w./-]+$/.test(target.text))
      unclear(reading, `the shell expands the target of ${redirect.operator} ${target.text} twice`);
    if (!copiesDescriptor && target.text !== "/dev/null")
      files.push({ path: target.text, writes: redirect.operator !== "<" });
  }
  const text = hereText === undefined ? {} : { hereText };
  return { around: { redirects: files, hereDocument, background: false, ownInput, ...text }, commands };
}

/** Scripts inside words run in a process of their own. */
export function readInner(statements: readonly Statement[], reading: Reading): SimpleCommand[] {
  return reading.readers.statements(statements, NOTHING_AROUND, forked(reading));
}

/** What `$(…)` prints, when it is one command that lists files or says where it is. */
function printedBy(part: WordPart, read: ReadonlyMap<SyntaxNode, SimpleCommand[]>): Printed | undefined {
  const script = part.type === "CommandExpansion" ? part.script : undefined;
  const [first, ...more] = script === undefined ? [] : (read.get(script) ?? []);
  if (first === undefined || first.starts.length > 0) return undefined;
  if (more.length === 0 && first.words.join(" ") === "pwd") return ".";
  if (more.length === 0 && printsPlainly(first.words)) return "plain";
  let feed = feedOf(first, undefined);
  const piped = script?.commands.length === 1 && (more.length === 0 || script.commands[0]?.command.type === "Pipeline");
  for (const next of more) feed = piped && next.starts.length === 0 ? feedOf(next, feed) : undefined;
  return piped ? feed : undefined;
}
