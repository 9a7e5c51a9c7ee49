/** Makes something when it is first asked for, and gives the same to everybody; a promise that rejects is given to everybody too. */
export function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
