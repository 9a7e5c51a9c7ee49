/**
 * Which tools of a server's list may be offered: those of its first list, and after that what somebody has approved. A tool with other
 * words or another schema than before waits, and so does a new one: a server could put its instructions into either.
 */
import type { McpServer } from "#artifacts";
import { type Clock, canonicalJson, defined } from "#base";
import { isSameTool, type KeptBesides, type KeptTools, type ToolKeeper } from "./kept-tools.ts";
import type { ListedTool } from "./tool-list.ts";

/** Servers add tools in the moment after they were connected: those belong to the first list. */
const FIRST_LIST_MS = 5_000;

export interface ApprovedTools {
  /** From an earlier connection; undefined until the server was connected for the first time. */
  readonly known: ListedTools | undefined;
  /** What the server lists now. Keeps it. */
  update(listed: readonly ListedTool[]): ListedTools;
  /** The same list after somebody may have approved it. */
  again(): ListedTools;
  /** As it was when the server was connected last. */
  readonly besides: KeptBesides;
  /** What the server has besides its tools. Keeps it with them. */
  updateBesides(besides: KeptBesides): void;
}

export interface ListedTools {
  /** The same objects as before for tools that have not changed. */
  readonly offered: readonly ListedTool[];
  readonly waiting: readonly ListedTool[];
}

export function createApprovedTools(server: McpServer, keeper: ToolKeeper, clock: Clock): ApprovedTools {
  const first = keeper.read(server);
  let kept: KeptTools = first ?? { approved: [], waiting: [], absent: [] };
  let isNew = first === undefined;
  let firstUntilMs = Number.NEGATIVE_INFINITY;
  let last: readonly ListedTool[] | undefined;

  function update(listed: readonly ListedTool[]): ListedTools {
    refresh();
    last = listed;
    // A server without tools, for want of a login for example, has not shown its first list yet.
    if (isNew && listed.length === 0) return { offered: [], waiting: [] };
    const nowMs = clock.monotonicMs();
    if (isNew) firstUntilMs = nowMs + FIRST_LIST_MS;
    isNew = false;
    const isFirst = nowMs <= firstUntilMs;
    const approved = byName(kept.approved);
    const absent = new Set(approved.keys());
    const offered: ListedTool[] = [];
    const waiting: ListedTool[] = [];
    for (const tool of listed) {
      absent.delete(tool.name);
      const before = approved.get(tool.name);
      if (before === undefined && isFirst) approved.set(tool.name, tool);
      if (before === undefined ? isFirst : isSameTool(before, tool)) offered.push(before ?? tool);
      else waiting.push(tool);
    }
    keep({ ...kept, approved: [...approved.values()], waiting, absent: [...absent] });
    return { offered, waiting };
  }

  function keep(next: KeptTools): void {
    const isSame = isSameList(next.approved, kept.approved) && isSameList(next.waiting, kept.waiting);
    const before = kept;
    kept = next;
    if (!isSame || next.absent.join() !== before.absent.join()) keeper.write(server, next);
  }

  /** Another process may have written what somebody approved there. */
  function refresh(): void {
    const now = keeper.read(server);
    if (now === undefined) return;
    isNew = false;
    const before = byName(kept.approved);
    kept = { ...now, approved: now.approved.map((tool) => sameAs(before.get(tool.name), tool)) };
  }

  return {
    known: first && knownOf(first),
    besides: besidesOf(kept),
    update,
    updateBesides(besides) {
      // Written with the first list of tools: without one, the server is not known.
      if (canonicalJson(besidesOf(kept)) === canonicalJson(besides)) return;
      if (!isNew) refresh();
      const { approved, waiting, absent } = kept;
      kept = { approved, waiting, absent, ...besides };
      if (!isNew) keeper.write(server, kept);
    },
    again() {
      if (last !== undefined) return update(last);
      refresh();
      return knownOf(kept);
    },
  };
}

function besidesOf({ hasResources = false, prompts }: KeptTools): KeptBesides {
  return { hasResources, ...defined({ prompts }) };
}

/** As it was when the server was connected last. */
function knownOf({ approved, waiting, absent }: KeptTools): ListedTools {
  const hidden = new Set([...absent, ...waiting.map(({ name }) => name)]);
  return { offered: approved.filter(({ name }) => !hidden.has(name)), waiting };
}

/** As one file of the approvals looks after somebody has approved what waits. */
export function approveWaiting({ approved, waiting, absent, ...besides }: KeptTools): KeptTools {
  return { ...besides, approved: [...byName([...approved, ...waiting]).values()], waiting: [], absent };
}

function byName(tools: readonly ListedTool[]): Map<string, ListedTool> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

function sameAs(before: ListedTool | undefined, tool: ListedTool): ListedTool {
  return before !== undefined && isSameTool(before, tool) ? before : tool;
}

export function isSameList(one: readonly ListedTool[], other: readonly ListedTool[]): boolean {
  return one.length === other.length && one.every((tool, at) => isSameTool(tool, other[at]!));
}
