/** Between the running turn and whoever tells it something meanwhile: which step runs, and whether the next one is owed. */

export interface Steering {
  /** The step that runs; undefined when the turn has decided to end and can be told nothing more. */
  readonly step: number | undefined;
  /** The turn goes on to this step. */
  enter(step: number): void;
  /** Something was told while the current step ran; it is owed a next one. */
  tell(): void;
  /** The turn wants to end. False, and the turn goes on, when something was told since the step began. */
  end(): boolean;
  /** The turn ends, whatever was told. */
  close(): void;
}

export function createSteering(): Steering {
  let step: number | undefined;
  let told = false;
  return {
    get step() {
      return step;
    },
    enter(next) {
      step = next;
      told = false;
    },
    tell() {
      told = true;
    },
    end() {
      if (told) return false;
      step = undefined;
      return true;
    },
    close() {
      step = undefined;
    },
  };
}
