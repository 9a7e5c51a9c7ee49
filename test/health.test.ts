/** `/health` in a session: a row for each part that can fail, also for those that only a daemon has. */
import { expect, test } from "vitest";
import type { DaemonSeen } from "#program";
import { createHarnessRig, type RigOptions } from "./fakes/harness-rig.ts";

async function health(options: RigOptions = {}): Promise<readonly string[]> {
  const rig = await createHarnessRig([], options);
  const { result } = await rig.submit({ kind: "RunSlashCommand", namespace: "", name: "health", args: {} });
  return (result.text ?? "").split("\n").map((line) => line.trim());
}

test("has the engine, the control plane and the stored keys, where nobody listens", async () => {
  expect(await health()).toEqual(
    expect.arrayContaining([
      "engine: ok: 1 session open, 0 running",
      "control_plane: none: this process listens on no address",
      "store: ok",
      "credential_helper: in this process",
      "credential_store: none",
      "mcp_servers: none",
      "sandbox: not tried",
    ]),
  );
});

test("has what a daemon knows of itself, and is without it until it listens", async () => {
  const seen: DaemonSeen = {
    watch: { sandbox: () => undefined, providers: () => ({}) },
    log: { counters: () => ({ written: 0, withheld: 0, lost: 0, rotations: 0 }) as never },
    store: "sqlite",
    retention: () => ({ state: "ok" }),
    listeners: () => ["unix:/run/h.sock", "127.0.0.1:8350"],
  };
  expect(await health({ daemonSeen: () => seen })).toEqual(
    expect.arrayContaining(["control_plane: listening: unix:/run/h.sock, 127.0.0.1:8350", "retention: ok", "log: ok"]),
  );
  expect(await health({ daemonSeen: () => undefined })).not.toContain("log: ok");
});
