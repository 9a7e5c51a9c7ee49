/** `/profiles:NAME`: continues in a new session with another profile and pauses the old one, or changes the profile of a session. */
import type { Settings } from "#artifacts";
import { counted, visibleLine } from "#base";
import type { SlashCaller, SlashOutcome } from "#engine";
import { ReasonError, type SessionId } from "#protocol";
import type { SessionDependencies } from "#session";
import { importedTurns, MAX_IMPORTED_TURNS } from "./imported-turns.ts";
import type { Harness, HarnessOptions } from "./options.ts";
import type { KnownProfile } from "./profile-files.ts";

const DEFAULT_TURNS = 5;
const IN_PLACE_WARNING =
  "The conversation so far was made with other instructions, tools and rules, so the model may contradict itself.";

interface Switch {
  readonly profile: string;
  readonly args: string;
  readonly caller: SlashCaller;
}

/** Nothing has changed when it rejects. */
export async function switchProfile(
  harness: Harness,
  dependencies: SessionDependencies,
  { profile, args, caller }: Switch,
): Promise<SlashOutcome> {
  const { turns, inPlace } = optionsOf(profile, args);
  if (dependencies.tape.isOn) {
    throw new ReasonError("NotAllowed", "The profile cannot change in a recording or a replay.");
  }
  const { session: id } = caller;
  const running = harness.control.session(id)?.running;
  if (running !== undefined) {
    throw new ReasonError("TurnInProgress", { originator: running.originator, ts: running.startedAt });
  }
  caller.allow("CreateSession");
  const old = await harness.archive.get(id);
  if (old === undefined) throw new ReasonError("SessionNotFound", { session: id });
  if (old.profile === profile) {
    throw new ReasonError("InvalidCommand", `this session already has the profile '${profile}'`);
  }
  const settings = await settingsUnder(dependencies, old.workingDir, profile);
  const models = await dependencies.modelsFor(settings);
  if (inPlace) {
    const ownModel = settings.profile.sets.includes("default_model") ? { model: models.model } : {};
    const record = (): Promise<void> => harness.archive.update(id, { profile, ...ownModel });
    await harness.control.pause(id, { continuedIn: id, record });
    return { text: `${id} has the profile '${profile}' from now on. ${IN_PLACE_WARNING}`, session: id };
  }
  const imported = await importedTurns(harness.archive, id, turns);
  // The private folder of a session goes with it.
  const isPrivate = dependencies.scratch?.of(id) === old.workingDir;
  const folder = isPrivate ? {} : { working_dir: old.workingDir };
  const next = await harness.control.openUnattended({ kind: "CreateSession", profile, ...folder }, { imported });
  try {
    await harness.control.pause(id, { continuedIn: next, record: async () => undefined });
  } catch (error) {
    await harness.control.retire(next);
    await harness.archive.delete(next);
    throw error;
  }
  const summary = imported.turns === 0 ? "" : `, with a summary of the last ${counted(imported.turns, "turn")}`;
  const text = `Started new session ${next} on profile '${profile}'${summary}. Old session ${id} is paused; /sessions:resume ${id} to return.`;
  return { text, session: next };
}

/** Those that a session can have; one that was named by its path is in no folder. Rejects with SessionNotFound. */
export async function listProfiles(
  harness: Harness,
  { settings, profiles }: Pick<HarnessOptions, "settings" | "profiles">,
  session: SessionId | undefined,
): Promise<readonly (KnownProfile & { readonly active: boolean })[]> {
  const own = profiles?.known(undefined) ?? [];
  const words = session === undefined ? [] : harness.slashCommands(session);
  const ofProject = words
    .filter(({ namespace, name }) => namespace === "profiles" && !own.some((one) => one.name === name))
    .map(({ name }) => ({ name, scope: "project" as const }));
  const active = session === undefined ? settings.profile.name : (await harness.store.get(session))?.profile;
  const known = [...own, ...ofProject];
  const unlisted = active === undefined || known.some(({ name }) => name === active) ? [] : [active];
  const { name: ofProgram, scope } = settings.profile;
  return [...unlisted.map((name) => ({ name, scope: name === ofProgram ? scope : ("file" as const) })), ...known].map(
    (one) => ({ ...one, active: one.name === active }),
  );
}

/** Rejects with ConfigInvalid for a profile that cannot be used in the folder. */
async function settingsUnder(
  { settings, projects, profiles }: SessionDependencies,
  folder: string,
  profile: string,
): Promise<Settings> {
  const other = profile === settings.profile.name ? undefined : profile;
  const opened = await projects?.(folder, other);
  if (opened?.settings !== undefined) return opened.settings;
  return other === undefined || profiles === undefined ? settings : profiles.settings(other);
}

function optionsOf(profile: string, args: string): { readonly turns: number; readonly inPlace: boolean } {
  const words = args.split(/[\s=]+/).filter((word) => word !== "");
  if (words.length === 1 && words[0] === "--in-place") return { turns: 0, inPlace: true };
  const [flag, number = "", ...others] = words;
  const turns = /^\d{1,4}$/.test(number) ? Number(number) : Number.NaN;
  if (flag === undefined) return { turns: DEFAULT_TURNS, inPlace: false };
  if (flag === "--turns" && others.length === 0 && turns <= MAX_IMPORTED_TURNS) return { turns, inPlace: false };
  const usage = `/profiles:${profile} [--turns N | --in-place]`;
  const detail = `'${visibleLine(args).slice(0, 100)}' is not understood. Usage: ${usage}, with N from 0 to ${MAX_IMPORTED_TURNS} (default ${DEFAULT_TURNS})`;
  throw new ReasonError("InvalidCommand", detail);
}
