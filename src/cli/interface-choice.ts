/** Which interface a conversation on a terminal has: the full one, or lines for screen readers and simple terminals. */
import { loadConfig } from "#program";
import type { CliPorts } from "./cli-ports.ts";

export interface InterfaceFlags {
  /** The line interface, also where the full one could be shown. */
  readonly plain?: boolean;
  /** No cost in the status line. */
  readonly quietCost?: boolean;
}

export async function showsFullInterface(ports: CliPorts, { plain }: InterfaceFlags): Promise<boolean> {
  if (!ports.terminal.canDraw || plain === true) return false;
  const { isPlain } = (await loadConfig(ports, undefined)).settings.interface;
  if (isPlain) ports.early?.release();
  return !isPlain;
}
