/** More of the hostile corpus; `bench/sandbox.ts` runs all of it. */
import { namedScripts, testEscapes } from "../fakes/escape-attempts.ts";

testEscapes(
  namedScripts(
    "remount read-write",
    "new user and mount namespace",
    "signals to processes outside",
    "hard link to a file outside",
    "kernel switches",
    "parent of a nested repository replaced",
    "hooks in a repository that it begins",
    "start-up files of shells and editors",
    "UDP",
    "sockets of daemons",
    "proxy: CONNECT to address literals",
  ),
);
