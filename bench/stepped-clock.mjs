/**
 * Loaded before a program (`node --import`): its wall clock is that of the machine plus the milliseconds in the file CLOCK_STEP_FILE, its
 * monotonic clock is untouched. What is in force is written beside it, in a file for each process, so that whoever steps can wait for it.
 */
import { readFileSync, writeFileSync } from "node:fs";

const LOOK_EVERY_MS = 10;
const file = process.env.CLOCK_STEP_FILE ?? "";
const RealDate = Date;
let stepMs;

function look() {
  const wanted = Number(readFileSync(file, "utf8"));
  if (wanted === stepMs) return;
  stepMs = wanted;
  writeFileSync(`${file}.${process.pid}`, String(stepMs));
}

class SteppedDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(SteppedDate.now());
    else super(...args);
  }

  static now() {
    return RealDate.now() + stepMs;
  }
}

if (file !== "") {
  look();
  setInterval(look, LOOK_EVERY_MS).unref();
  globalThis.Date = SteppedDate;
}
