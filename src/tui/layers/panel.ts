/** The side panel: everything about the session that has a list of its own, with how much there is of it. The chosen list opens. */
import { counted } from "#base";
import { keyName } from "../layer-rows.ts";
import { namedRow } from "../list-row.ts";
import type { PanelFacts } from "../loads.ts";
import { definePicker } from "../picker.ts";

interface Entry {
  readonly layer: string;
  readonly title: string;
  readonly key: string;
  readonly about: string;
}

const TITLE_COLUMNS = 30;

const lists: readonly (readonly [layer: string, title: string, about: (found: PanelFacts) => string])[] = [
  ["sessions", "Sessions and branches", () => "this folder, or all"],
  ["rules", "Session policy", ({ rules }) => counted(rules.length, "rule")],
  ["skills", "Skills", ({ words }) => counted(namesIn(words, "skills"), "skill")],
  ["agents", "Agents", ({ words }) => counted(namesIn(words, "agents"), "agent")],
  ["servers", "MCP servers", ({ facts: { servers } }) => serversText(servers)],
  ["hooks", "Shell hooks", ({ facts: { hooks } }) => counted(hooks.length, "hook")],
  ["jobs", "Background commands", ({ facts: { jobs } }) => jobsText(jobs)],
  ["plan", "Plan", ({ facts }) => planText(facts)],
  ["schedules", "Schedules", () => "with what became of their runs"],
  ["model", "Models and prices", ({ facts: { models } }) => counted(models.length, "model")],
  ["undo", "Turns to undo", () => "with what that would change"],
];

export const panelLayer = definePicker<Entry>({
  name: "panel",
  title: "Session",
  opener: { keys: ["f2", "alt+o"], help: "Show what the session has: sessions, skills, servers, hooks, policy, jobs" },
  words: ["panel"],
  empty: "Nothing to show.",
  load: () => ({ type: "load", name: "panel" }),
  items(loaded, { keymap }) {
    if (!("value" in loaded) || loaded.name !== "panel") return undefined;
    return lists.map(([layer, title, about]) => {
      return { layer, title, key: keyName(keymap.keyOf(`open-${layer}`)), about: about(loaded.value) };
    });
  },
  text: ({ title, layer }) => `${title} ${layer}`,
  rows: ({ title, key, about }, style) =>
    namedRow(title, [about, key].filter((part) => part !== "").join(" · "), TITLE_COLUMNS, style),
  onPick: ({ layer }) => [{ type: "open", layer }],
});

function namesIn(words: PanelFacts["words"], namespace: string): number {
  return words.filter((row) => row.namespace === namespace).length;
}

function serversText(servers: PanelFacts["facts"]["servers"]): string {
  const down = servers.filter(({ state }) => state === "down").length;
  return `${counted(servers.length, "server")}${down === 0 ? "" : `, ${down} down`}`;
}

function planText({ agreed_plan: agreed, proposed_plan: proposed }: PanelFacts["facts"]): string {
  if (proposed !== undefined) return "waits for you";
  return agreed === undefined ? "none" : "agreed";
}

function jobsText(jobs: PanelFacts["facts"]["jobs"]): string {
  const running = jobs.filter(({ ended }) => ended === undefined).length;
  return `${running} running, ${jobs.length - running} ended`;
}
