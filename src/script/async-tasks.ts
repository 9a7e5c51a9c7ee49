/**
 * Calls that a script has launched and not waited for yet. Each goes through the whole chain, begins when what it depends on has
 * ended well, and ends before the call that launched it does: nothing of it is left when the model is asked again.
 */
import { messageOf } from "#base";
import type { ToolOutput } from "#engine";

/** In one run of a script. */
const MAX_TASKS = 64;
const MAX_RUNNING = 8;
const MAX_ID_CHARS = 64;

export interface TaskSpec {
  /** Absent: `task-1`, `task-2`, …. */
  readonly id?: string;
  readonly dependsOn: readonly string[];
  run(signal: AbortSignal): Promise<ToolOutput>;
}

export interface TaskResult {
  readonly id: string;
  readonly output?: ToolOutput;
  /** Why it did not run, or how it broke off. */
  readonly problem?: string;
}

interface Task {
  readonly id: string;
  readonly dependsOn: readonly string[];
  readonly abort: AbortController;
  readonly done: Promise<TaskResult>;
  isWaitedFor: boolean;
}

export class AsyncTasks {
  private readonly tasks = new Map<string, Task>();
  /** Who waits for a task that has not been launched. */
  private readonly awaited = new Map<string, { readonly promise: Promise<Task>; resolve(task: Task): void }>();
  private readonly closing = new AbortController();
  private running = 0;
  private readonly queue: (() => void)[] = [];

  /** Throws for a name that is taken, for a cycle, and beyond the bound. */
  launch({ id: named, dependsOn, run }: TaskSpec): string {
    if (this.tasks.size >= MAX_TASKS) throw new Error(`at most ${MAX_TASKS} calls can be launched in one run`);
    const id = named ?? `task-${this.tasks.size + 1}`;
    if (id === "" || id.length > MAX_ID_CHARS) throw new Error(`an id has 1 to ${MAX_ID_CHARS} characters`);
    if (this.tasks.has(id)) throw new Error(`the id "${id}" is taken`);
    const cycle = this.cycleThrough(id, dependsOn);
    if (cycle !== undefined) throw new Error(`depends_on would be a cycle: ${cycle.join(" → ")}`);
    const abort = new AbortController();
    const task: Task = {
      id,
      dependsOn,
      abort,
      isWaitedFor: false,
      done: Promise.resolve().then(() => this.runWhenReady(id, dependsOn, run, abort.signal)),
    };
    this.tasks.set(id, task);
    this.awaited.get(id)?.resolve(task);
    return id;
  }

  /** In the order of the ids. */
  async waitAll(ids: readonly string[]): Promise<readonly TaskResult[]> {
    const tasks = this.named(ids);
    return Promise.all(tasks.map(({ done }) => done));
  }

  /** The first that ends. With `stopsOthers`, the rest is cancelled. */
  async waitAny(ids: readonly string[], stopsOthers: boolean): Promise<TaskResult> {
    const tasks = this.named(ids);
    const first = await Promise.race(tasks.map(({ done }) => done));
    if (stopsOthers) for (const { id, abort } of tasks) if (id !== first.id) abort.abort();
    return first;
  }

  /** Resolves when nothing runs any more, to what failed and nobody has waited for. `stops`: cancels what still runs. */
  async settle(stops: boolean): Promise<readonly TaskResult[]> {
    if (this.tasks.size === 0) return [];
    this.closing.abort();
    if (stops) for (const { abort } of this.tasks.values()) abort.abort();
    const results = await Promise.all([...this.tasks.values()].map(({ done }) => done));
    return results.filter((result) => isFailed(result) && this.tasks.get(result.id)?.isWaitedFor === false);
  }

  private async runWhenReady(
    id: string,
    dependsOn: readonly string[],
    run: TaskSpec["run"],
    signal: AbortSignal,
  ): Promise<TaskResult> {
    for (const name of dependsOn) {
      const task = this.tasks.get(name) ?? (await this.launched(name));
      if (task === undefined) return { id, problem: `not run: "${name}", which it depends on, was never launched` };
      if (isFailed(await task.done)) return { id, problem: `not run: "${name}", which it depends on, failed` };
    }
    await this.turn();
    try {
      if (signal.aborted) return { id, problem: "cancelled before it ran" };
      return { id, output: await run(signal) };
    } catch (error) {
      return { id, problem: messageOf(error) };
    } finally {
      this.running -= 1;
      this.queue.shift()?.();
    }
  }

  /** Undefined when the run ends without it. */
  private launched(name: string): Promise<Task | undefined> {
    let entry = this.awaited.get(name);
    if (entry === undefined) {
      entry = Promise.withResolvers<Task>();
      this.awaited.set(name, entry);
    }
    const { signal } = this.closing;
    const never = new Promise<undefined>((resolve) => {
      if (signal.aborted) resolve(undefined);
      else signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    return Promise.race([entry.promise, never]);
  }

  /** Waits for a place among those that run. */
  private async turn(): Promise<void> {
    if (this.running >= MAX_RUNNING) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.running += 1;
  }

  private named(ids: readonly string[]): readonly Task[] {
    if (ids.length === 0) throw new Error("no call was launched, so there is nothing to wait for");
    const tasks = ids.map((id) => {
      const task = this.tasks.get(id);
      if (task === undefined) throw new Error(`nothing was launched with the id "${id}"`);
      return task;
    });
    for (const task of tasks) {
      const missing = this.missingOf(task, new Set());
      // The script that would launch it is the one that waits.
      if (missing !== undefined) throw new Error(`"${task.id}" depends on "${missing}", which was not launched`);
      task.isWaitedFor = true;
    }
    return tasks;
  }

  private missingOf({ dependsOn }: Task, seen: Set<string>): string | undefined {
    for (const name of dependsOn) {
      if (seen.has(name)) continue;
      seen.add(name);
      const task = this.tasks.get(name);
      const missing = task === undefined ? name : this.missingOf(task, seen);
      if (missing !== undefined) return missing;
    }
    return undefined;
  }

  private cycleThrough(id: string, dependsOn: readonly string[]): readonly string[] | undefined {
    // Each once: the ways through many tasks that all depend on each other are too many to be gone one by one.
    const seen = new Set<string>();
    const walk = (name: string, path: readonly string[]): readonly string[] | undefined => {
      if (name === id) return [...path, name];
      if (seen.has(name)) return undefined;
      seen.add(name);
      for (const next of this.tasks.get(name)?.dependsOn ?? []) {
        const found = walk(next, [...path, name]);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    for (const name of dependsOn) {
      const found = walk(name, [id]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

export function isFailed({ output, problem }: TaskResult): boolean {
  return problem !== undefined || output?.isError === true;
}
