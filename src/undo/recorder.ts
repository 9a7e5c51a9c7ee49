/**
 * Tool middleware: a snapshot before each mutating call of what it may touch, a change set after it. A call that cannot be
 * snapshotted does not run. Mutating calls of a session run one at a time here, so that a change has one cause.
 */

import { basename, dirname, join, resolve } from "node:path";
import { defined, EffectError, type FilePort, messageOf, once } from "#base";
import { type CallResult, refusal, type ToolCall, type ToolMiddleware } from "#engine";
import { type CallId, storeFailure } from "#protocol";
import { factsOf } from "#tools";
import type { ChangeSet } from "./change-set.ts";
import type { UndoStore } from "./undo-store.ts";
import type { CallTracker, PendingChange } from "./workspace-undo.ts";

/** Where to look when it is not known what a call touches: everywhere. */
const WHOLE_WORKSPACE = [""];
const NOTE_MAX_PATHS = 20;
const NOTE_MAX_PATH_CHARS = 200;

export function createUndoRecorder(store: UndoStore, files: FilePort): ToolMiddleware {
  let tracker: CallTracker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  /** Calls that run now, and those inside them, each with those inside it that have not ended. */
  const running = new Map<CallId, Set<Promise<unknown>>>();
  /** What background commands change is recorded until another call is, which could not be told apart from it. */
  let besides: (() => Promise<void>)[] = [];
  /** Delegations that were made inside a running call, and that call: what their delegates do is inside it while it runs. */
  const delegated = new Map<CallId, CallId>();

  /** The running call that a call is inside of. */
  function around({ parent }: ToolCall): CallId | undefined {
    let id = parent;
    while (id !== undefined && !running.has(id)) id = delegated.get(id);
    return id;
  }

  async function begin(call: ToolCall): Promise<PendingChange> {
    tracker ??= store.workspace(files.root).tracker();
    return tracker.begin(call, await touchedPaths(call, files));
  }

  async function recorded(call: ToolCall, next: (call: ToolCall) => Promise<CallResult>): Promise<CallResult> {
    let pending: PendingChange;
    try {
      for (const finish of besides.splice(0)) await finish();
      pending = await begin(call);
    } catch (error) {
      const endsTurn = storeFailure(error);
      if (endsTurn === undefined) return refusal("error", "ToolFailed", refusalText(call, messageOf(error)));
      return { ...refusal("error", "StoreFailed", refusalText(call, endsTurn.message)), endsTurn };
    }
    let result: CallResult;
    try {
      result = await next(call);
      const unfinished = running.get(call.id);
      if (unfinished !== undefined) await Promise.allSettled(unfinished);
    } catch (error) {
      // It may have changed something all the same; its own failure is the one to tell.
      await pending.finish().catch(() => undefined);
      throw error;
    }
    if (call.beside?.isOn === true && !call.beside.isOver) {
      recordBeside(call.beside, pending);
      return result;
    }
    try {
      const set = await pending.finish();
      return result.outcome === "cancelled" ? withNote(result, changedNote(set)) : result;
    } catch (error) {
      const endsTurn = storeFailure(error);
      const text = `[harness undo does not know what this call changed: ${messageOf(endsTurn ?? error)}]`;
      return { ...withNote(result, text), ...defined({ endsTurn }) };
    }
  }

  function recordBeside(beside: NonNullable<ToolCall["beside"]>, pending: PendingChange): void {
    const finish = once(async () => void (await pending.finish()));
    besides.push(finish);
    beside.onEnd = () => {
      // Another call has ended the record, and may be running now.
      if (!besides.includes(finish)) return finish();
      besides = besides.filter((one) => one !== finish);
      // In its place among the calls: a snapshot in the middle of one would see half of it.
      const done = last.then(finish);
      last = done.catch(() => undefined); // told to whoever records the end of the command
      return done;
    };
  }

  async function inside(call: ToolCall, run: () => Promise<CallResult>): Promise<CallResult> {
    running.set(call.id, new Set());
    try {
      return await run();
    } finally {
      running.delete(call.id);
      for (const [delegation, outer] of delegated) if (outer === call.id) delegated.delete(delegation);
    }
  }

  /** Part of what another call changes, which ends after it. */
  async function within(outer: CallId, call: ToolCall, run: () => Promise<CallResult>): Promise<CallResult> {
    if (call.tool.relays === true) {
      // It changes nothing itself, and whoever it was given to may work longer than the call around it.
      delegated.set(call.id, outer);
      return run();
    }
    const siblings = running.get(outer);
    const done = inside(call, run);
    siblings?.add(done);
    try {
      return await done;
    } finally {
      siblings?.delete(done);
    }
  }

  return (call, next) => {
    // A call inside another one is part of what that one changes; to wait for it to end would be to wait forever.
    const outer = around(call);
    if (outer !== undefined) return within(outer, call, () => next(call));
    // A delegation changes nothing itself: its delegate's calls come by one by one.
    if (call.tool.class !== "mutating" || call.tool.relays === true) return next(call);
    // A command that nobody was asked about runs where it can change nothing.
    if (call.judged?.confinement === "reader") return next(call);
    const done = last.then(() => inside(call, () => recorded(call, next)));
    last = done.catch(() => undefined); // told to whoever called; here only the order counts
    return done;
  };
}

function withNote(result: CallResult, text: string): CallResult {
  return { ...result, content: [...result.content, { type: "text", text }] };
}

/** What a call that was cut off had done by then; quoted, so that a name cannot pass for a sentence of ours. */
function changedNote(set: ChangeSet | undefined): string {
  const paths = [...(set?.files ?? []), ...(set?.uncovered ?? [])].map(({ path }) => path);
  const shown = paths.slice(0, NOTE_MAX_PATHS).map((path) => JSON.stringify(path.slice(0, NOTE_MAX_PATH_CHARS)));
  const more = paths.length > shown.length ? `, ${paths.length - shown.length} more` : "";
  if (shown.length === 0) return "[harness undo: it had changed nothing in the workspace when it ended]";
  return `[harness undo: until it ended it had changed ${shown.join(", ")}${more}]`;
}

function refusalText(call: ToolCall, why: string): string {
  return `${call.tool.label} did not run: Harness could not save the files that it would change, so undo would not work (${why}). Fix that, or turn undo off.`;
}

/** Real paths relative to the workspace, each the topmost that does not exist yet, so that new parents count too. */
async function touchedPaths({ tool, args }: ToolCall, files: FilePort): Promise<readonly string[]> {
  const named = factsOf(tool.name)?.paths;
  if (named === undefined) return WHOLE_WORKSPACE;
  const paths: string[] = [];
  for (const { name, means } of named) {
    const given = args[name];
    if (typeof given !== "string") return WHOLE_WORKSPACE;
    try {
      const path = means === "target" ? await files.locate(given) : await locateEntry(given, files);
      paths.push(path === "." ? "" : await topmostMissing(path, files));
    } catch (error) {
      // The tool will most likely be refused as well; if it is not, nothing it does goes unseen.
      if (error instanceof EffectError) return WHOLE_WORKSPACE;
      throw error;
    }
  }
  return paths;
}

async function locateEntry(path: string, files: FilePort): Promise<string> {
  const absolute = resolve(files.root, path);
  if (absolute === files.root) return ".";
  return join(await files.locate(dirname(absolute)), basename(absolute));
}

async function topmostMissing(path: string, files: FilePort): Promise<string> {
  let missing = path;
  for (let parent = dirname(missing); parent !== "."; parent = dirname(parent)) {
    if ((await files.stat(parent)) === undefined) missing = parent;
    else break;
  }
  return missing;
}
