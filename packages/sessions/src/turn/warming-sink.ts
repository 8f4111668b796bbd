import type { TurnSink } from "@gennai/agent/loop/turn-sink";

/** Milliseconds without a part of an answer; hosted models usually take longer for the first. */
const delayMs = 300;

/**
 * A sink that prepares once what a command needs: when the model begins a call, or takes long to begin an answer. It starts
 * several programs, which a quick answer without calls should not cost.
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
      // Thinking is no answer yet: a call may follow at once.
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
