import { expect, test } from "vitest";
import { imagePathsIn } from "./image-paths.ts";

const HOME = "/home/me";

test.each<[string, readonly string[]]>([
  ["/tmp/shot.png", ["/tmp/shot.png"]],
  [" /tmp/shot.PNG \n", ["/tmp/shot.PNG"]],
  ["~/Pictures/shot.jpeg", ["/home/me/Pictures/shot.jpeg"]],
  ["'/tmp/my shot.png' ", ["/tmp/my shot.png"]],
  ['"/tmp/my \\"shot\\".webp"', ['/tmp/my "shot".webp']],
  ["/tmp/my\\ shot\\ \\(1\\).gif", ["/tmp/my shot (1).gif"]],
  ["'/tmp/it'\\''s.png'", ["/tmp/it's.png"]],
  ["file:///tmp/my%20shot.png", ["/tmp/my shot.png"]],
  ["file:///tmp/a.png\nfile:///tmp/b.jpg\n", ["/tmp/a.png", "/tmp/b.jpg"]],
  ["/tmp/a.png '/tmp/b c.png'", ["/tmp/a.png", "/tmp/b c.png"]],
])("%j are the paths of images", (text, paths) => {
  expect(imagePathsIn(text, HOME)[0]).toEqual(paths);
});

test("a path whose blanks are not escaped is read as one path", () => {
  expect(imagePathsIn("/tmp/my shot.png", HOME)).toEqual([["/tmp/my shot.png"]]);
  expect(imagePathsIn("/tmp/it's mine.png", HOME)).toEqual([["/tmp/it's mine.png"]]);
});

test.each([
  "",
  "look at",
  "/tmp/notes.txt",
  "/tmp/shot.png /tmp/notes.txt",
  "file://elsewhere/tmp/shot.png",
  "file:///%zz.png",
  "'/tmp/shot.png",
  "/tmp/\0.png",
  `${"a".repeat(10_000)}.png`,
  `${'"\\'.repeat(4000)}.png`,
])("%j names no image", (text) => {
  expect(imagePathsIn(text.slice(0, 20_000), HOME).filter(([path]) => path?.startsWith("/tmp/"))).toEqual([]);
});
