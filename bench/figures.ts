/** How a benchmark's results are written down: ours, the floor, their ratio, and whether the requirement holds. */

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  /** What ours is compared with, measured in the same run. */
  readonly floor?: number;
  readonly maxRatio?: number;
  /** An absolute bound, where there is no floor. */
  readonly limit?: number;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function holds({ ours, floor, maxRatio, limit }: Figure): boolean {
  if (floor !== undefined && maxRatio !== undefined) return ours / floor <= maxRatio;
  return limit === undefined || ours <= limit;
}

/** Prints a Markdown table, so that it can be written down as it is. */
export function printFigures(title: string, figures: readonly Figure[]): void {
  process.stdout.write(`\n## ${title} (Node ${process.version}, ${process.platform}-${process.arch})\n\n`);
  process.stdout.write(
    "| figure | ours | floor | ratio | required | holds |\n| --- | ---: | ---: | ---: | ---: | --- |\n",
  );
  for (const figure of figures) {
    const { name, unit, ours, floor, maxRatio, limit } = figure;
    const cells = [
      name,
      `${ours.toFixed(2)} ${unit}`,
      floor === undefined ? "–" : `${floor.toFixed(2)} ${unit}`,
      floor === undefined ? "–" : `${(ours / floor).toFixed(2)}x`,
      maxRatio !== undefined ? `≤ ${maxRatio}x` : limit !== undefined ? `≤ ${limit} ${unit}` : "–",
      holds(figure) ? "yes" : "NO",
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}
