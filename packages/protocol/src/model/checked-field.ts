/** A field of a message that cannot be. The message is for the one who sent it. */
export class InvalidField extends Error {
  override readonly name = "InvalidField";
}

/** A SHA-256 in a message. Throws `InvalidField`, as all here do for what cannot be. */
export function digest(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidField("A SHA-256 must be 64 lower-case hexadecimal digits.");
}

/** The same, where there may be none. */
export function optionalDigest(text: string): string {
  return text === "" ? "" : digest(text);
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function requestId(text: string): string {
  if (uuid.test(text)) return text;
  throw new InvalidField("request_id must be the UUID that the request carried.");
}
