/** A yes is bound to what was there when it was asked for: whatever changes before the call runs makes it void. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defined } from "#base";
import { createSystemClock } from "#world";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import type { TemporaryWorkspace } from "./fakes/temporary-workspace.ts";

interface Case {
  readonly prepare?: (workspace: TemporaryWorkspace) => void;
  readonly call: readonly [name: string, args: Record<string, unknown>];
  readonly change: (at: (path: string) => string, outside: (path: string) => string) => void;
}

const MARK = "echo ran >> ran.txt";
const SWAPPED = "echo swapped >> ran.txt";

const script =
  (path: string, text = MARK) =>
  (workspace: TemporaryWorkspace) =>
    chmodSync(workspace.put(path, `#!/bin/sh\n${text}\n`), 0o755);

function program(workspace: TemporaryWorkspace, path: string, text = MARK): void {
  const file = join(workspace.outside, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

const bash = (command: string): Case["call"] => ["exec", { command }];
const swap = (path: string) => (at: (path: string) => string) => writeFileSync(at(path), `#!/bin/sh\n${SWAPPED}\n`);

/** In each, the call runs when nothing changes, and does not when this does. */
const cases: Readonly<Record<string, Case>> = {
  "the script is rewritten": { prepare: script("run.sh"), call: bash("bash run.sh"), change: swap("run.sh") },
  "the script grows by one byte": {
    prepare: script("run.sh"),
    call: bash("bash run.sh"),
    change: (at) => writeFileSync(at("run.sh"), `${readFileSync(at("run.sh"), "utf8")}\n`),
  },
  "the script is replaced by another file": {
    prepare: script("run.sh"),
    call: bash("sh ./run.sh"),
    change(at) {
      writeFileSync(at("other.sh"), SWAPPED);
      renameSync(at("other.sh"), at("run.sh"));
    },
  },
  "the script becomes a link": {
    prepare: script("run.sh"),
    call: bash("bash run.sh"),
    change(at) {
      renameSync(at("run.sh"), at("moved.sh"));
      symlinkSync("moved.sh", at("run.sh"));
    },
  },
  "the link to the script is turned": {
    prepare(workspace) {
      script("one.sh")(workspace);
      script("two.sh", SWAPPED)(workspace);
      symlinkSync("one.sh", join(workspace.root, "run.sh"));
    },
    call: bash("bash run.sh"),
    change(at) {
      unlinkSync(at("run.sh"));
      symlinkSync("two.sh", at("run.sh"));
    },
  },
  "the mode of the script changes": {
    prepare: script("run.sh"),
    call: bash("bash run.sh"),
    change: (at) => chmodSync(at("run.sh"), 0o4755),
  },
  "the script that is the program is rewritten": {
    prepare: script("run.sh"),
    call: bash("./run.sh"),
    change: swap("run.sh"),
  },
  "a script in a folder that the command goes to is rewritten": {
    prepare: script("tools/run.sh", "echo ran >> ../ran.txt"),
    call: bash("cd tools && sh run.sh"),
    change: swap("tools/run.sh"),
  },
  "a program in a folder that the command goes to is rewritten": {
    prepare: script("tools/run.sh", "echo ran >> ../ran.txt"),
    call: bash("cd tools && ./run.sh"),
    change: swap("tools/run.sh"),
  },
  "a script that a pattern finds is rewritten": {
    prepare: script("tools/run.sh"),
    call: bash("sh tools/*.sh"),
    change: swap("tools/run.sh"),
  },
  "a script appears where a pattern looks": {
    prepare: script("tools/run.sh"),
    call: bash("for f in tools/*.sh; do sh $f; done"),
    change: (at) => writeFileSync(at("tools/aaa.sh"), SWAPPED),
  },
  "the makefile of another folder is rewritten": {
    prepare: (workspace) => workspace.put("tools/Makefile", `all:\n\techo ran >> ../ran.txt\n`),
    call: bash("make -C tools"),
    change: (at) => writeFileSync(at("tools/Makefile"), `all:\n\techo swapped >> ../ran.txt\n`),
  },
  "a module that is named without its file is rewritten": {
    prepare: (workspace) => workspace.put("tools/build.py", `open("ran.txt", "a").write("ran\\n")\n`),
    call: bash("python3 -m tools.build"),
    change: (at) => writeFileSync(at("tools/build.py"), `open("ran.txt", "a").write("swapped\\n")\n`),
  },
  "a script that is named without its ending is rewritten": {
    prepare: (workspace) => workspace.put("tools/build.js", `require("fs").appendFileSync("ran.txt", "ran\\n")\n`),
    call: bash("node tools/build"),
    change: (at) => writeFileSync(at("tools/build.js"), `require("fs").appendFileSync("ran.txt", "swapped\\n")\n`),
  },
  "a sourced file is rewritten": { prepare: script("lib.sh"), call: bash(". ./lib.sh"), change: swap("lib.sh") },
  "a script inside sh -c is rewritten": {
    prepare: script("inner.sh"),
    call: bash("sh -c 'sh inner.sh'"),
    change: swap("inner.sh"),
  },
  "a script behind wrappers is rewritten": {
    prepare: script("inner.sh"),
    call: bash("env A=1 timeout 5 nice sh inner.sh"),
    change: swap("inner.sh"),
  },
  "the file on standard input is rewritten": {
    prepare: script("in.sh"),
    call: bash("sh < in.sh"),
    change: swap("in.sh"),
  },
  "the second script of a list is rewritten": {
    prepare(workspace) {
      script("one.sh", "true")(workspace);
      script("two.sh")(workspace);
    },
    call: bash("sh one.sh && sh two.sh"),
    change: swap("two.sh"),
  },
  "the makefile named by an option is rewritten": {
    prepare: (workspace) => void workspace.put("build.mk", `all:\n\t@${MARK}\n`),
    call: bash("make -s --file=build.mk all"),
    change: (at) => writeFileSync(at("build.mk"), `all:\n\t@${SWAPPED}\n`),
  },
  "the makefile that nobody names is rewritten": {
    prepare: (workspace) => void workspace.put("Makefile", `all:\n\t@${MARK}\n`),
    call: bash("make -s all"),
    change: (at) => writeFileSync(at("Makefile"), `all:\n\t@${SWAPPED}\n`),
  },
  "a makefile appears that wins": {
    prepare: (workspace) => void workspace.put("Makefile", `all:\n\t@${MARK}\n`),
    call: bash("make -s all"),
    change: (at) => writeFileSync(at("GNUmakefile"), `all:\n\t@${SWAPPED}\n`),
  },
  "package.json is rewritten": {
    prepare: (workspace) => void workspace.put("package.json", JSON.stringify({ scripts: { go: MARK } })),
    call: bash("npm run --silent go"),
    change: (at) => writeFileSync(at("package.json"), JSON.stringify({ scripts: { go: SWAPPED } })),
  },
  "the program is rewritten": {
    prepare: (workspace) => program(workspace, "bin/mytool"),
    call: bash("mytool"),
    change: (_at, outside) => writeFileSync(outside("bin/mytool"), `#!/bin/sh\n${SWAPPED}\n`),
  },
  "another program of that name comes first": {
    prepare: (workspace) => program(workspace, "bin/mytool"),
    call: bash("mytool"),
    change(_at, outside) {
      mkdirSync(outside("first"), { recursive: true });
      writeFileSync(outside("first/mytool"), `#!/bin/sh\n${SWAPPED}\n`, { mode: 0o755 });
    },
  },
  "the link to the program is turned": {
    prepare(workspace) {
      program(workspace, "bin/one");
      program(workspace, "bin/two", SWAPPED);
      symlinkSync("one", join(workspace.outside, "bin/mytool"));
    },
    call: bash("mytool"),
    change(_at, outside) {
      unlinkSync(outside("bin/mytool"));
      symlinkSync("two", outside("bin/mytool"));
    },
  },
  "the program is gone": {
    prepare: (workspace) => program(workspace, "bin/mytool"),
    call: bash("mytool"),
    change: (_at, outside) => unlinkSync(outside("bin/mytool")),
  },
  "the folder becomes a link": {
    prepare(workspace) {
      script("work/run.sh")(workspace);
      script("evil/run.sh", "echo swapped >> ../ran.txt")(workspace);
    },
    call: ["exec", { command: "sh run.sh && mv ran.txt ..", cwd: "work" }],
    change(at) {
      renameSync(at("work"), at("kept"));
      symlinkSync("evil", at("work"));
    },
  },
  "an operand that was nothing becomes a file": {
    prepare: script("run.sh"),
    call: bash("sh run.sh later.txt"),
    change: (at) => writeFileSync(at("later.txt"), "x"),
  },
  "the file to be overwritten changes": {
    prepare: (workspace) => void workspace.put("ran.txt", "before"),
    call: ["fs_write", { path: "ran.txt", content: "ran\n" }],
    change: (at) => writeFileSync(at("ran.txt"), "human work"),
  },
  "a file appears where a new one was to be written": {
    call: ["fs_write", { path: "ran.txt", content: "ran\n" }],
    change: (at) => writeFileSync(at("ran.txt"), "human work"),
  },
  "the folder of the new file becomes a link": {
    prepare(workspace) {
      workspace.put("a/keep", "");
      workspace.put("b/keep", "");
    },
    call: ["fs_write", { path: "a/ran.txt", content: "ran\n" }],
    change(at) {
      rmSync(at("a"), { recursive: true });
      symlinkSync("b", at("a"));
    },
  },
  "the file to be edited changes": {
    prepare: (workspace) => void workspace.put("ran.txt", "old"),
    call: ["fs_edit", { path: "ran.txt", old_text: "old", new_text: "ran" }],
    change: (at) => writeFileSync(at("ran.txt"), "old but longer"),
  },
  "the file to be moved changes": {
    prepare: (workspace) => void workspace.put("from.txt", "ran"),
    call: ["fs_move", { from: "from.txt", to: "ran.txt" }],
    change: (at) => writeFileSync(at("from.txt"), "swapped"),
  },
  "the file to be removed changes": {
    prepare: (workspace) => void workspace.put("gone.txt", "old"),
    call: ["fs_remove", { path: "gone.txt" }],
    change: (at) => writeFileSync(at("gone.txt"), "human work"),
  },
};

