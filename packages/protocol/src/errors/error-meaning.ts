/** What a stable code means, for the reference and for anyone who writes a client. */
export interface ErrorMeaning {
  /** One clause, beginning with a small letter unless a name comes first. */
  readonly means: string;
  /** What a person, or a model, does next. */
  readonly next: string;
}

export type ErrorMeanings = Readonly<Record<string, ErrorMeaning>>;
