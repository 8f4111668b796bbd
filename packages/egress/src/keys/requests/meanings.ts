import { maxShown, type RequestMeaning, type SentChange } from "../../network/added-login.ts";

export function refused(why: string): RequestMeaning {
  return { type: "refused", why };
}

/** A change, if a question can show it. @param body what is sent in place of the one that came */
export function writes(
  what: string,
  body?: Buffer,
  more: Pick<SentChange, "pretends" | "follows"> = {},
): RequestMeaning {
  if (what.length > maxShown || /\p{Cc}/u.test(what)) return refused("It has more fields than a question can show.");
  return { type: "writes", what, ...(body !== undefined && { body }), ...more };
}

/** Undefined for what is no JSON. */
export function parsedJson(text: Buffer | string): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
