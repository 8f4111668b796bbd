import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { TurnSink } from "@gennai/agent/loop/turn-sink";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactingSink } from "#turn/redacting-sink";
import { noise } from "../../../machine/test/redaction/secret-cases.ts";

const secret = noise(36);
const token = `ghp_${secret}`;
const redactor = await createRedactor();

function recording() {
  const events: (readonly [SessionEvent, string | undefined])[] = [];
  const calls: string[] = [];
  const inner: TurnSink = {
    emit: (event, itemId) => {
      events.push([event, itemId]);
    },
    settle: async () => {
      calls.push(`settle ${events.length}`);
    },
    flush: async () => {
      calls.push(`flush ${events.length}`);
    },
  };
  return { events, calls, sink: createRedactingSink(inner, redactor) };
}

const text = (piece: string): SessionEvent => ({ type: "text-delta", text: piece });
const thinking = (piece: string): SessionEvent => ({ type: "thinking-delta", text: piece });
const status: SessionEvent = { type: "status", state: "waiting-tool-result", iteration: 1 };
const final = (said: string): SessionEvent => ({
  type: "final",
  text: said,
  thinking: said,
  inputTokens: 1,
  outputTokens: 2,
  modelId: "m",
  maxContextTokens: 3,
});

describe("createRedactingSink", () => {
  it("hands harmless text on at once, and the same event", () => {
    const { events, sink } = recording();
    const event = text("The quick bro");
    sink.emit(event, "i");
    expect(events).toEqual([[event, "i"]]);
    expect(events[0]?.[0]).toBe(event);
  });

  it("shows what is held back before the event of another item", async () => {
    const { events, sink } = recording();
    sink.emit(thinking("look at x_1"), "t");
    sink.emit(text("in x_"), "i");
    sink.emit(text("2"), "i");
    sink.emit(status);
    sink.emit(text(" more"), "i");
    await sink.settle();
    expect(events).toEqual([
      [thinking("look at "), "t"],
      [thinking("x_1"), "t"],
      [text("in "), "i"],
      [text("x_2"), "i"],
      [status, undefined],
      [text(" more"), "i"],
    ]);
  });

  it("masks texts, pieces of arguments, calls and the end; ids stay", async () => {
    const { events, sink } = recording();
    const args = JSON.stringify({ command: `echo a\n${token}`, n: 1 });
    for (const piece of [...`use ${token} now`]) sink.emit(text(piece), "i");
    sink.emit({ type: "tool-call-start", id: "c", name: "Bash" }, "c");
    for (const piece of args.match(/.{1,5}/gs) ?? []) sink.emit({ type: "tool-call-delta", id: "c", text: piece }, "c");
    sink.emit({ type: "tool-call", id: "c-1", name: "Bash", argumentsJson: args }, "c");
    sink.emit(final(`it was ${token}`));
    await sink.flush();
    expect(JSON.stringify(events)).not.toContain(secret.slice(0, 9));
    const masked = JSON.stringify({ command: "echo a\n[REDACTED:github]", n: 1 });
    const pieces = events.flatMap(([event]) => (event.type === "tool-call-delta" ? [event.text] : []));
    expect(pieces.join("")).toBe(masked);
    expect(events.slice(-2)).toEqual([
      [{ type: "tool-call", id: "c-1", name: "Bash", argumentsJson: masked }, "c"],
      [final("it was [REDACTED:github]"), undefined],
    ]);
  });

  it("masks a call that came without pieces, or with others", async () => {
    const { events, sink } = recording();
    sink.emit({ type: "tool-call-delta", id: "a", text: '{"x":' }, "a");
    for (const id of ["a", "b"]) sink.emit({ type: "tool-call", id, name: "T", argumentsJson: `{"k":"${token}"}` }, id);
    await sink.settle();
    expect(events.slice(-2).map(([event]) => (event.type === "tool-call" ? event.argumentsJson : ""))).toEqual([
      '{"k":"[REDACTED:github]"}',
      '{"k":"[REDACTED:github]"}',
    ]);
  });

  it("flushes the inner sink after everything is in it", async () => {
    const { events, calls, sink } = recording();
    sink.emit(text(`a ${token}`), "i");
    await sink.flush();
    expect(calls).toEqual([`settle ${events.length}`, `flush ${events.length}`]);
    expect(events.map(([event]) => (event.type === "text-delta" ? event.text : "")).join("")).toBe(
      "a [REDACTED:github]",
    );
  });

  it("keeps the order of items and loses nothing, whenever it is given time", async () => {
    const words = fc.constantFrom("the ", "fox", "x_1", "9a", ": ", "token", "=", '"', "\n", "http://a.b/c", "É");
    const step = fc.record({ item: fc.constantFrom("t", "i", ""), piece: words, wait: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const said = (of: string) => steps.flatMap(({ item, piece }) => (item === of ? piece : [])).join("");
        // Now and then these words say a secret.
        for (const of of ["t", "i"]) fc.pre((await redactor.redact(said(of))) === said(of));
        const { events, sink } = recording();
        for (const { item, piece, wait } of steps) {
          if (item === "") sink.emit(status);
          else sink.emit(item === "t" ? thinking(piece) : text(piece), item);
          if (wait) await Promise.resolve();
        }
        await sink.settle();
        const flat = (list: readonly (readonly [string, string])[]) =>
          list.reduce<[string, string][]>((all, [item, piece]) => {
            const last = all.at(-1);
            if (last !== undefined && last[0] === item && item !== "") last[1] += piece;
            else all.push([item, piece]);
            return all;
          }, []);
        expect(flat(events.map(([event, item]) => [item ?? "", "text" in event ? event.text : ""]))).toEqual(
          flat(steps.map(({ item, piece }) => [item, item === "" ? "" : piece])),
        );
      }),
      { numRuns: 200 },
    );
  });
});
