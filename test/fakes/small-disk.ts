/** A small disk for one test. */
import { onTestFinished } from "vitest";
import { mountSmallDisk, type SmallDisk } from "./mounted-disk.ts";

export { type SmallDisk, whyNoDisk } from "./mounted-disk.ts";

/** Gone when the test is over. */
export function createSmallDisk(size?: string): SmallDisk {
  const disk = mountSmallDisk(size);
  onTestFinished(disk.unmount);
  return disk;
}
