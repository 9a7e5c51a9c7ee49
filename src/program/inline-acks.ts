/**
 * Files that come to wait for an ack while a session runs: whoever is attached is asked in the conversation, all kinds of files alike.
 * An answer is for the content that was shown; a file that changed meanwhile is asked about again.
 */
import type { AwaitingFile } from "#artifacts";
import type { AskAck, AskForAck } from "#session";
import type { ProjectTrust, WaitingFile } from "#trust";

/** Asked about at a time; the next ones follow when all of these are answered. */
const MAX_ASKED_FILES = 20;
/** A file that changes faster than somebody reads it is left to `harness ack`. */
const MAX_LOOKS = 10;

type Trust = Pick<ProjectTrust, "look" | "ack" | "deny">;

export function askInline(trust: Trust): AskForAck {
  return async (awaiting, ask) => {
    let isKept = false;
    for (let from = 0; from < awaiting.length; from += MAX_ASKED_FILES) {
      const files = awaiting.slice(from, from + MAX_ASKED_FILES);
      const outcomes = await Promise.all(files.map((file) => askAbout(trust, file, ask)));
      isKept ||= outcomes.some((outcome) => outcome === "accepted" || outcome === "denied");
      if (outcomes.includes("unanswered")) break;
    }
    return isKept;
  };
}

async function askAbout(trust: Trust, file: AwaitingFile, ask: AskAck): Promise<Awaited<ReturnType<AskAck>>> {
  for (let look = 1; look <= MAX_LOOKS; look++) {
    const waiting = trust.look(file);
    // What cannot be read cannot be shown, and waits.
    if (file.change !== "removed" && waiting.hash === undefined) return "changed";
    const outcome = await ask({
      waiting,
      isCurrent: () => isCurrent(trust, waiting),
      keep: (answer) => (answer === "accept" ? trust.ack([waiting], "individual") : trust.deny([waiting])),
    });
    if (outcome !== "changed") return outcome;
  }
  return "changed";
}

/** A file that was removed is still gone. */
function isCurrent(trust: Trust, { file, kind, hash }: WaitingFile): boolean {
  return trust.look({ file, kind, change: "changed" }).hash === hash;
}
