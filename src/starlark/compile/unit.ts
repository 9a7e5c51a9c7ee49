/** The JS function being emitted: its variables, loops and what is known to be assigned in it. */
import type { Binding, FunctionScope } from "../syntax/scope.ts";

export class Unit {
  readonly outer: Unit | null;
  readonly scope: FunctionScope;
  /** True for a comprehension that became a function of its own, outside the function it belongs to. */
  readonly detached: boolean;
  /** Names to declare with let. */
  readonly declared = new Set<string>();
  /** Locals of the function around a detached comprehension that it is passed. */
  readonly borrowed = new Set<Binding>();
  /** Ids of bindings certain to have a value here. */
  assigned: Set<number>;
  /** After return, break or continue nothing more is reached until the paths join. */
  dead = false;
  /** Variables that hold iterated containers: those of loops around the current point, and all of the unit. */
  readonly loops: string[] = [];
  readonly iterated: string[] = [];
  /** Calls something that may call back. */
  hasCalls = false;
  /** Length of the code of the short functions it calls straight. */
  called = 0;
  private temps = 0;
  private serial = 0;

  constructor(outer: Unit | null, scope: FunctionScope, detached: boolean, assigned: Set<number>) {
    this.outer = outer;
    this.scope = scope;
    this.detached = detached;
    this.assigned = assigned;
  }

  /** Runs `emit` with a temporary that nothing inside it uses. */
  temp<R>(emit: (name: string) => R): R {
    const name = `t${this.temps++}`;
    this.declared.add(name);
    const result = emit(name);
    this.temps--;
    return result;
  }

  /** A variable of its own. */
  fresh(letter: string): string {
    const name = `${letter}${this.serial++}`;
    this.declared.add(name);
    return name;
  }

  prologue(): string {
    return this.declared.size === 0 ? "" : `let ${[...this.declared].join(",")};`;
  }
}
