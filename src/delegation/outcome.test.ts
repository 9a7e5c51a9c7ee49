import { expect, test } from "vitest";
import { cutMiddle } from "./outcome.ts";

test("an answer that is too long loses its middle, and nothing is left of a secret on either side of it", () => {
  const line = `key ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5\n`;
  for (let at = 5; at < line.length; at++) {
    const filled = `${"-".repeat(199 - at)}\n`;
    const cut = cutMiddle(`${filled}${line}${"more\n".repeat(100)}${line}${filled}`, 400);
    expect(cut).not.toMatch(/gh|[a-z]\d[A-Z]/);
    expect(cut).toMatch(/characters left out …\n/);
    expect(cut.length).toBeLessThan(450);
  }
});
