import { hash } from "node:crypto";

/** SHA-256, lower-case hex. Of a large content that was asked for a moment ago, it is compared instead of hashed again. */
export function sha256(bytes: Uint8Array): string {
  if (bytes.length < smallestRemembered || bytes.length > largestRemembered) return hash("sha256", bytes, "hex");
  const index = recent.findIndex((content) => content.bytes.equals(bytes));
  const [found] = index === -1 ? [] : recent.splice(index, 1);
  // A copy: the caller may write to its own bytes later.
  const content = found ?? { bytes: Buffer.from(bytes), digest: hash("sha256", bytes, "hex") };
  recent.unshift(content);
  if (recent.length > mostRemembered) recent.pop();
  return content.digest;
}

/**
 * A change reads its file when it is judged, when it is made and when it is verified, and keeps what was there: each time the same
 * bytes, or those it wrote itself. To compare them takes a tenth of the time that hashing takes.
 */
const recent: { readonly bytes: Buffer; readonly digest: string }[] = [];
const mostRemembered = 4;
/** Below this, hashing takes a few microseconds. */
const smallestRemembered = 16_384;
/** So that no more than 4 MiB stay in memory for it. */
const largestRemembered = 1_048_576;
