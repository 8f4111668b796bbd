import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventData } from "#answer/event-data";

const read = (...pieces: readonly string[]): readonly string[] => {
  const events = new EventData();
  return pieces.flatMap((piece) => events.take(piece)).map(({ data }) => data);
};

describe("EventData", () => {
  it.each<[name: string, text: string, wanted: readonly string[]]>([
    ["one event", "data: a\n\n", ["a"]],
    ["one space alone before the data", "data:a\n\ndata:  b\n\n", ["a", " b"]],
    ["several lines of one event", "data: a\ndata\ndata: b\n\n", ["a\n\nb"]],
    ["every end of a line", "data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]],
    ["comments and other fields", ": alive\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\nevent: y\n\n", ["a"]],
    ["a field that only begins alike", "database: a\n\n", []],
    ["an event that did not end", "data: a\n\ndata: b\n", ["a"]],
  ])("reads %s", (_name, text, wanted) => {
    expect(read(text)).toEqual(wanted);
  });

  it("names events, each its own, and ends the last one", () => {
    const events = new EventData();
    expect(events.take("event: error\ndata: a\n\ndata: b\n\nevent:ping\ndata: c")).toEqual([
      { name: "error", data: "a" },
      { name: "", data: "b" },
    ]);
    expect(events.end()).toEqual([{ name: "ping", data: "c" }]);
    expect(events.end()).toEqual([]);
  });

  it("reads the same, however the text is cut", () => {
    const text = fc
      .array(fc.constantFrom("data", ":", " ", "a", "\r", "\n", "\r\n", "data: b\n\n"))
      .map((all) => all.join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (whole, places) => {
        const cuts = [0, ...places.map((place) => place % (whole.length + 1)), whole.length].toSorted((a, b) => a - b);
        const pieces = cuts.slice(1).map((end, index) => whole.slice(cuts[index], end));
        expect(read(...pieces)).toEqual(read(whole));
      }),
    );
  });
});
