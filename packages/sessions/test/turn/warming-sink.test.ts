import type { SessionEvent } from "@gennai/agent/events/session-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { warmingSink } from "#turn/warming-sink";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const asked: SessionEvent = { type: "status", state: "thinking", iteration: 1 };
const said: SessionEvent = { type: "text-delta", text: "Here" };
const thought: SessionEvent = { type: "thinking-delta", text: "Let me see" };
const called: SessionEvent = { type: "tool-call-start", id: "call", name: "Read" };
const whole: SessionEvent = { type: "tool-call", id: "call", name: "Read", argumentsJson: "{}" };

function watched() {
  const inner = { events: [] as SessionEvent[], emit: (event: SessionEvent) => void inner.events.push(event) };
  const warmUp = vi.fn<() => void>();
  const sink = warmingSink({ ...inner, settle: async () => {}, flush: async () => {} }, warmUp);
  return { sink, warmUp, events: inner.events };
}

test.each<[string, readonly (SessionEvent | "a long while")[], number]>([
  ["an answer that comes at once and calls nothing", [asked, said, "a long while", said], 0],
  ["a turn that has not asked yet", ["a long while"], 0],
  ["a call", [asked, called], 1],
  ["a call of a provider that tells it whole", [asked, whole], 1],
  ["a model that says nothing yet", [asked, "a long while"], 1],
  ["a model that thinks for long before it answers", [asked, thought, "a long while", said], 1],
  ["that, and then calls", [asked, "a long while", called, whole, asked, "a long while", called], 1],
])("%s: made ahead %#", (_name, steps, times) => {
  const { sink, warmUp, events } = watched();
  for (const step of steps) {
    if (step === "a long while") vi.advanceTimersByTime(60_000);
    else sink.emit(step);
  }
  expect(warmUp).toHaveBeenCalledTimes(times);
  expect(events).toEqual(steps.filter((step) => step !== "a long while"));
});

test("nothing is made ahead after the turn has ended", () => {
  const { sink, warmUp } = watched();
  sink.emit(asked);
  sink[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  expect(warmUp).not.toHaveBeenCalled();
});
