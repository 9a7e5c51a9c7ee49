/** The JSON Schema of an object that has these properties and no others; those not in `required` may be left out. */
export function objectSchema<Properties extends Readonly<Record<string, unknown>>>(
  properties: Properties,
  required?: readonly (keyof Properties & string)[],
) {
  return { type: "object", properties, ...(required && { required }), additionalProperties: false } as const;
}
