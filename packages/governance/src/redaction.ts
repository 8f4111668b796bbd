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

/** Every mask begins with this, so that masked text is recognised and never written back to a file. */
export const redactionMarker = "[REDACTED:";
