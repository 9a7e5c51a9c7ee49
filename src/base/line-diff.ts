/** The difference between two texts, line by line: the longest common sequence within a bound, else one block each. */

export interface DiffLine {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

/** Cells of the table of common lengths; above it the middle counts as replaced. */
const MAX_CELLS = 4_000_000;

export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++;
  }
  return [
    ...before.slice(0, start).map((text) => ({ mark: " ", text }) as const),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map((text) => ({ mark: " ", text }) as const),
  ];
}

function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1;
  if ((before.length + 1) * width > MAX_CELLS) {
    return [
      ...before.map((text) => ({ mark: "-", text }) as const),
      ...after.map((text) => ({ mark: "+", text }) as const),
    ];
  }
  const common = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const left = before[i];
    const right = after[j];
    if (left !== undefined && left === right) {
      lines.push({ mark: " ", text: left });
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ mark: "-", text: left });
      i++;
    } else if (right !== undefined) {
      lines.push({ mark: "+", text: right });
      j++;
    }
  }
  return lines;
}

/** Keeps a few unchanged lines around each change; undefined stands where lines were left out. */
export function withContext(lines: readonly DiffLine[], context: number): (DiffLine | undefined)[] {
  const near = new Uint8Array(lines.length);
  lines.forEach(({ mark }, index) => {
    if (mark !== " ") near.fill(1, Math.max(0, index - context), index + context + 1);
  });
  return lines.flatMap((line, index) => {
    if (near[index] === 1) return [line];
    return index === 0 || near[index - 1] === 1 ? [undefined] : [];
  });
}
