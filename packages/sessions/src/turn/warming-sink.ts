import type { TurnSink } from "@gennai/agent/turn-sink";

/** Milliseconds without a word from the model. */
const patience = 1000;

/**
 * A sink that has what a command needs made ahead, once: when the model begins a call, or keeps everybody waiting for the
 * beginning of an answer. It takes several programs, and an answer that comes at once and calls nothing pays for none of them.
 */
export function warmingSink(inner: TurnSink, warmUp: () => void): TurnSink & Disposable {
  let waiting: NodeJS.Timeout | undefined;
  let isWarm = false;
  const warm = (): void => {
    if (!isWarm) warmUp();
    isWarm = true;
  };
  return {
    emit: (event, itemId) => {
      clearTimeout(waiting);
      inner.emit(event, itemId);
      if (event.type === "tool-call-start" || event.type === "tool-call") warm();
      else if (event.type === "status" && event.state === "thinking" && !isWarm) {
        waiting = setTimeout(warm, patience).unref();
      }
    },
    settle: () => inner.settle(),
    flush: () => inner.flush(),
    [Symbol.dispose]: () => clearTimeout(waiting),
  };
}
