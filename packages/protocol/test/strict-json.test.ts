import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseStrictJson, StrictJsonError } from "#strict-json";

function codeOf(text: string, limits = {}): string {
  try {
    parseStrictJson(text, limits);
    return "ok";
  } catch (error) {
    if (error instanceof StrictJsonError) return `${error.code} at ${error.path || "top"}`;
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const safe = fc.jsonValue({ noUnicodeString: false }).filter((value) => {
  const text = JSON.stringify(value);
  return !text.includes('"__proto__"') && text.isWellFormed() && !hasUnsafe(value) && !/\\ud[89a-f]/i.test(text);
});

function hasUnsafe(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnsafe);
}

describe("parseStrictJson", () => {
  test("reads what JSON.parse reads, whatever the white space", () => {
    fc.assert(
      fc.property(safe, fc.constantFrom(undefined, 1, "\t", "\r\n "), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseStrictJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("accepts nothing that JSON.parse refuses", () => {
    const pieces = [
      ...["{", "}", "[", "]", ",", ":", '"', "\\", "a", "1", "-", "0", ".", "e", "true", "null", " ", "\n"],
      ...["\\u0041", "/"],
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        if (codeOf(text) === "ok") expect(isJson(text)).toBe(true);
        else if (codeOf(text).startsWith("syntax")) expect(isJson(text)).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    ['{"risk_level":"low","risk_level":"high"}', "duplicate_key at risk_level"],
    ['{"\\u0061":1,"a":2}', "duplicate_key at a"],
    ['{"steps":[{"id":"a"},{"id":"b","id":"c"}]}', "duplicate_key at steps[1].id"],
    ['{"__proto__":{}}', "forbidden_key at __proto__"],
    ['{"\\u005f_proto__":{}}', "forbidden_key at __proto__"],
    ['{"a":"\\ud83d"}', "lone_surrogate at a"],
    ['{"\\udc00":1}', "lone_surrogate at top"],
    ["9007199254740993", "unsafe_number at top"],
    ["[1,1e400]", "unsafe_number at [1]"],
    ["-1e400", "unsafe_number at top"],
    ["NaN", "syntax at top"],
    ["01", "syntax at top"],
    ['"\n"', "syntax at top"],
    ["{} {}", "syntax at top"],
    ["[1,]", "syntax at [1]"],
    ["\u00a0{}", "syntax at top"],
    ["", "syntax at top"],
  ])("refuses %s", (text, wanted) => {
    expect(codeOf(text)).toBe(wanted);
  });

  test("has limits, before anything is built", () => {
    expect(codeOf(`${"[".repeat(10_000)}${"]".repeat(10_000)}`)).toMatch(/^too_deep/);
    expect(codeOf(`"${"a".repeat(2_000_000)}"`)).toBe("too_large at top");
    expect(codeOf("[[1]]", { maxDepth: 1 })).toMatch(/^too_deep/);
  });

  test.each(["1.0", "1", "1e0", "0.1e1"])("reads %s as one number", (text) => {
    expect(parseStrictJson(text)).toBe(1);
  });
});
