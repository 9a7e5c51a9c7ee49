/** Makes something when it is first asked for, and gives the same to everybody; a failure is given to everybody too. */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
