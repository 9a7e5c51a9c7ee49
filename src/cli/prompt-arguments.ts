/** Arguments that name no command: a prompt, or the flags that say how to run one, stand for `harness run`. */

/** Flags of the program without a command. */
export const ALONE_FLAGS: ReadonlySet<string> = new Set(["--no-daemon", "--plain", "--quiet-cost"]);
/** Flags that stand before a command, or alone. */
const PROGRAM_FLAG = /^(?:-h|--help|-V|--version|--log-[a-z-]+(?:=.*)?)$/s;

/** The same arguments behind `run` when they are a prompt or begin with a flag of a run; all others as they are. */
export function withCommand(argv: readonly string[]): readonly string[] {
  const first = argv.find((argument) => !ALONE_FLAGS.has(argument));
  if (first === undefined) return argv;
  const isForRun = first.startsWith("-") ? !PROGRAM_FLAG.test(first) : isPrompt(first);
  // A run is always in this process.
  return isForRun ? ["run", ...argv.filter((argument) => argument !== "--no-daemon")] : argv;
}

/** A single word may be a command that was mistyped. */
export function isPrompt(argument: string): boolean {
  return !argument.startsWith("-") && /\S\s+\S/.test(argument);
}
