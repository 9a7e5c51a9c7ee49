/** Thrown when a rule or a limit of the redactor fails; says which, and nothing about the text. */
export class RuleError extends Error {
  override readonly name = "RuleError";
}
