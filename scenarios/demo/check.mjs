import { greet } from "./greet.mjs";

const cases = [
  { args: ["Ada"], expected: "Hello, Ada!" },
  { args: [], expected: "Hello, world!" },
];

let passed = 0;
for (const { args, expected } of cases) {
  const actual = greet(...args);
  const call = `greet(${args.map((arg) => JSON.stringify(arg)).join(", ")})`;
  if (actual === expected) passed += 1;
  console.log(actual === expected ? `ok    ${call}` : `FAIL  ${call} gave "${actual}", expected "${expected}"`);
}
console.log(`${passed} of ${cases.length} checks passed`);
process.exitCode = passed === cases.length ? 0 : 1;
