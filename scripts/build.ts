/** `npm run build`: the bundle and its types in `dist/`. Prints nothing but what is wrong. */
import { build } from "rolldown";
import config from "../rolldown.config.ts";
import { writePackageTypes } from "./package-types.ts";

// One after the other: the first empties the folder.
for (const options of config) await build(options);
writePackageTypes();
