/**
 * The names of a path in one spelling: lower case, NFKC, without invisible characters and trailing dots. Some file systems open the
 * same file under each of the spellings that are folded here. Looks at no disk.
 */

/** `.` and empty names are left out; `..` takes back the name before it and is dropped at the start. */
export function foldedSegments(path: string): string[] {
  const segments: string[] = [];
  for (const raw of foldedName(path).split(/[/\\]/)) {
    const segment = /^\.+$/.test(raw) ? raw : withoutTrailing(raw);
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return segments;
}

/** Upper case first: some letters have two lower ones. */
function foldedName(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC");
}

function withoutTrailing(segment: string): string {
  let end = segment.length;
  while (end > 0 && (segment[end - 1] === " " || segment[end - 1] === ".")) end -= 1;
  return segment.slice(0, end);
}
