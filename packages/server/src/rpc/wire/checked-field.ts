import { ServiceError } from "../../service-error.ts";

/** A SHA-256 in a message. Throws `ServiceError` `invalid_argument`, as all here do for what cannot be. */
export function digest(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new ServiceError("invalid_argument", "A SHA-256 must be 64 lower-case hexadecimal digits.");
}

/** The same, where there may be none. */
export function optionalDigest(text: string): string {
  return text === "" ? "" : digest(text);
}

/** The key with this value; enums are open on the wire, so any number may arrive. */
export function keyOf<Key extends string>(table: Readonly<Record<Key, number>>, value: number, field: string): Key {
  const key = knownKeyOf(table, value);
  if (key !== undefined) return key;
  throw new ServiceError("invalid_argument", `${field} has no meaning: ${value}.`);
}

/** The same; undefined for a number that is none of them. */
export function knownKeyOf<Key extends string>(table: Readonly<Record<Key, number>>, value: number): Key | undefined {
  for (const key in table) if (table[key] === value) return key;
  return undefined;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function requestId(text: string): string {
  if (uuid.test(text)) return text;
  throw new ServiceError("invalid_argument", "request_id must be the UUID that the request carried.");
}
