/** `harness redact`: standard input without its secrets, as it comes; or where they are, never what they are. */
import type { Clock } from "#base";
import { assembleRedactor, loadConfig, type Redactor, type StreamRedactor, type UserPattern } from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** For `--explain` and `--check`, which look at the whole text. */
const INPUT_MAX_CHARS = 64 * 1024 * 1024;
/** How long text is held back that only might begin a secret. */
const IDLE_MS = 50;
/** Two letters, of either byte order, behind the mark of the order, which is no UTF-8, or without it. */
const UTF16 = /^(?:\ufffd\ufffd)?(?:[^\0]\0[^\0]\0|\0[^\0]\0[^\0])/;
const BEGIN_CHARS = 6;

export interface RedactFlags {
  readonly explain?: boolean;
  readonly check?: boolean;
  readonly json?: boolean;
  /** `kind=pattern`. */
  readonly pattern?: readonly string[];
}

export async function redactCommand(ports: CliPorts, flags: RedactFlags): Promise<ExitCode> {
  const { terminal, env, clock, credentials } = ports;
  const more = (flags.pattern ?? []).map(parsePattern);
  // What a session would do, with what the user calls a secret.
  const { settings } = await loadConfig(ports, undefined);
  const { patterns, disabledKinds } = settings.redaction;
  const redaction = { patterns: [...patterns, ...more], disabledKinds };
  const redactor = await assembleRedactor({
    settings: { ...settings, redaction },
    env,
    clock,
    credentials,
  });
  const untold = await credentials.told();
  if (untold !== undefined) terminal.err(`${untold.message} Its keys are only detected by their format.\n`);
  if (flags.explain !== true && flags.check !== true) {
    if (flags.json) throw new ReasonError("UsageInvalid", "--json needs --explain or --check");
    await filter(terminal, clock, redactor.createStreamRedactor());
    return 0;
  }
  const text = await wholeInput(terminal);
  refuseUtf16(text);
  const findings = redactor.explain(text);
  report(terminal, redactor, findings, flags);
  return flags.check && findings.length > 0 ? 1 : 0;
}

function parsePattern(text: string): UserPattern {
  const equals = text.indexOf("=");
  if (equals < 1) throw new ReasonError("UsageInvalid", "--pattern is kind=regular-expression");
  return { kind: text.slice(0, equals), pattern: text.slice(equals + 1) };
}

/** Whatever it is: a byte that is no text hides nothing of what is around it. */
async function wholeInput(terminal: Terminal): Promise<string> {
  const pieces: string[] = [];
  let chars = 0;
  for await (const piece of terminal.readChunks()) {
    chars += piece.length;
    if (chars > INPUT_MAX_CHARS) {
      throw new ReasonError("UsageInvalid", `standard input is larger than ${INPUT_MAX_CHARS} characters`);
    }
    pieces.push(piece);
  }
  return pieces.join("");
}

/** Writes what can go out with each piece; when none comes for a while, what is held for no good reason. */
async function filter(terminal: Terminal, clock: Clock, stream: StreamRedactor): Promise<void> {
  const chunks = terminal.readChunks()[Symbol.asyncIterator]();
  let begin = "";
  for (;;) {
    const next = chunks.next();
    const idle = new AbortController();
    const first = await Promise.race([next, clock.sleep(IDLE_MS, idle.signal).then(() => undefined)]);
    idle.abort();
    if (first === undefined) await terminal.outDrained(stream.settle());
    const { value, done } = first ?? (await next);
    if (done) break;
    if (begin.length < BEGIN_CHARS) {
      begin += value.slice(0, BEGIN_CHARS);
      refuseUtf16(begin);
    }
    await terminal.outDrained(stream.push(value));
  }
  await terminal.outDrained(stream.flush());
}

/** Read as UTF-8, every second character of it is none, and no secret looks like one. */
function refuseUtf16(text: string): void {
  if (!UTF16.test(text)) return;
  const detail = "standard input is UTF-16: convert it to UTF-8 first, for example with iconv -f UTF-16 -t UTF-8";
  throw new ReasonError("UsageInvalid", detail);
}

function report(
  { out }: Terminal,
  redactor: Redactor,
  findings: ReturnType<Redactor["explain"]>,
  { explain, json }: RedactFlags,
): void {
  const counts = new Map<string, number>();
  for (const { kind } of findings) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const { policy_version } = redactor.status();
  if (json) {
    const listed = explain ? { findings } : {};
    out(
      `${JSON.stringify({ policy_version, redacted_count: findings.length, counts: Object.fromEntries(counts), ...listed })}\n`,
    );
    return;
  }
  if (explain) for (const { kind, line, column } of findings) out(`${line}:${column} ${kind}\n`);
  else for (const [kind, count] of counts) out(`${count} ${kind}\n`);
}
