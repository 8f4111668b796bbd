const waiting = new Set<() => void>();

function runAll(): void {
  for (const work of waiting) work();
}

/**
 * Runs `work` when this process exits, also at once by a second Ctrl-C, unless it was disposed before. One listener for all,
 * because many commands run at a time.
 */
export function atExit(work: () => void): Disposable {
  if (waiting.size === 0) process.on("exit", runAll);
  waiting.add(work);
  return {
    [Symbol.dispose]() {
      waiting.delete(work);
      if (waiting.size === 0) process.off("exit", runAll);
    },
  };
}
