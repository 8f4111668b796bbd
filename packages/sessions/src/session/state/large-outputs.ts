import type { Conversation } from "@gennai/agent/conversation/conversation";
import type { BlobStore } from "@gennai/store/log/session-log";

/** Outputs that the log has only as blobs: kept in memory until the model got them, to avoid reading the disk. */
export class LargeOutputs {
  readonly #blobs: BlobStore;
  readonly #texts = new Map<string, Uint8Array>();

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  keep(sha256: string, text: string): void {
    this.#texts.set(sha256, new TextEncoder().encode(text));
  }

  /** Fills in the contents that the conversation has only by digest. */
  async fill(conversation: Conversation): Promise<void> {
    await conversation.fill(async (sha256) => this.#texts.get(sha256) ?? (await this.#blobs.get(sha256)));
  }

  forget(): void {
    this.#texts.clear();
  }
}
