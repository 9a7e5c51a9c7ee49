/**
 * Where a command runs, by who allowed it: nobody was asked, the reader; a rule or a person, the workspace confinement; a person who was
 * asked about that very thing, outside. What the command says decides none of this. Without a sandbox the shell is never quiet.
 */
import type { Confinement } from "#base";
import type { Judgement } from "#engine";
import { changesGitSettings } from "./git-settings.ts";
import type { JudgedCall } from "./judge.ts";
import { needsPerson, type Verdict } from "./verdict.ts";

/** What holds commands on this machine: a sandbox, nothing because the user switched it off, or nothing because there is none. */
export type SandboxHold = "sandbox" | "off" | "none";

/** `Judgement.by` of what only reads. */
export const QUIET = "quiet preset";
const OUTSIDE = "outside the sandbox";
const STEERING = "steering files";

/** The verdict about a command, with the confinement that it would run in. */
export function confined(call: JudgedCall, verdict: Verdict, hold: SandboxHold): Verdict {
  if (verdict.effect === "deny") return verdict;
  if (hold === "none") return outside(verdict, "this machine has no sandbox");
  if (hold === "off") {
    const isQuiet = verdict.effect === "allow" && verdict.judged.by === QUIET;
    return placed(isQuiet ? loudWithoutSandbox(verdict) : verdict, "outside");
  }
  if (call.args.outside === true) return outside(verdict, "the agent asked for that");
  const change = changesGitSettings(call);
  if (change !== undefined) {
    const asked = needsPerson(verdict, {
      by: STEERING,
      why: `${change} changes git's configuration, and every change to a steering file needs a person's approval (built-in: steering-files)`,
      remedy:
        "Rules and automatic approval cannot allow it: run where a person can answer, or run the command yourself.",
      steering: [".git/config"],
    });
    return placed(asked, "workspace");
  }
  return placed(verdict, verdict.effect === "allow" && verdict.judged.by === QUIET ? "reader" : "workspace");
}

function placed(verdict: Verdict, confinement: Confinement): Verdict {
  return { ...verdict, judged: { ...verdict.judged, confinement } };
}

function outside(verdict: Verdict, because: string): Verdict {
  const asked = needsPerson(verdict, {
    by: OUTSIDE,
    why: `it would run outside the sandbox, with your credentials: ${because} (built-in: outside-the-sandbox)`,
    remedy:
      'Rules and automatic approval cannot allow it: run where a person can answer, or set sandbox = "off" in your own config.toml.',
  });
  return placed(asked, "outside");
}

function loudWithoutSandbox({ judged }: Verdict): Verdict {
  const consulted = { stage: "built-in", name: OUTSIDE, source: "built-in", effect: "ask" };
  const why = "no rule allows it, and without a sandbox every command needs approval (built-in: outside-the-sandbox)";
  return {
    effect: "ask",
    judged: { effect: "ask", by: OUTSIDE, source: "built-in", why, trail: [...judged.trail, consulted] },
  };
}

/** One line for a person, before they answer. `network` says what allowed commands reach. */
export function confinementText(
  { confinement }: Pick<Judgement, "confinement">,
  hold: SandboxHold,
  network: string,
): string | undefined {
  switch (confinement) {
    case undefined:
      return undefined;
    case "outside":
      return hold === "sandbox"
        ? "Runs OUTSIDE the sandbox, with your files and your credentials."
        : `No sandbox${hold === "off" ? " (switched off)" : " on this machine"}: runs with your files and your credentials.`;
    case "workspace":
      return `Runs in the sandbox: can write to this workspace except steering files, has its own home folder, network: ${network}.`;
    case "reader":
      return "Runs in the sandbox: cannot change anything, no network, empty home folder.";
  }
}
