import { ToolFailure } from "@gennai/governance/tool-error";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replaceText } from "#changes/replace-text";

/** The text after the edit and in what it differed, or the failure's code and the places it names. */
function edited(text: string, oldText: string, newText: string, replaceAll = false) {
  try {
    const replaced = replaceText(text, { oldText, newText, replaceAll }, "f");
    return [replaced.fitted?.differing ?? "exact", replaced.text];
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return [error.code, /\(lines? [^)]*\)/.exec(error.message)?.[0] ?? ""];
  }
}

const ends = "white space at the ends of lines";
const alike = "characters that look alike";
const both = "indentation and characters that look alike";

describe("an edit that nearly fits", () => {
  test.each([
    // name, file, old, new, in what it differed, the file then
    ["exact goes first", "a \na\n", "a \n", "b\n", "exact", "b\na\n"],
    ["trailing space of the file stays where nothing changed", "a  \nb\nc\n", "a\nb\n", "a\nx\n", ends, "a  \nx\nc\n"],
    ["also behind what changed", "foo  \nb\n", "foo\nb\n", "fox\nb\n", ends, "fox  \nb\n"],
    ["words in place of a blank line", "a\n    \nb\n", "a\n\nb\n", "a\n  x\nb\n", ends, "a\n  x\nb\n"],
    ["words in place of the last blank line", "a \n    ", "a\n", "a\nx", ends, "a \nx"],
    ["words in place of a blank line and one before it", "a\n    \nb\n", "a\n\nb\n", "x\nb\n", ends, "x\nb\n"],
    ["a line before a blank one", "a\n    \nb\n", "a\n\nb\n", "a\nx\n\nb\n", ends, "a\nx\n    \nb\n"],
    ["a blank line that stays", "a\n    \nb\n", "a\n\nb\n", "a\n\nx\n", ends, "a\n    \nx\n"],
    ["the model's own trailing space", "a\nb\nc\n", "a \nb\t\n", "a \nx\n", ends, "a\nx\nc\n"],
    ["a lone carriage return", "a\r\nb\nc", "a\nb", "a\nx", ends, "a\r\nx\nc"],
    ["the last line has no end", "x\na", "a\n", "a\nb\n", ends, "x\na\nb"],
    ["nor when it goes", "x\na", "a\n", "", ends, "x\n"],
    ["space at the very end", "return x\n", "return x  ", "return y  ", ends, "return y  \n"],
    ["space at the end is not part of a word", "returned x\n", "return ", "give ", "no_match", ""],
    ["in the middle of lines", "if (a) { \n  b();\n}\n", "(a) {\n  b", "(c) {\n  b", ends, "if (c) { \n  b();\n}\n"],
    [
      ...["a block too far left", "  f(\n    a,\n  )\n", "f(\n  a,\n)\n", "f(\n  a,\n    b,\n)\n", "indentation"],
      "  f(\n    a,\n      b,\n  )\n",
    ],
    [
      ...["a block too far right", "f(\n  a,\n)\n", "  f(\n    a,\n  )", "  f(\n    b,\n  )", "indentation"],
      "f(\n  b,\n)\n",
    ],
    [
      "spaces for tabs",
      "\tif x {\n\t\ty()\n\t}\n",
      "    if x {\n        y()\n    }\n",
      "    if x {\n        if z {\n            y()\n        }\n    }\n",
      "indentation",
      "\tif x {\n\t\tif z {\n\t\t\ty()\n\t\t}\n\t}\n",
    ],
    [
      ...["tabs for spaces", "def f():\n  if x:\n    y\n", "def f():\n\tif x:\n\t\ty\n"],
      ...["def f():\n\tif x:\n\t\tz\n\t\ty\n", "indentation", "def f():\n  if x:\n    z\n    y\n"],
    ],
    [
      ...["a width of one level", "\ta()\n\tb()\n", "    a()\n    b()\n", "    a()\n    for {\n        b()\n    }\n"],
      ...["indentation", "\ta()\n\tfor {\n\t\tb()\n\t}\n"],
    ],
    ["a level that cannot be told", "\ta()\n\tb()\n", "a()\nb()\n", "a()\n  b()\n", "no_match", ""],
    ["lines shifted differently", "  a\n b\n", "a\nb\n", "a\nc\n", "no_match", ""],
    ["new lines left of the shift", "f(\n  a)\n", "    f(\n      a)\n", "  f(\n  b)\n", "no_match", ""],
    ["empty lines have no indentation", "  a\n\n  b\n", "a\n\nb\n", "a\n\nc\n", "indentation", "  a\n\n  c\n"],
    [
      "quotes stay the file's",
      "say “hello” to “all”\n",
      'say "hello" to "all"',
      'say "bye" to "all"',
      alike,
      "say “bye” to “all”\n",
    ],
    ["on other lines too", "it’s\nb\n", "it's\nb\n", "it's\nc\n", alike, "it’s\nc\n"],
    ["dashes and spaces", "1\u00A0–\u00A02\n3\n", "1 - 2\n3", "1 - 2\n4", alike, "1\u00A0–\u00A02\n4\n"],
    ["decomposed letters", "u\u0308ber\nx\n", "über\nx\n", "über\ny\n", alike, "u\u0308ber\ny\n"],
    ["composed ones", "über x\n", "u\u0308ber x", "u\u0308ber y", alike, "über y\n"],
    ["Hangul", "한국 x\n", "한국 x".normalize("NFD"), "한국 y".normalize("NFD"), alike, "한국 y\n"],
    ["no letter is cut", "u\u0308\u2019\n", "u'", "v'", "no_match", ""],
    ["shifted and alike", "  it’s\n  b\n", "it's\nb\n", "it's\nc\n", both, "  it’s\n  c\n"],
    ["two places", "  a\n  b\n\ta\n\tb\n", "a\nb\n", "a\nc\n", "ambiguous_match", "(lines 1, 3)"],
    [
      ...["two places, one of which the new text does not suit", "  x\ny\nx\n", "\tx\n", "\tx\nNEW"],
      ...["ambiguous_match", "(lines 1, 3)"],
    ],
    ["two places but for space", "a \nb\na  \nb\n", "a\nb\n", "a\nc\n", "ambiguous_match", "(lines 1, 3)"],
    ["two places alike", "“a” ”a“\n", '"a"', '"b"', "ambiguous_match", "(lines 1, 1)"],
    ["overlapping ones", "a \na \na \n", "a\na\n", "b\n", "ambiguous_match", "(lines 1, 2)"],
    ["of which one is not a whole line", "  a\n\tb\nx  a\n\tb\n", "    a\n\tb\n", "    a\n\tc\n", "no_match", ""],
    ["an empty line is none's end", "a\n  b \n", "\n  b\n", "x\n  b\n", "no_match", ""],
    ["nothing but white space", "a\n\n\nb\n", "\n \n", "\n", "no_match", ""],
    ["line numbers of what was read", "a\nb\nc\n", "  2\tb\n  3\tc\n", "  2\tb\n  3\tx\n", "line numbers", "a\nb\nx\n"],
    ["only in the old text", "a\nb\nc\n", " 9\ta\n10\tb", "x", "line numbers", "x\nc\n"],
    ["numbered, and shifted", "  a\n  b\n", "1\ta\n2\tb\n", "1\ta\n2\tc\n", "indentation", "  a\n  c\n"],
    ["numbers that do not follow", "a\nb\n", "1\ta\n3\tb\n", "c", "no_match", ""],
    ["numbers on some new lines", "a\nb\n", "1\ta\n2\tb\n", "1\ta\nc\n", "no_match", ""],
    ["numbers that fit twice", "a\nb\na\n", "1\ta", "c", "ambiguous_match", "(lines 1, 3)"],
    ["numbers as earlier versions put them", "a\nb\n", "2→b", "2→c", "line numbers", "a\nc\n"],
    ["a number of the file's own", "1\ta\na\n", "1\ta", "1\tb", "exact", "1\tb\na\n"],
    ["wrong numbers where the file has its own", "1\ta\n2\tb\n", "3\tb", "3\tc", "no_match", ""],
    ["the same, indented by tabs", "\t1\tb\na\n", "\t1\ta", "\t1\tc", "no_match", ""],
  ])("%s", (_name, text, oldText, newText, differing, want) => {
    expect(edited(text, oldText, newText)).toEqual([differing, want]);
  });

  test("is not for every place", () => {
    expect(edited("a \nb\n", "a\nb\n", "c\n", true)).toEqual(["no_match", ""]);
  });

  test("is refused quickly in a large file that fits everywhere, or nowhere", () => {
    const text = "  x\n".repeat(200_000);
    expect(edited(text, "x \n x\n", "y\n")[0]).toBe("no_match");
    expect(edited(text, "“x\n", "y\n")[0]).toBe("no_match");
    expect(edited(text, "  x \n", "y\n")[0]).toBe("ambiguous_match");
    expect(edited(`${" ".repeat(1_000_000)}x\n`, "y \n", "z")[0]).toBe("no_match");
  });
});

