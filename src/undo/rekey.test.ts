/** What undo keeps moves to another key whole, and goes with the session it belongs to. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createUndoRig, readTree, type UndoRig, type UndoRigOptions } from "../../test/fakes/undo-rig.ts";
import { forgetSession } from "./forget.ts";
import { rekeyUndo } from "./rekey.ts";

const NEW_KEY = Buffer.alloc(32, 8);

function openRig(options: UndoRigOptions = {}): UndoRig {
  const rig = createUndoRig(options);
  onTestFinished(() => rig.dispose());
  return rig;
}

async function changed(): Promise<UndoRig> {
  const rig = openRig();
  writeFileSync(join(rig.root, "a.txt"), "one");
  await rig.call("exec", { command: "printf two > a.txt; mkdir d; printf new > d/new" });
  return rig;
}

const rekey = (rig: UndoRig, from: Uint8Array = rig.key, to: Uint8Array = NEW_KEY) =>
  rekeyUndo({ directory: rig.storeDirectory, from, to });

describe("another key", () => {
  test("opens everything, and the old one nothing", async () => {
    const rig = await changed();
    const moved = rekey(rig);
    moved.finish();
    expect(moved).toMatchObject({ moved: 1, unreadable: 0 });
    expect(readdirSync(rig.storeDirectory)).toHaveLength(1);
    expect(createUndoRig({ after: rig }).workspace.read()).toMatchObject({ sets: [] });
    const later = createUndoRig({ after: rig, key: NEW_KEY });
    expect(await later.undo()).toMatchObject({ outcome: "done" });
    expect(readTree(rig.root)).toEqual(
      new Map([["a.txt", expect.stringContaining(Buffer.from("one").toString("base64"))]]),
    );
    expect(await later.redo()).toMatchObject({ outcome: "done" });
    expect(readFileSync(join(rig.root, "d/new"), "utf8")).toBe("new");
  });

  test("keeps a change by somebody else a conflict, and a call that was cut off one", async () => {
    const rig = await changed();
    const call = { id: rig.mintCall(), session: rig.session, turn: rig.newTurn(), tool: { name: "exec" } };
    await rig.workspace.tracker().begin(call, [""]);
    rekey(rig).finish();
    writeFileSync(join(rig.root, "a.txt"), "mine");
    const later = createUndoRig({ after: rig, key: NEW_KEY });
    expect(await later.undo()).toMatchObject({
      outcome: "refused",
      conflicts: [{ path: "a.txt" }],
      interrupted: [{ call: call.id }],
    });
  });

  test("can be given up, or begun again, without a loss", async () => {
    const rig = await changed();
    const before = readdirSync(rig.storeDirectory);
    rekey(rig).abandon();
    expect(readdirSync(rig.storeDirectory)).toEqual(before);
    rekey(rig); // and the program stopped here
    const again = rekey(rig);
    again.finish();
    expect(again.moved).toBe(1);
    expect(rekey(rig)).toMatchObject({ moved: 0, unreadable: 0 });
    expect(await createUndoRig({ after: rig, key: NEW_KEY }).undo()).toMatchObject({ outcome: "done" });
  });

  test("that cannot be written leaves all as it was", async () => {
    const rig = await changed();
    const [name = ""] = readdirSync(rig.storeDirectory);
    const sets = join(rig.storeDirectory, name, "sets", rig.session);
    const [call = ""] = readdirSync(sets);
    // A folder where a file should be: reading it fails half way.
    const set = readFileSync(join(sets, call));
    rmSync(join(sets, call));
    mkdirSync(join(sets, call));
    expect(() => rekey(rig)).toThrow(/EISDIR/);
    expect(readdirSync(rig.storeDirectory)).toEqual([name]);
    rmSync(join(sets, call), { recursive: true });
    writeFileSync(join(sets, call), set);
    expect(await rig.undo()).toMatchObject({ outcome: "done" });
  });

  test("counts what opens under neither", async () => {
    const rig = await changed();
    expect(rekey(rig, Buffer.alloc(32, 1), Buffer.alloc(32, 2))).toMatchObject({ moved: 0, unreadable: 1 });
    expect(await rig.undo()).toMatchObject({ outcome: "done" });
  });
});

describe("a session that is deleted", () => {
  const objects = (rig: UndoRig): number => {
    const [name = ""] = readdirSync(rig.storeDirectory);
    const directory = join(rig.storeDirectory, name, "objects");
    return readdirSync(directory).flatMap((shard) => readdirSync(join(directory, shard))).length;
  };

  test("takes its changes and contents along, and nothing of another", async () => {
    const rig = await changed();
    const other = createUndoRig({ after: rig });
    await other.call("exec", { command: "printf theirs > b.txt" });
    other.newTurn();
    await other.call("exec", { command: "rm b.txt" });
    const place = { directory: rig.storeDirectory, key: rig.key };
    expect(forgetSession(place, rig.session)).toBe(1);
    expect(rig.workspace.read(rig.session)).toMatchObject({ sets: [], open: [] });
    expect(objects(rig)).toBe(1);
    const later = createUndoRig({ after: rig });
    expect(await later.undo()).toMatchObject({ outcome: "done", session: other.session });
    expect(readFileSync(join(rig.root, "b.txt"), "utf8")).toBe("theirs");
    expect(forgetSession(place, rig.session)).toBe(0);
    expect(forgetSession(place, other.session)).toBe(1);
    expect(objects(rig)).toBe(0);
    await later.call("exec", { command: "printf three > a.txt" });
    expect(await later.undo()).toMatchObject({ outcome: "done" });
    expect(readFileSync(join(rig.root, "a.txt"), "utf8")).toBe("two");
  });

  test("of which nothing was kept is no trouble", () => {
    const rig = openRig();
    const directory = join(rig.root, "none");
    expect(forgetSession({ directory, key: rig.key }, rig.session)).toBe(0);
    expect(existsSync(directory)).toBe(false);
  });
});

test("a command that is cancelled says what it had changed", async () => {
  const rig = openRig();
  const stop = new AbortController();
  const running = rig.call("exec", { command: "printf x > made; sleep 60" }, stop.signal);
  while (!existsSync(join(rig.root, "made"))) await new Promise((resume) => setImmediate(resume));
  stop.abort();
  const { outcome, reason, content } = await running;
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  expect([outcome, reason]).toEqual(["cancelled", "BashCancelledMidCommand"]);
  expect(text).toContain("harness undo --dry-run names them");
  expect(text).toContain('[harness undo: until it ended it had changed "made"]');
});
