import type { Conversation } from "@gennai/agent/conversation";
import type { BlobStore } from "@gennai/store/log/session-log";

/** Outputs of calls that the log has only as blobs: kept until the model has had them, so that it needs no look at the disk. */
export class LargeOutputs {
  readonly #blobs: BlobStore;
  readonly #texts = new Map<string, Uint8Array>();

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  keep(sha256: string, text: string): void {
    this.#texts.set(sha256, new TextEncoder().encode(text));
  }

  /** Puts into a conversation what its messages have only by digest. */
  async fill(conversation: Conversation): Promise<void> {
    await conversation.fill(async (sha256) => this.#texts.get(sha256) ?? (await this.#blobs.get(sha256)));
  }

  forget(): void {
    this.#texts.clear();
  }
}
