/** Adds permission rules to the text of a configuration or project file and leaves everything else as it was written. */
import { ReasonError } from "#protocol";
import { parseUserConfig } from "./user-config.ts";

/** The new text of a `config.toml`, `harness.md` or `harness.yaml`; by its name it is told which. */
export async function addAllowRules(file: string, text: string, rules: readonly string[]): Promise<string> {
  if (/\.toml$/i.test(file)) {
    let added = text;
    for (const rule of rules) added = await addAllowRule(file, added, rule);
    return added;
  }
  // The parser of YAML is only needed here.
  const { addProjectRules } = await import("./project-rules.ts");
  return addProjectRules(file, text, rules);
}

/** The new text. Checked by reading it again: the rule is in it, and nothing else has changed. */
export async function addAllowRule(file: string, text: string, rule: string): Promise<string> {
  const before = await parseUserConfig(file, text);
  if (before.settings.permissions.some((known) => known.effect === "allow" && known.rule === rule)) return text;
  const added = insert(text, JSON.stringify(rule));
  const after = await parseUserConfig(file, added);
  const rules = (config: typeof before): string[] =>
    config.settings.permissions.map((one) => `${one.effect} ${one.rule}`);
  const expected = [...rules(before), `allow ${rule}`].toSorted();
  if (JSON.stringify(rules(after).toSorted()) !== JSON.stringify(expected)) {
    const detail = `${file}: Harness could not add the rule without changing others; add it to permissions.allow yourself`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  return added;
}

function insert(text: string, quoted: string): string {
  const table = /^\[permissions\][ \t]*(?:#.*)?$/m.exec(text);
  if (table === null) {
    const gap = text === "" || text.endsWith("\n\n") ? "" : text.endsWith("\n") ? "\n" : "\n\n";
    return `${text}${gap}[permissions]\nallow = [${quoted}]\n`;
  }
  const start = table.index + table[0].length;
  const next = /^\[/m.exec(text.slice(start + 1));
  const end = next === null ? text.length : start + 1 + next.index;
  const body = text.slice(start, end);
  const list = /^([ \t]*allow[ \t]*=[ \t]*\[)/m.exec(body);
  if (list === null) return `${text.slice(0, start)}\nallow = [${quoted}]${text.slice(start)}`;
  const at = start + list.index + list[0].length;
  const isEmpty = /^\s*\]/.test(text.slice(at));
  return `${text.slice(0, at)}${quoted}${isEmpty ? "" : ", "}${text.slice(at)}`;
}
