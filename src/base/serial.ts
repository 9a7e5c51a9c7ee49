/** One at a time, in the order in which they came. For what reads something, waits, and then writes what it made of it. */

export type Serial = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined); // whoever asked for it is told; the next one begins all the same
    return done;
  };
}
