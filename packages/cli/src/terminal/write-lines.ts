/** Writes texts only as fast as their reader takes them, so that only one is in memory. Ends early if the reader has gone. */
export async function writeLines(
  lines: AsyncIterable<string>,
  output: Pick<NodeJS.WritableStream, "write" | "on" | "off">,
): Promise<void> {
  let isGone = false;
  let goOn: () => void = () => undefined;
  const drained = () => goOn();
  // After an error, the process's own output takes writes again, and fails again.
  const gone = () => {
    isGone = true;
    goOn();
  };
  output.on("drain", drained).on("error", gone).on("close", gone);
  try {
    for await (const line of lines) {
      const { promise, resolve } = Promise.withResolvers<void>();
      goOn = resolve;
      if (!output.write(line) && !isGone) await promise;
      if (isGone) return;
    }
  } finally {
    output.off("drain", drained).off("error", gone).off("close", gone);
  }
}
