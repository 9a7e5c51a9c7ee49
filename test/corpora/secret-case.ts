/** One secret in its place. */
export interface SecretCase {
  readonly kind: string;
  readonly context: string;
  readonly text: string;
  /** What must not be in the result. */
  readonly secret: string;
}
