/** A session that `run` is to go on with, and that the daemon of this user has open: the place to go on with it is there. */
import { isRecord } from "#base";
import { askDaemon, daemonPlaces } from "#daemon";
import { ReasonError, SessionId } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import type { InterfaceFlags } from "./interface-choice.ts";

/**
 * For the failure of a `run` that was to go on with a session. On a terminal without a prompt the conversation goes on through the
 * daemon; otherwise the failure says what to do. Rejects with the failure when the daemon does not have the session.
 */
export async function continueAtDaemon(
  ports: CliPorts,
  error: unknown,
  { isConversation, ...look }: InterfaceFlags & { readonly isConversation: boolean },
): Promise<ExitCode> {
  const session = busySession(error);
  if (session === undefined || !(await isOpenAtDaemon(ports, session))) throw error;
  if (!isConversation) {
    const message = `Session ${session} is open in the daemon. Send the input there: harness attach ${session}. Or start a new session: leave --continue and --resume out.`;
    throw ReasonError.withMessage("SessionBusy", message, { cause: error });
  }
  ports.terminal.err(`${session} is open in the daemon. It continues there, with the settings of the daemon.\n`);
  const { attachCommand } = await import("./attach.ts");
  return attachCommand(ports, session, look);
}

function busySession(error: unknown): SessionId | undefined {
  if (!(error instanceof ReasonError) || error.reason !== "SessionBusy") return undefined;
  const [id = ""] = /sess_\w+/.exec(error.message) ?? [];
  return SessionId.is(id) ? id : undefined;
}

async function isOpenAtDaemon({ env }: CliPorts, session: SessionId): Promise<boolean> {
  const { socket, tokenFile } = daemonPlaces(env);
  const info = await askDaemon(socket, tokenFile, `/v1/sessions/${session}`);
  return isRecord(info) && info.activity !== undefined;
}
