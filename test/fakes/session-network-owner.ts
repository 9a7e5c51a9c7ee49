/** `node session-network-owner.ts <folder>`: a program that opens the network of a session and waits. To be killed. */

import { openSessionNetwork } from "#sandbox";
import { createSystemClock, startReaped } from "#world";
import { BWRAP, NSENTER } from "./session-network.ts";

const [folder = "."] = process.argv.slice(2);
process.stdout.write("begins\n");
await openSessionNetwork({
  bwrap: BWRAP,
  nsenter: NSENTER,
  node: process.execPath,
  folder,
  domains: undefined,
  loopbackPorts: [],
  clock: createSystemClock(),
  record: async () => undefined,
  start: startReaped,
});
process.stdout.write("open\n");
setInterval(() => undefined, 60_000);
