import { hash } from "node:crypto";
import type { FileContent } from "../workspace.ts";

/** SHA-256, lower-case hex. Of a large content that was asked for a moment ago, it is compared instead of hashed again. */
export function sha256(bytes: Uint8Array): string {
  if (!isRemembered(bytes.length)) return hash("sha256", bytes, "hex");
  const found = recent.find((content) => Buffer.compare(content.bytes, bytes) === 0);
  // A copy: the caller may write to its own bytes later.
  const content = found ?? { bytes: new Uint8Array(bytes), sha256: hash("sha256", bytes, "hex") };
  rememberAsNewest(content);
  return content.sha256;
}

/** Contents of this length that were hashed a moment ago, newest first. */
export function recentContents(length: number): readonly FileContent[] {
  return isRemembered(length) ? recent.filter(({ bytes }) => bytes.length === length) : [];
}

export function rememberAsNewest(content: FileContent): void {
  const index = recent.indexOf(content);
  if (index !== -1) recent.splice(index, 1);
  recent.unshift(content);
  if (recent.length > mostRemembered) recent.pop();
}

function isRemembered(length: number): boolean {
  return length >= smallestRemembered && length <= largestRemembered;
}

/**
 * A change reads its file when it is judged, when it is made and when it is verified, and keeps what was there: each time the same
 * bytes, or those it wrote itself. To compare them takes a tenth of the time that hashing takes.
 */
const recent: FileContent[] = [];
const mostRemembered = 4;
/** Below this, hashing takes a few microseconds. */
const smallestRemembered = 16_384;
/** So that no more than 4 MiB stay in memory for it. */
const largestRemembered = 1_048_576;
