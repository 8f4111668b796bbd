/** The bytes of an answer, piece by piece. The readers of web streams are such. */
export interface AnswerBytes {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** Nobody reads on. */
  cancel(): unknown;
}

/** @param chunks ends also what they come from when it is not read on, as streams of Node do */
export function bytesOf(chunks: AsyncIterator<Uint8Array>, cancel: () => unknown): AnswerBytes {
  return {
    async read() {
      const next = await chunks.next();
      return next.done === true ? { done: true } : { done: false, value: next.value };
    },
    cancel,
  };
}

/** What was read already, and the rest behind it. */
export function joined(begun: readonly Uint8Array[], rest: AnswerBytes): AnswerBytes {
  const waiting = [...begun];
  return {
    async read() {
      const value = waiting.shift();
      return value === undefined ? rest.read() : { done: false, value };
    },
    cancel: () => rest.cancel(),
  };
}

export async function textOf(bytes: AnswerBytes): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await bytes.read();
    if (done || value === undefined) return Buffer.concat(pieces).toString("utf8");
    pieces.push(value);
  }
}

export function webStream(bytes: AnswerBytes): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await bytes.read();
      if (done || value === undefined) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await bytes.cancel()),
  });
}