async function approve(one: Case, between?: (rig: HarnessRig) => void): Promise<HarnessRig> {
  const rig = await createHarnessRig([calls(one.call), says("done")], {
    interactive: true,
    // Programs of the test lie where commands in the sandbox see nothing.
    settings: { sandbox: "off" },
    programFolders: ["first", "bin"],
    ...defined({ prepare: one.prepare }),
  });
  const turn = rig.send();
  const { call_id } = await rig.next("PermissionRequested");
  between?.(rig);
  await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" });
  await turn;
  return rig;
}

describe.each(Object.entries(cases))("%s", (_name, one) => {
  test("after the yes: the call does not run", async () => {
    let before = "";
    const state = ({ workspace: { root } }: HarnessRig) =>
      ["ran.txt", "a/ran.txt", "b/ran.txt", "gone.txt", "from.txt"]
        .map((file) => `${file}=${existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "-"}`)
        .join("\n");
    const rig = await approve(one, (made) => {
      one.change(
        (path) => join(made.workspace.root, path),
        (path) => join(made.workspace.outside, path),
      );
      before = state(made);
    });
    expect(rig.of("ToolResult")).toMatchObject([{ is_error: true, reason: "ApprovalVoid" }]);
    expect(rig.of("ToolOutcome")[0]?.effects ?? []).toEqual([]);
    expect(state(rig)).toBe(before);
  });

  test("without it: the call runs", async () => {
    const rig = await approve(one);
    expect(rig.of("ToolResult")).toMatchObject([{ is_error: false }]);
    expect(rig.of("PermissionAnswered")).toMatchObject([
      { approval: { scope: "call", bound_to: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    ]);
    expect(rig.of("ToolOutcome")[0]?.effects).toHaveLength(1);
  });
});

describe("an answer", () => {
  const write: Case = { call: ["fs_write", { path: "ran.txt", content: "ran\n" }], change: () => undefined };

  test("given twice counts once", async () => {
    const rig = await approve(write);
    const [{ call_id } = { call_id: "" }] = rig.of("PermissionRequested");
    await rig.submit({ kind: "AnswerPermission", call_id: call_id as never, decision: "allow_once" });
    expect(rig.of("PermissionAnswered")).toHaveLength(1);
    expect(rig.of("AnswerTooLate")).toMatchObject([{ call_id, decision: "allow_once", by: rig.client.id }]);
    expect(rig.of("ToolOutcome")).toHaveLength(1);
  });

  test.each([
    ["exec", { command: "git push origin main" }, "folder:.", "sensitive"],
    ["exec", { command: "cd a && npm publish", cwd: "pkg" }, "folder:pkg", "sensitive"],
    ["exec", { command: "curl https://example.com" }, "folder:.", "sensitive"],
    ["exec", { command: "mkdir a && git commit -m x" }, "folder:.", "mutating"],
    ["fs_write", { path: "ran.txt", content: "ran\n" }, "path:ran.txt", "mutating"],
    ["web_fetch", { url: "https://example.com:8443/a" }, "host:example.com:8443", "sensitive"],
  ])("to %s %j is asked for with its scope, class and end", async (name, args, scope, grade) => {
    const rig = await createHarnessRig([calls([name, args]), says("done")], {
      interactive: true,
      settings: { sandbox: "off" },
      prepare: (workspace) => void workspace.put("pkg/a/x", ""),
    });
    const beganMs = Date.now();
    const turn = rig.send();
    const { call_id, ...asked } = await rig.next("PermissionRequested");
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "deny" });
    await turn;
    expect(asked).toMatchObject({ request_id: call_id, action: name.replace("_", "."), scope, class: grade });
    expect(Date.parse(asked.expires_at ?? "")).toBeGreaterThan(beganMs);
  });

  test("given in another session is no answer", async () => {
    const rig = await createHarnessRig([calls(write.call), says("done")], { interactive: true });
    const other = await rig.client.submit({ kind: "CreateSession" });
    const turn = rig.send();
    const { call_id } = await rig.next("PermissionRequested");
    const foreign = {
      kind: "AnswerPermission",
      session: other.session as never,
      call_id,
      decision: "allow_once",
    } as const;
    await expect(rig.client.submit(foreign)).rejects.toMatchObject({ reason: "CallNotFound" });
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "deny" });
    await turn;
    expect(existsSync(join(rig.workspace.root, "ran.txt"))).toBe(false);
  });

  test("that has expired when the call runs is none", async () => {
    const system = createSystemClock();
    let later = 0;
    const clock = { ...system, monotonicMs: () => system.monotonicMs() + later };
    const rig = await createHarnessRig([calls(write.call), says("done")], { interactive: true, clock });
    const unsubscribe = rig.harness.control.session(rig.session)?.bus.subscribe((event) => {
      if (event.kind === "PermissionAnswered") later = 3_600_000;
    });
    const turn = rig.send();
    const { call_id } = await rig.next("PermissionRequested");
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" });
    await turn;
    unsubscribe?.();
    expect(rig.of("ToolResult")).toMatchObject([{ is_error: true, reason: "ApprovalVoid" }]);
    expect(existsSync(join(rig.workspace.root, "ran.txt"))).toBe(false);
  });

  test.each([25 * 3_600_000, -3_600_000])("holds when the wall clock steps by %i ms after it", async (stepMs) => {
    const system = createSystemClock();
    let step = 0;
    const clock = { ...system, now: () => system.now() + step };
    const rig = await createHarnessRig([calls(write.call), says("done")], { interactive: true, clock });
    const unsubscribe = rig.harness.control.session(rig.session)?.bus.subscribe((event) => {
      if (event.kind === "PermissionAnswered") step = stepMs;
    });
    const turn = rig.send();
    const { call_id } = await rig.next("PermissionRequested");
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" });
    await turn;
    unsubscribe?.();
    expect(rig.of("ToolResult")).toMatchObject([{ is_error: false }]);
    expect(existsSync(join(rig.workspace.root, "ran.txt"))).toBe(true);
  });
});
