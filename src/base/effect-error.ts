/** Why an effect was refused or failed. */

export type EffectReason =
  | "OutsideWorkspace"
  | "NotFound"
  | "AlreadyExists"
  | "TooLarge"
  | "NotAFile"
  | "NotADirectory"
  | "NotEmpty"
  | "AccessDenied"
  | "DiskFull"
  | "SpawnFailed"
  | "SandboxUnavailable"
  | "ServerUnavailable"
  | "LoginRequired"
  | "ModelFailed"
  | "InvalidUrl"
  | "AddressRefused"
  | "SandboxRefused"
  | "TooManyRedirects"
  | "Timeout"
  | "NetworkFailed"
  | "Cancelled";

/** Why a port refused or failed; `message` is fit for the model and for a person. */
export class EffectError extends Error {
  override readonly name = "EffectError";
  readonly reason: EffectReason;

  constructor(reason: EffectReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
