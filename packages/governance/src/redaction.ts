/**
 * Masks secrets. Applied to everything that reaches the model, the ledger, logs and clients.
 * Asynchronous because the kept rule set is; rejects never for any text.
 */
export interface Redactor {
  /** A whole text. */
  redact(text: string): Promise<string>;
  /** For text that arrives in pieces: a secret split over two pieces is masked as well. */
  stream(): RedactionStream;
}

/** Calls may overlap: pieces come out in the order in which they went in. */
export interface RedactionStream {
  /** Text that is safe to show by now; holds back what may still become a secret. */
  push(text: string): Promise<string>;
  /** The rest. */
  end(): Promise<string>;
}

/** Also masks text that people read as it is written. */
export interface LiveRedactor extends Redactor {
  live(): LiveRedactionStream;
}

/**
 * For text shown while it is written. Only an end that looks like a secret, or follows words that announce one, is held back,
 * so up to 8 characters of a secret may be shown before it is recognised; the rest is masked.
 */
export interface LiveRedactionStream {
  /** True while text is held back. */
  readonly holding: boolean;
  /**
   * Like `push`, but synchronous; undefined if that needs a closer check: then nothing was consumed, and `push` must be called.
   */
  pushNow(text: string): string | undefined;
  /** Text that is safe to show by now. Calls may overlap, and stay in order. */
  push(text: string): Promise<string>;
  /** The held-back text, masked. More text may follow: what was shown still counts for it. */
  flush(): Promise<string>;
}

/** Every mask begins with this, so that masked text is recognised and never written back to a file. */
export const redactionMarker = "[REDACTED:";
