/** Lists of models that vendors publish, kept in the cache folder between runs. Without that folder they are fetched every time. */
import { join } from "node:path";
import type { CatalogCache } from "#providers";
import { harnessCache } from "#stores";
import { makePrivateDirectory, readOwnedFile, writePrivateFile } from "#world";

const MAX_BYTES = 20 * 1024 * 1024;

export function createCatalogCache(env: Readonly<Record<string, string | undefined>>): CatalogCache {
  const folder = (): string => join(harnessCache(env), "catalogs");
  return {
    read(name) {
      try {
        return readOwnedFile(join(folder(), name), MAX_BYTES)?.toString("utf8");
      } catch {
        return undefined; // fetched again
      }
    },
    write(name, text) {
      try {
        makePrivateDirectory(folder());
        writePrivateFile(join(folder(), name), text, { durable: false });
      } catch {
        // Not kept: the next run fetches it again.
      }
    },
  };
}
