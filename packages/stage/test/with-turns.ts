/** Does some work, and calls `onTurn` whenever a timer of this process has its turn until it is done. */
export async function withTurns<Value>(work: () => Promise<Value>, onTurn: () => void): Promise<Value> {
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    onTurn();
    setTimeout(turn);
  };
  setTimeout(turn);
  try {
    return await work();
  } finally {
    isOver = true;
  }
}
