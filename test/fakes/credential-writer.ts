/** A process that stores credentials one after the other: folder, beginning of their names, how many. */

import { createCredentialStore } from "#credentials";
import { createSystemClock } from "#world";

const [directory = "", name = "", count = "0"] = process.argv.slice(2);
const store = createCredentialStore({ directory, clock: createSystemClock(), key: () => Buffer.alloc(32, 7) });
for (let at = 0; at < Number(count); at++) {
  const hosts = ["https://api.openai.com"];
  await store.add({ provider: "openai", name: `${name}${at}`, hosts, secret: Buffer.from("key"), useKeychain: false });
}
