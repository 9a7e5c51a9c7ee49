/**
 * Where a sandboxed command waits until it is certain to end with this program. A monitor and the first process of its namespace each
 * ask the kernel to end them with their parent, one after the other: whoever is killed in between would leave the command behind. So
 * it says that it is there, and goes on only when it is told to; when nobody is left to tell it, it ends.
 */
import type { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "#base";

/** As the command sees it: both directions on one descriptor. */
export const GATE_DESCRIPTOR = 4;

/** The first thing that a POSIX shell inside does. Nothing behind it runs, and nothing behind it has the descriptor. */
export const GATE_SCRIPT = `echo >&${GATE_DESCRIPTOR}; read -r TOOL_GATE <&${GATE_DESCRIPTOR} || exit 126; unset TOOL_GATE; exec ${GATE_DESCRIPTOR}>&-`;

/** Whoever made the command waits for it by now, or has a few system calls left until then; a timer takes longer than those. */
const SPIN_LOOKS = 20;
const LOOK_PAUSE_MS = 1;
const MAX_WAIT_MS = 10_000;

export interface ProcessGate {
  /** Whether the command was there and was not let through: it ended without having done anything. */
  refused(): boolean;
  /** Whoever has not passed ends instead. */
  close(): void;
}

/** Opens once, when the command is there and `isBound` holds; closes for good when it never does. */
export function openGate(socket: Duplex, isBound: () => boolean, clock: Clock): ProcessGate {
  let isThere = false;
  let passed = false;
  async function letThrough(): Promise<void> {
    isThere = true;
    const deadlineMs = clock.monotonicMs() + MAX_WAIT_MS;
    for (let looks = 0; !socket.destroyed; looks++) {
      if (isBound()) {
        passed = true;
        socket.end("\n");
        return;
      }
      if (clock.monotonicMs() >= deadlineMs) socket.destroy();
      else await (looks < SPIN_LOOKS ? setImmediate() : clock.sleep(LOOK_PAUSE_MS));
    }
  }
  // A command that was ended has closed its side; how it ended is told by its monitor.
  socket.on("error", () => undefined);
  socket.once("data", () => {
    // Who cannot be admitted does not begin; the caller sees that the command did not run.
    letThrough().catch(() => socket.destroy());
  });
  return { refused: () => isThere && !passed, close: () => void socket.destroy() };
}
