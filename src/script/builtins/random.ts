/** `random(min, max)`: an int from a closed interval, each as likely as the other. */
import { integerOf } from "../arguments.ts";
import { row } from "./definition.ts";

const DRAW_BITS = 64n;

export const random = row(
  "random(min, max)",
  "int",
  "A random int from `min` to `max`, both included. `min` must be below `max`.",
).runs((args, call) => {
  const [min, max] = [integerOf(args, "min"), integerOf(args, "max")];
  if (min >= max) throw new Error("min must be below max");
  const span = BigInt(max) - BigInt(min) + 1n;
  // Draws above the last whole multiple are thrown away, else the low numbers would come more often.
  const limit = 2n ** DRAW_BITS - (2n ** DRAW_BITS % span);
  for (;;) {
    const bytes = call.services.random.bytes(8);
    const draw = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
    if (draw < limit) return BigInt(min) + (draw % span);
  }
});
