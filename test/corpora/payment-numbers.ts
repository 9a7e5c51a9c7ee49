/** Card numbers and IBANs with the right check digits. */
import type { SecretCase } from "./secret-case.ts";
import { ALPHABETS, type SeededRandom } from "./seeded-random.ts";

export function paymentCases(random: SeededRandom): SecretCase[] {
  const brands: readonly (readonly [string, number])[] = [
    ["4", 16],
    ["51", 16],
    ["55", 16],
    ["2221", 16],
    ["34", 15],
    ["37", 15],
    ["6011", 16],
    ["35", 16],
    ["36", 14],
    ["62", 16],
  ];
  const cards = brands.flatMap(([prefix, length]) =>
    ["", " ", "-"].map((joint) => {
      const digits = withLuhn(prefix + random.chars(ALPHABETS.digits, length - prefix.length - 1));
      const groups =
        length === 16
          ? /(\d{4})(\d{4})(\d{4})(\d{4})/
          : length === 15
            ? /(\d{4})(\d{6})(\d{5})/
            : /(\d{4})(\d{6})(\d{4})/;
      const secret = joint === "" ? digits : groups.exec(digits)!.slice(1).join(joint);
      const text = random.pick([
        `card ${secret}, exp 04/29`,
        `{"number":"${secret}","exp":"04/29"}`,
        `PAN=${secret}\n`,
        `paid with ${secret}.`,
      ]);
      return { kind: "card-number", context: joint === "" ? "plain" : `groups with '${joint}'`, text, secret };
    }),
  );
  const countries: readonly (readonly [string, number])[] = [
    ["DE", 18],
    ["FR", 23],
    ["GB", 18],
    ["NL", 14],
    ["ES", 20],
    ["AT", 16],
    ["CH", 17],
    ["IT", 23],
    ["PL", 24],
    ["BE", 12],
  ];
  const ibans = countries.flatMap(([country, length]) =>
    [false, true].map((grouped) => {
      const letters = ["GB", "NL", "IT"].includes(country) ? "ABNA" : "";
      const account = letters + random.chars(ALPHABETS.digits, length - letters.length);
      const iban = withMod97(country, account);
      const secret = grouped ? iban.replace(/(.{4})(?=.)/g, "$1 ") : iban;
      const text = random.pick([`Please transfer to ${secret} by Friday.`, `iban: "${secret}"\n`, `IBAN ${secret}\n`]);
      return { kind: "iban", context: grouped ? "groups" : "plain", text, secret };
    }),
  );
  return [...cards, ...ibans];
}

/** Adds the check digit. */
export function withLuhn(digits: string): string {
  let sum = 0;
  [...digits].reverse().forEach((digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  });
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Puts the check digits behind the country. */
export function withMod97(country: string, account: string): string {
  const number = [...`${account}${country}00`].map((char) => Number.parseInt(char, 36)).join("");
  const check = 98n - (BigInt(number) % 97n);
  return `${country}${String(check).padStart(2, "0")}${account}`;
}
