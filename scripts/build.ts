/** `npm run build`: the bundle, its types and the schema of the protocol in `dist/`. Prints nothing but what is wrong. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "rolldown";
import { protocolJsonSchema } from "#protocol/schemas";
import config from "../rolldown.config.ts";
import { writePackageTypes } from "./package-types.ts";

// One after the other: the first empties the folder.
for (const options of config) await build(options);
writePackageTypes();
const schema = join(resolve(import.meta.dirname, ".."), "dist/protocol.schema.json");
writeFileSync(schema, `${JSON.stringify(protocolJsonSchema(), undefined, 1)}\n`);
