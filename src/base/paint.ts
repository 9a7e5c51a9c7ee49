/** Colour for terminals that show it. */

const styles = { dim: "2", red: "31", yellow: "33", green: "32", cyan: "36", bold: "1" } as const;

export type PaintName = keyof typeof styles;

export function paint({ colour }: { readonly colour: boolean }, name: PaintName, text: string): string {
  return colour ? `\u001b[${styles[name]}m${text}\u001b[0m` : text;
}