const bodies = ["a", "it's “b”", 'say "c"', "d – e", "über", "}", ""];
const fileLine = fc
  .tuple(
    fc.constantFrom("", "  ", "    ", "\t", "\t\t"),
    fc.constantFrom(...bodies),
    fc.constantFrom("", "", " ", "\r"),
  )
  .map((parts) => parts.join(""));
const wrong = fc.record({
  left: fc.constantFrom("", "  ", "\t"),
  trailing: fc.constantFrom("", " "),
  plain: fc.boolean(),
  form: fc.constantFrom("NFC", "NFD"),
});

describe("for any file and any block of it, in a model's words", () => {
  const cases = fc
    .tuple(
      fc.array(fileLine, { minLength: 1, maxLength: 12 }),
      fc.nat(11),
      fc.integer({ min: 1, max: 4 }),
      wrong,
      fc.nat(3),
      fc.boolean(),
    )
    .map(([lines, from, count, how, changed, closed]) => {
      const block = lines.slice(from % lines.length, (from % lines.length) + count);
      const words = block.map((line) => {
        const said = how.plain ? line.replaceAll(/[“”]/g, '"').replaceAll("–", "-") : line;
        return `${line.trim() === "" ? "" : how.left}${said.trimEnd()}${how.trailing}`.normalize(how.form);
      });
      const fresh = words.map((line, index) => (index === changed % words.length ? `${line}NEW` : line));
      const end = closed ? "\n" : "";
      return {
        text: `${lines.join("\n")}\n`,
        oldText: words.join("\n") + end,
        newText: fresh.join("\n") + end,
        block: block.map((line) => `${line}\n`),
        changed: changed % words.length,
        // An empty last line without an end is not a line.
        isBlock: closed || words.at(-1)?.trim() !== "",
      };
    })
    .filter(({ oldText, isBlock }) => oldText !== "" && isBlock);

  test("an exact place is taken as it is, and any other edit changes one line of the block, by what is new", () => {
    let fitted = 0;
    fc.assert(
      fc.property(cases, ({ text, oldText, newText, changed, block }) => {
        // Also where they overlap.
        const places = Array.from(text.split(""), (_, at) => text.startsWith(oldText, at)).filter(Boolean).length;
        const [differing, after = ""] = edited(text, oldText, newText);
        if (places === 1) expect([differing, after]).toEqual(["exact", text.replace(oldText, () => newText)]);
        if (places > 1) expect(differing).toBe("ambiguous_match");
        if (places > 0 || differing === "no_match" || differing === "ambiguous_match") return;
        fitted += 1;
        const before = text.split("\n");
        const now = after.split("\n");
        expect(now.length).toBe(before.length);
        const differ = now.flatMap((line, index) => (line === before[index] ? [] : [index]));
        expect(differ.length).toBe(1);
        const [at = 0] = differ;
        // Without what is new, that line is what it was, but for space where the new text was put behind it.
        expect(now[at]?.replace("NEW", "").trimEnd()).toBe(before[at]?.trimEnd());
        expect(block[changed]?.trim()).toBe(before[at]?.trim());
      }),
      { numRuns: 3000 },
    );
    expect(fitted).toBeGreaterThan(500);
  });

  test("the edit in the file's words, made exactly, gives the same", () => {
    fc.assert(
      fc.property(cases, ({ text, oldText, newText }) => {
        let replaced: ReturnType<typeof replaceText>;
        try {
          replaced = replaceText(text, { oldText, newText, replaceAll: false }, "f");
        } catch (error) {
          if (error instanceof ToolFailure) return;
          throw error;
        }
        const { fitted } = replaced;
        if (fitted === undefined) return;
        expect(edited(text, fitted.oldText, fitted.newText)).toEqual(["exact", replaced.text]);
        expect(
          text
            .split("\n")
            .slice(fitted.firstLine - 1, fitted.lastLine)
            .join("\n"),
        ).toContain(fitted.oldText.replace(/\n$/, ""));
      }),
      { numRuns: 3000 },
    );
  });
});
