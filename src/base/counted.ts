/** A number with what it counts, as people write it: 1 call, 2 calls. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
