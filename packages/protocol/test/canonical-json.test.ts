import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CanonicalJsonError, canonicalJson } from "#canonical-json";

describe("canonicalJson", () => {
  it.each([
    [
      "sorts keys by UTF-16 code unit",
      { b: 1, a: 2, "\u20ac": 3, "\ud83d\ude00": 4, "\ufb33": 5 },
      '{"a":2,"b":1,"€":3,"😀":4,"\ufb33":5}',
    ],
    [
      "writes numbers the one ECMAScript way",
      [1.0, 1e21 / 1e21, 1e-7, -0, 0.1 + 0.2],
      "[1,1,1e-7,0,0.30000000000000004]",
    ],
    ["escapes the least", '\u000f\n"\\/€\u2028', '"\\u000f\\n\\"\\\\/€\u2028"'],
    ["keeps the order of arrays", [[3, 2], [], {}], "[[3,2],[],{}]"],
    ["takes objects without a prototype", Object.assign(Object.create(null), { x: null }), '{"x":null}'],
  ])("%s", (_name, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;

  it.each([
    ["a lone surrogate", { a: ["x\ud800"] }, "lone_surrogate", "/a/0"],
    ["a lone surrogate in a key", { "\udc00": 1 }, "lone_surrogate", "/\udc00"],
    ["an unsafe integer", { n: 2 ** 53 }, "unsafe_integer", "/n"],
    ["a huge float, which is an integer too", 1e300, "unsafe_integer", ""],
    ["NaN", [Number.NaN], "not_finite", "/0"],
    ["infinity", Number.NEGATIVE_INFINITY, "not_finite", ""],
    ["undefined", undefined, "not_json", ""],
    ["an undefined member", { "a/b": undefined }, "not_json", "/a~1b"],
    ["a function", { f: () => 1 }, "not_json", "/f"],
    ["a hole in an array", new Array(1), "not_json", "/0"],
    ["a bigint", 1n, "not_json", ""],
    ["a date", { d: new Date(0) }, "not_json", "/d"],
    ["an object that would replace itself", { toJSON: () => "other" }, "not_json", "/toJSON"],
    ["a cycle", cyclic, "too_deep", "/self/self/self/self/self/self/self/self"],
  ])("refuses %s", (_name, value, code, path) => {
    expect(() => canonicalJson(value)).toThrow(CanonicalJsonError);
    expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ code, path }));
  });

  it("round-trips and does not depend on the order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 4 }), (value) => {
        let text: string;
        try {
          text = canonicalJson(value);
        } catch (error) {
          expect(error).toBeInstanceOf(CanonicalJsonError);
          return;
        }
        expect(text).not.toMatch(/[\n\r]/);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}
