/** The default branch of an exhaustive switch: a new union member becomes a compile error here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
