/** An expected failure. Its message is for users; the hint, if any, says what to do. */
export abstract class ExpectedError extends Error {
  /** Stable. */
  abstract readonly code: string;
  /** Whether what was asked for or set has to be changed, and nothing was done. Else the work itself failed. */
  abstract readonly isWrongInput: boolean;
  /** What to do next, where the message does not say it. */
  readonly hint: string | undefined;
  /** Says more exactly than the code why; stable. */
  readonly reason: string | undefined = undefined;

  constructor(message: string, options: ErrorOptions & { readonly hint?: string | undefined } = {}) {
    super(message, options);
    this.hint = options.hint;
  }
}
