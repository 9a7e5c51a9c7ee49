/** What a program's name means on this machine right now, so that it can be told later whether it still means the same. */
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { canonicalHash, type ProgramFacts } from "#base";
import { childEnvironment } from "./child-environment.ts";

export function createProgramFacts(options: {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): ProgramFacts {
  const environment = (): Record<string, string> => childEnvironment(options.env, options.root);
  return {
    program(name, cwd) {
      if (name.includes("/")) return identify(isAbsolute(name) ? name : join(options.root, cwd, name)) ?? "absent";
      for (const folder of (environment().PATH ?? "").split(":")) {
        const found = identify(join(folder, name));
        if (found !== undefined) return found;
      }
      return "absent";
    },
    environment: () => canonicalHash(environment()),
  };
}

function identify(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    const { dev, ino, size, mtimeNs, ctimeNs, mode } = statSync(real, { bigint: true });
    if ((mode & 0o111n) === 0n) return undefined;
    return `${real} ${dev}:${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return undefined; // not there, or not to be seen: the name does not mean this file
  }
}
