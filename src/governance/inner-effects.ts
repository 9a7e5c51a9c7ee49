/** Effects inside a call that was allowed: what nobody has judged as a call of its own is judged as if it were one. */
import type { Confinement } from "#base";
import type { ToolCall } from "#engine";
import { type DiskReader, lookAtDisk } from "./disk-view.ts";
import { DOUBT, type Judge, LABEL_STAGE, SECRET } from "./judge.ts";
import { builtinFacts, namedPaths } from "./known-tools.ts";
import { locatedArguments } from "./on-disk.ts";
import { isSensitivePath } from "./sensitive-paths.ts";

/** An effect that a tool other than the built-in one wants to have, named as the built-in tool that would have it. */
export interface InnerEffect {
  readonly tool: "exec" | "fs.read" | "fs.list" | "fs.write" | "fs.move" | "fs.remove" | "web.fetch";
  readonly args: Readonly<Record<string, unknown>>;
}

/** `Judgement.by` when somebody was asked about this very call. */
export const PERSON = "person";

const INSIDE_REMEDY = "Make it a separate call, so that a person can approve it";

/** Why the effect may not happen, or where it runs when it is a command. */
export type InnerJudgement = { readonly refused: string } | { readonly confinement?: Confinement };

export function createInnerEffects(
  { judge }: Judge,
  files: DiskReader,
): (call: ToolCall, effect: InnerEffect) => Promise<InnerJudgement> {
  return async (call, { tool: name, args }) => {
    const disk = lookAtDisk(files);
    const verdict = await judge({ ...call, tool: builtinFacts(name), args }, disk);
    const { confinement } = verdict.judged;
    const allowed = confinement === undefined ? {} : { confinement };
    if (verdict.effect === "allow") return allowed;
    const told = `${name} inside ${call.tool.name}`;
    if (verdict.effect === "deny")
      return { refused: `${told} was denied: ${verdict.judged.why}. To allow it, change that rule` };
    if (verdict.personOnly !== undefined)
      return { refused: `${told} was denied: ${verdict.judged.why}. ${INSIDE_REMEDY}` };
    // Whoever allowed the call has seen its arguments, not each thing that its script does.
    const asksByRule = verdict.judged.trail.some(
      ({ stage, effect }) => (stage === "rule" || stage === LABEL_STAGE) && effect === "ask",
    );
    // It cannot be told whether a deny or ask rule is meant.
    const isDoubtful = verdict.judged.by === DOUBT;
    const located = (await locatedArguments(name, args, disk)) ?? {};
    const isSensitive =
      verdict.judged.by === SECRET ||
      [...namedPaths(name, args), ...namedPaths(name, located)].some((path) => isSensitivePath(path).sensitive);
    const { by } = call.judged ?? {};
    const isCovered = by === PERSON || (by?.startsWith("rule ") && !isSensitive) || by === "--auto-approve";
    if (isCovered && !asksByRule && !isDoubtful && call.tool.class !== "read_only") return allowed;
    const refused = `${told} was denied: ${verdict.judged.why}, and the approval of ${call.tool.name} does not cover it. To allow it, add a rule for ${name}`;
    return { refused };
  };
}
