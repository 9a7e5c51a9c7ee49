// @ts-check
/**
 * A plugin with a hook and two slash commands: while a release is frozen, the agent changes no file under src/.
 *
 *   [plugins.release-freeze]
 *   path = "/home/me/plugins/release-freeze.mjs"
 *   sha256 = "…"
 */

let isFrozen = false;

/** @type {import("harness-runtime").Plugin} */
export const plugin = {
  name: "release-freeze",
  register(host) {
    host.addHook({
      name: "release-freeze",
      event: "tool.pre",
      handle({ payload }) {
        const { name, args } = /** @type {{ name: string, args: Record<string, unknown> }} */ (payload);
        const isWrite = name === "fs.write" || name === "fs.edit";
        if (isFrozen && isWrite && String(args.path).startsWith("src/")) {
          return { action: "block", reason: "the release is frozen: a person ends that with /release:thaw" };
        }
        return { action: "allow" };
      },
    });
    host.addSlashCommand({
      namespace: "release",
      name: "freeze",
      description: "keep the agent from changing src/",
      args: [{ name: "why" }],
      run({ why = "no reason given" }) {
        isFrozen = true;
        return { text: `Frozen: ${why}`, input: `The release is frozen (${why}). Do not change files under src/.` };
      },
    });
    host.addSlashCommand({
      namespace: "release",
      name: "thaw",
      description: "let it change src/ again",
      run() {
        isFrozen = false;
        return { text: "No longer frozen." };
      },
    });
  },
};
