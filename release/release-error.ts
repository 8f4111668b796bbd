/** A release cannot be made, or not go on: the message says why and what to do. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
}
