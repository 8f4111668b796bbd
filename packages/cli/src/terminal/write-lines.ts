/**
 * Writes texts no faster than their reader takes them, so that none but the next is in memory. Asks for no more of them when
 * the reader went away.
 */
export async function writeLines(
  lines: AsyncIterable<string>,
  output: Pick<NodeJS.WritableStream, "write" | "on" | "off">,
): Promise<void> {
  let isGone = false;
  let goOn: () => void = () => undefined;
  const drained = () => goOn();
  // The process's own output takes writes again after an error, and fails again.
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
