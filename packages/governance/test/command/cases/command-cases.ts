/**
 * Commands of one topic, in `/ws` with the home directory `/home/dev`, and what the analysis must make of them. Everyday ones that
 * `test/corpus/cases/benign.json` has are not repeated here: the whole gate lets nothing by that the analysis stops.
 */
export interface CommandCases {
  /** Proven to read: they run without a question. */
  readonly allowed?: readonly string[];
  /** Not refused; a question is fine. */
  readonly neverDenied?: readonly string[];
  /** A person decides: neither silent nor refused. */
  readonly asked?: readonly string[];
  /** Never silent; a question or a refusal is fine. */
  readonly neverSilent?: readonly string[];
  /** Refused without a question. */
  readonly denied?: readonly string[];
}
