/** The fields of an object that have a value, for types whose optional fields may be absent but not undefined. */

type Defined<Fields> = { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** In the order of `fields`. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const present: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) present[name] = value;
  return present as Defined<Fields>; // exactly the fields whose value is not undefined
}
