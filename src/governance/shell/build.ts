/** Puts a simple command together with what it starts, wrapper by wrapper. */
import type { SimpleCommand } from "./command.ts";
import { type Feed, feedOf } from "./feeds.ts";
import { type Reading, type Surroundings, unclear } from "./reading.ts";
import { type Launch, launchesOf, programName } from "./wrappers.ts";

export const MAX_SEGMENTS = 50;

/** Words of all commands together, those behind wrappers counted again. */
export const MAX_WORDS = 1000;

export const MAX_NESTED_SHELLS = 8;

export type Parsed = Omit<
  SimpleCommand,
  "starts" | "transparent" | "unseen" | "redirects" | "hereDocument" | "hereText" | "background" | "openFeed"
> & {
  readonly around: Surroundings;
};

export const NO_WORDS = {
  globbed: [],
  dynamic: [],
  unknown: [],
  split: [],
  feeds: new Map<number, Feed>(),
  assignments: [],
};

export function build(parsed: Parsed, reading: Reading): SimpleCommand {
  const { around, ...own } = parsed;
  const { redirects, hereDocument, hereText, background, input } = around;
  const text = hereText === undefined ? {} : { hereText };
  const plain: SimpleCommand = { ...own, redirects, hereDocument, ...text, background, starts: [], transparent: false };
  if (--reading.state.left < 0) {
    reading.state.unclear ??= `it has more than ${MAX_SEGMENTS} commands`;
    return plain;
  }
  reading.state.words -= own.words.length;
  if (reading.state.words < 0) {
    reading.state.unclear ??= `it has more than ${MAX_WORDS} words`;
    return plain;
  }
  const launched = launchesOf({
    words: own.words,
    hereDocument,
    open: own.open,
    dynamic: own.dynamic,
    ...text,
  });
  if (launched.unclear !== undefined) unclear(reading, launched.unclear);
  const name = programName(own.words);
  const feed = name === "xargs" ? input : name === "find" ? execFeed(own) : undefined;
  const starts = launched.launches.flatMap((launch) =>
    readLaunch(launch, { ...plain, ...(feed && { openFeed: feed }) }, reading),
  );
  const { transparent, unseen } = launched;
  if (launched.launches.length > 0 && starts.length === 0) unclear(reading, `Harness cannot tell what ${name} starts`);
  return {
    ...plain,
    starts,
    transparent,
    ...(unseen !== undefined && { unseen }),
    ...(own.open && input && { openFeed: input }),
  };
}

/** What `find … -exec` works on: the names that it would print without it. */
function execFeed(command: Pick<SimpleCommand, "words" | "globbed" | "dynamic">): Feed | undefined {
  const end = command.words.findIndex((word) => /^-(?:exec|execdir|ok|okdir)$/.test(word));
  // In the folder of each file, the other words of the command would mean other files.
  if (end < 0 || command.words.some((word) => /^-(?:exec|ok)dir$/.test(word))) return undefined;
  const feed = feedOf(
    { ...command, words: command.words.slice(0, end), redirects: [], hereDocument: false },
    undefined,
  );
  return feed === undefined ? undefined : { ...feed, split: false };
}

function readLaunch(launch: Launch, wrapper: SimpleCommand, reading: Reading): SimpleCommand[] {
  const deeper: Reading = { ...reading, nested: reading.nested + 1 };
  if (deeper.nested > MAX_NESTED_SHELLS) {
    unclear(reading, "wrappers are nested too deeply");
    return [];
  }
  if ("script" in launch) {
    if (launch.guess !== true && wrapper.dynamic.length > 0) unclear(reading, "a script is only known at run time");
    const started = reading.readers.script(launch.script, launch.guess === true ? { ...deeper, guess: true } : deeper);
    return started.map((command) => inheriting(command, wrapper.assignments));
  }
  const shift = (indexes: readonly number[]): number[] =>
    indexes.map((index) => index - launch.from).filter((index) => index >= 0);
  const apart = launch.from < 0;
  if (apart && (wrapper.globbed.length > 0 || wrapper.dynamic.length > 0))
    unclear(reading, "what it starts is only known at run time");
  const globbed = apart ? [] : shift(wrapper.globbed);
  const dynamic = apart ? [] : shift(wrapper.dynamic);
  if (globbed.includes(0)) unclear(reading, "the program's name is a pattern");
  if (dynamic.includes(0)) unclear(reading, "the program is only known at run time");
  const { words, folder } = launch;
  // What stands in front of a wrapper is in the environment of what it starts.
  const assignments = [...wrapper.assignments, ...launch.assignments];
  const { background, hereDocument, hereText, openFeed } = wrapper;
  const open = launch.open || wrapper.open;
  const around: Surroundings = {
    redirects: [],
    hereDocument,
    ...(hereText !== undefined && { hereText }),
    background,
    ...(open && openFeed && { input: openFeed }),
  };
  const folders =
    folder === undefined
      ? wrapper.folders
      : wrapper.folders.map((at) => (folder.startsWith("/") || at === "." ? folder : `${at}/${folder}`));
  const feeds = new Map(
    apart
      ? []
      : [...wrapper.feeds].flatMap(([index, feed]) =>
          index >= launch.from ? [[index - launch.from, feed] as const] : [],
        ),
  );
  const unknown = apart ? [] : shift(wrapper.unknown);
  const split = apart ? [] : shift(wrapper.split);
  return [build({ words, globbed, dynamic, unknown, split, feeds, assignments, around, open, folders }, deeper)];
}

/** With the variables that the commands of a script find in their environment. */
function inheriting(command: SimpleCommand, inherited: readonly string[]): SimpleCommand {
  if (inherited.length === 0) return command;
  return {
    ...command,
    assignments: [...inherited, ...command.assignments],
    starts: command.starts.map((started) => inheriting(started, inherited)),
  };
}
