/** `MEMORY.md`: the memories of one folder as a flat list for people. Made anew at each change; nothing reads it back. */
import { type Memory, memoryTiers } from "#base";

export function indexText(memories: readonly Memory[]): string {
  const sections = memoryTiers.flatMap((tier) => {
    const lines = memories.filter((memory) => memory.tier === tier).map(indexLine);
    return lines.length === 0 ? [] : [`## ${tier}`, "", ...lines, ""];
  });
  return ["# Memories", "", "Harness writes this list anew at each change.", "", ...sections].join("\n");
}

function indexLine({ name, tier, description, type, tags }: Memory): string {
  const about = [type, ...tags].join(", ");
  return `- [${name}](${tier}/${name}.md): ${description} (${about})`;
}
