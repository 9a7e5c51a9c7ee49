/** A long page; what it shows of the client has quick tests in `src/client`. */
import { resolve } from "node:path";
import { testGuide } from "../fakes/guide-test.ts";

const root = resolve(import.meta.dirname, "../..");

// The package of this repository stands for the one that would be installed.
const install = `mkdir node_modules && ln -s '${root}' node_modules/harness-runtime`;

testGuide("client", { minCommands: 11, here: { "npm install harness-runtime": install } });
