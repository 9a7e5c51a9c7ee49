/** Arguments that name no command: a prompt, or the flags that say how to run one, stand for `harness run`. */

const RUN_FLAGS: ReadonlySet<string> = new Set(["-p", "--print", "--continue", "--resume", "--profile", "--framework"]);

/** The same arguments behind `run` when they are a prompt or ask for one; all others as they are. */
export function withCommand(argv: readonly string[]): readonly string[] {
  const [first = ""] = argv;
  if (isPrompt(first)) return ["run", ...argv];
  if (!first.startsWith("-") || !argv.some(asksForRun)) return argv;
  // A run is always in this process.
  return ["run", ...(first === "--no-daemon" ? argv.slice(1) : argv)];
}

/** A single word may be a command that was mistyped. */
export function isPrompt(argument: string): boolean {
  return !argument.startsWith("-") && /\S\s+\S/.test(argument);
}

function asksForRun(argument: string): boolean {
  return isPrompt(argument) || RUN_FLAGS.has(argument) || /^--(?:resume|profile)=/.test(argument);
}
