/** Makes something when it is first asked for, and gives the same to everybody; a promise that rejects is given to everybody too. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
