/** What a reader of streams is asked: the text of a turn that is streamed from this model. */
export type StreamRequest =
  | { readonly type: "raw"; readonly url: string; readonly baseUrl: string }
  | { readonly type: "gennai"; readonly url: string; readonly token: string; readonly baseUrl: string }
  /** Reads a session that is over from its beginning, so many times. */
  | {
      readonly type: "replay";
      readonly url: string;
      readonly token: string;
      readonly sessionId: string;
      readonly turnId: string;
      readonly times: number;
    };

export interface StreamReport {
  /** Milliseconds from the request to the last byte. */
  readonly time: number;
  readonly events: number;
  /** Without those of the times. */
  readonly characters: number;
  /** Bytes of the response's body. */
  readonly bytes: number;
  /** Milliseconds from the model to here, for each piece of a paced answer, and for the first of a flood. */
  readonly lags: readonly number[];
}
