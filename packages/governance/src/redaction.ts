/** Masks secrets. Applied to everything that reaches the model, the ledger, logs and clients. */
export interface Redactor {
  /** A whole text. */
  redact(text: string): string;
  /** For text that arrives in pieces: a secret split over two pieces is masked as well. */
  stream(): RedactionStream;
}

export interface RedactionStream {
  /** Text that is safe to show by now; holds back what may still become a secret. */
  push(text: string): string;
  /** The rest. */
  end(): string;
}

/** Every mask begins with this, so that masked text is recognised and never written back to a file. */
export const redactionMarker = "[REDACTED:";
