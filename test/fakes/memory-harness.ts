/** The whole program in this process, with a log in memory and nothing of the user: what a test or a campaign changes is what it names. */
import { defaultSettings, type Settings } from "#artifacts";
import { assembleHarness, type Harness, type HarnessOptions } from "#program";
import { createHeldKeys } from "#providers";
import { createSystemClock } from "#world";

export interface MemoryHarnessOptions extends Partial<Omit<HarnessOptions, "settings">> {
  readonly workspace: string;
  readonly model: string;
  readonly settings?: Partial<Settings>;
}

export function openMemoryHarness({ settings, ...options }: MemoryHarnessOptions): Promise<Harness> {
  const env = options.env ?? { PATH: process.env.PATH };
  return assembleHarness({
    env,
    credentials: createHeldKeys(env),
    clock: createSystemClock(),
    offlineAllowed: false,
    scenarioFile: (name) => name,
    store: { kind: "memory" },
    autoApprove: false,
    ...options,
    settings: { ...defaultSettings, ...settings },
  });
}
