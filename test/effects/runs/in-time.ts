/** Rejects, with what was going on, for a round that takes so long that it will never end. */
export async function inTime<Value>(round: Promise<Value>, step: () => string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It took over ${longestRoundMs} ms: ${step()}`)), longestRoundMs);
  });
  try {
    return await Promise.race([round, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A busy machine copies the workspace for ten seconds and more. */
const longestRoundMs = 180_000;
