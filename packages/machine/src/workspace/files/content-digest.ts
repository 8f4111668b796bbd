import { hash } from "node:crypto";

export interface FileContent {
  /** The memory may be shared: nobody writes to it. */
  readonly bytes: Uint8Array;
  /** SHA-256 of `bytes`, lower-case hex. */
  readonly sha256: string;
}

/** SHA-256, lower-case hex. A large content that was hashed recently is compared instead of hashed again. */
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
 * A file's bytes are hashed when a change is judged, made and verified, and are mostly the same, or those just written. Comparing
 * takes a tenth of the time of hashing.
 */
const recent: FileContent[] = [];
const mostRemembered = 4;
/** Bytes. Hashing less takes only microseconds. */
const smallestRemembered = 16_384;
/** Bytes. Limits the memory for recent contents to 4 MiB. */
const largestRemembered = 1_048_576;
