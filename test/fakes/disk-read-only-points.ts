/** Disks that become read-only, with the log and without it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type DiskPoint, seen, sendInput, words } from "./disk-point.ts";
import type { PointContext } from "./full-disks.ts";

export const readOnlyPoints: readonly DiskPoint[] = [
  {
    name: "read-only for a while, without the log",
    needs: ["state"],
    // A disk cannot be made read-only while the log on it is open.
    layout: "state",
    async run(context) {
      const { daemon, session } = context;
      daemon.disk.makeReadOnly();
      await sendInput(context, "work");
      const { log } = (await daemon.ask("GET", "/v1/health")).json.subsystems;
      if (log.state !== "failing" || log.lost === 0)
        context.fail(`health does not tell lost lines: ${JSON.stringify(log)}`);
      await daemon.ask("GET", `/v1/sessions/${session}`);
      const revoked = await daemon.ask("DELETE", `/v1/auth/tokens/tok_${"0".repeat(26)}`);
      context.expectRefusal("a revocation", revoked);
      daemon.disk.makeWritable();
    },
  },
  {
    name: "read-only under a running call",
    needs: ["data"],
    layout: "everything, switched",
    run: underACall,
  },
  {
    name: "the log read-only for a while",
    needs: ["data"],
    layout: "data, switched",
    run: (context) => underTheLog(context, "EROFS"),
  },
  {
    name: "an I/O error under the log for a while",
    needs: ["data"],
    layout: "data, switched",
    run: (context) => underTheLog(context, "EIO"),
  },
  {
    name: "the log of lines read-only for a while",
    needs: ["workspace"],
    layout: "log of lines, switched",
    run: (context) => underTheLog(context, "EROFS"),
  },
  {
    name: "a file system that the kernel gives up",
    needs: ["data"],
    layout: "everything, ext4",
    run: givenUp,
  },
];

async function underACall(context: PointContext): Promise<void> {
  const turn = sendInput(context, "slow work");
  await seen(context, "ToolIntent");
  context.daemon.disk.makeReadOnly();
  await turn;
  await sendInput(context, `hi ${words(4_000)}`);
  context.daemon.disk.makeWritable();
}

/** Inputs are refused, what can be read is read, a program with another log works. */
async function underTheLog(context: PointContext, code: "EROFS" | "EIO"): Promise<void> {
  const { daemon, session } = context;
  await sendInput(context, "before");
  daemon.disk.failWith?.(code);
  for (const query of ["?wait=turn", "", "?mode=queue"]) {
    const answer = await daemon.input(session, `hi ${words(100)}`, query);
    context.expectRefusal(`an input (${query})`, answer);
  }
  context.expectRefusal("a session", await daemon.ask("POST", "/v1/sessions", { working_dir: daemon.workspace }));
  context.expectRefusal("an end", await daemon.ask("DELETE", `/v1/sessions/${session}`));
  const { state } = (await daemon.ask("GET", "/v1/health")).json.subsystems.store;
  if (state !== "failing") context.fail(`health says that the store is ${state}`);
  if ((await daemon.log(session)).length === 0) context.fail("the log cannot be read");
  const elsewhere = join(daemon.env.HOME ?? "", "elsewhere");
  mkdirSync(elsewhere, { recursive: true });
  const other = await daemon.run("run", "--store", "jsonl", "-C", elsewhere, "-m", "scripted:offline", "hello");
  if (other.code !== 0) context.fail(`a program with another log: ${other.code} ${other.err}`);
  daemon.disk.makeWritable();
}

/** What the journal of the file system had not committed is gone; nothing that was acknowledged may be among it. */
async function givenUp(context: PointContext): Promise<void> {
  const { daemon, session } = context;
  for (let turns = 0; turns < 5; turns++) await sendInput(context, `hi ${words(2_000)}`);
  const turn = sendInput(context, "slow work");
  await seen(context, "ToolIntent");
  daemon.disk.makeReadOnly();
  await turn;
  context.expectRefusal("an input", await daemon.input(session, "hello"));
  if (daemon.ended() !== undefined) return;
  const ended = await daemon.stop();
  if (!/code [01], signal null/.test(ended)) context.fail(`it did not stop: ${ended}`);
  daemon.disk.makeWritable();
  const problem = await daemon.start();
  if (problem !== undefined) context.fail(`it does not start afterwards: ${problem}`);
  await daemon.ask("POST", "/v1/sessions", { resume: session });
  // What the call did could not be recorded any more: a person says it.
  const { payload } = await seen(context, "ToolIntent");
  const resolve = { kind: "ResolveOrphan", call_id: payload.call_id, resolution: "failed" };
  const resolved = await daemon.ask("POST", `/v1/sessions/${session}/commands`, resolve);
  if (resolved.status !== 202) context.fail(`the call is not put to a person: ${JSON.stringify(resolved.json)}`);
}
