/**
 * Compares what was mounted in a sandbox with what was meant, before the command begins. Bubblewrap follows links, and another command
 * that works in the same workspace can put one there after the policy was made: the folder that it leads to would be mounted instead.
 */
import { readFileSync } from "node:fs";
import type { SandboxPolicy } from "./sandbox.ts";

interface MountedPlace {
  readonly device: string;
  /** Of the file system. */
  readonly path: string;
}

interface MountLine extends MountedPlace {
  readonly id: string;
  /** On what it is mounted. */
  readonly parent: string;
  readonly point: string;
}

/** A mount in the workspace that shows something else; undefined when all are what they should be. `pid` is any process inside. */
export function misplacedMount(pid: number, policy: SandboxPolicy): string | undefined {
  const [outside, inside] = [mountLines("self"), mountLines(String(pid))];
  const files = policy.held.filter(({ placeholder }) => placeholder !== "folder").map(({ path }) => path);
  const shown = [...policy.writable, ...policy.pinned, ...policy.readOnly, ...files].find((path) => {
    const meant = placeOf(path, outside);
    const found = mountAt(path, inside);
    return found?.point !== path || meant?.device !== found.device || meant.path !== found.path;
  });
  // Covered by something empty: what matters is that it stands there and not where a link led.
  const folders = policy.held.filter(({ placeholder }) => placeholder === "folder");
  const replaced = policy.replaced.map(({ to }) => ({ path: to }));
  const covered = [...folders, ...replaced, ...policy.hidden.filter(({ path }) => path.startsWith(`${policy.root}/`))];
  return shown ?? covered.find(({ path }) => mountAt(path, inside)?.point !== path)?.path;
}

function mountLines(process: string): readonly MountLine[] {
  const lines = readFileSync(`/proc/${process}/mountinfo`, "utf8").split("\n");
  return lines.flatMap((line) => {
    const [id = "", parent = "", device = "", path = "", point = ""] = line.split(" ");
    return point === "" ? [] : [{ id, parent, device, path: plain(path), point: plain(point) }];
  });
}

/** The mount that a path leads to, which is looked for from the top: a mount on a folder hides those that were below it. */
function mountAt(path: string, lines: readonly MountLine[]): MountLine | undefined {
  const ids = new Set(lines.map(({ id }) => id));
  const around = lines.filter(({ point }) => point === "/" || path === point || path.startsWith(`${point}/`));
  let found = around.find(({ point, parent }) => point === "/" && !ids.has(parent));
  for (let inner = found; inner !== undefined; ) {
    found = inner;
    const here = inner;
    const on = around.filter(({ parent, id }) => parent === here.id && id !== here.id);
    inner = on.toSorted((a, b) => a.point.length - b.point.length)[0];
  }
  return found;
}

function placeOf(path: string, lines: readonly MountLine[]): MountedPlace | undefined {
  const mount = mountAt(path, lines);
  if (mount === undefined) return undefined;
  const rest = mount.point === "/" ? path : path.slice(mount.point.length);
  return { device: mount.device, path: `${mount.path === "/" ? "" : mount.path}${rest}` || "/" };
}

/** The kernel writes blanks, tabs, line feeds and backslashes as octal numbers. */
function plain(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
