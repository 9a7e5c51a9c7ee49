/** What decides about the calls of a session: rules, labels and the network, as the user and the project have them now. */
import type { LabelRule, Settings } from "#artifacts";
import { canonicalHash, type DomainList } from "#base";
import { createPermission, type Permission, type Rule, withEditRules } from "#governance";
import type { SessionEngineParts } from "./engine.ts";
import { askingOf } from "./questions.ts";

type PolicyParts = Pick<SessionEngineParts, "dependencies" | "place">;

/** Those in force, but for what answers have added. */
export function rulesOf({ dependencies, place: { runtime, mode } }: PolicyParts): readonly Rule[] {
  const rules = runtime === undefined ? dependencies.rules : [...dependencies.rules, ...runtime.live.rules()];
  return mode.base === "accept-edits" ? withEditRules(rules) : rules;
}

/** What is private or untrusted, in the words of the user and of the project. */
export function labelRules({ dependencies: { settings }, place: { runtime } }: PolicyParts): readonly LabelRule[] {
  return [...settings.labelRules, ...(runtime?.live.current().config.labelRules ?? [])];
}

export function policyVersion({ dependencies: { rulesVersion }, place: { runtime } }: PolicyParts): string {
  return runtime === undefined ? rulesVersion : canonicalHash([rulesVersion, runtime.live.version()]);
}

export function permissionOf(parts: SessionEngineParts): Permission {
  const { core, dependencies, approver, birth, world, place } = parts;
  const { settings, ids } = dependencies;
  const { ports, domains, programs } = world;
  return createPermission({
    bus: core.bus,
    approver,
    rules: () => rulesOf(parts),
    root: ports.files.root,
    files: ports.files,
    strict: () => settings.strictPermissions || place.runtime?.live.current().config.strictPermissions === true,
    autoApprove: dependencies.autoApprove,
    planMode: () => place.mode.plan,
    labels: place.labels,
    labelRules: () => labelRules(parts),
    isOffline: () => settings.sandbox !== "off" && domains()?.entries.length === 0,
    hold: () => world.sandbox.hold(),
    namedByGit: () => world.sandbox.namedByGit(),
    network: () => networkText(settings, domains()),
    binding: { programs, policyVersion: () => policyVersion(parts) },
    howToAddRule: dependencies.howToAddRule,
    newApproval: () => ids.approval(),
    clock: core.clock,
    sessionRules: place.sessionRules,
    ...askingOf(birth),
  });
}

/** What allowed commands reach. */
function networkText({ network }: Settings, domains: DomainList | undefined): string {
  if (domains !== undefined) return domains.entries.length === 0 ? "none" : domains.entries.join(", ");
  return network?.mode === "direct" ? "the machine's own" : "public hosts, recorded";
}
