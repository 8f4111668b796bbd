/**
 * Adds to Node 22 and 23 what the program expects, before anything else runs. On Node 24 it does nothing. Features that neither
 * this nor the compiler provides are not used.
 */
export async function makeUpForOlderNode(): Promise<void> {
  if (typeof AsyncDisposableStack !== "undefined") return;
  await import("./disposable-stacks.ts");
  replaceFetch();
  silenceSqliteWarning();
}

/**
 * Older versions of `fetch` forget their signal if garbage is collected while the answer streams: the stream of a turn or of a
 * model would go on although it was aborted. The newer one is loaded by its first use.
 */
function replaceFetch(): void {
  globalThis.fetch = async (input, init) => {
    await import("./newer-fetch.ts");
    return globalThis.fetch(input, init);
  };
}

/** Every command that opens the store would begin with "SQLite is an experimental feature"; other warnings are shown. */
function silenceSqliteWarning(): void {
  const { emitWarning } = process;
  process.emitWarning = (...args: unknown[]) => {
    if (args[1] === "ExperimentalWarning" && String(args[0]).startsWith("SQLite ")) return;
    Reflect.apply(emitWarning, process, args);
  };
}
