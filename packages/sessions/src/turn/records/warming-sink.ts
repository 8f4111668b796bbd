import type { TurnSink } from "@gennai/agent/loop/turn-sink";

/** Milliseconds without a word of an answer; hosted models take longer than that for the first. */
const delayMs = 300;

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
      inner.emit(event, itemId);
      if (event.type === "tool-call-start" || event.type === "tool-call") warm();
      // What it thinks is not an answer yet: a call may follow at once.
      else if (event.type === "text-delta") clearTimeout(waiting);
      else if (event.type === "status" && event.state === "thinking" && !isWarm) {
        clearTimeout(waiting);
        waiting = setTimeout(warm, delayMs).unref();
      }
    },
    settle: () => inner.settle(),
    flush: () => inner.flush(),
    [Symbol.dispose]: () => clearTimeout(waiting),
  };
}
