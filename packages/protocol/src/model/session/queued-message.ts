import type { BlobRef } from "./proposal.ts";

/** What a user said while a turn ran. When that has ended, nobody is told it until the user says it again. */
export interface QueuedMessage {
  readonly messageId: string;
  readonly turnId: string;
  readonly text: string;
  readonly images: readonly BlobRef[];
}
