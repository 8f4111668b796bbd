import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Step } from "#offline/parse-request";
import { parseRequest } from "#offline/parse-request";

const understood: readonly [name: string, text: string, steps: readonly Partial<Step>[]][] = [
  ["plain words", "replace foo with bar in src/*.ts", [{ verb: "replace", text: "foo", by: "bar", path: "src/*.ts" }]],
  [
    "several words",
    "Replace old name WITH new name In **/*.md",
    [{ verb: "replace", text: "old name", by: "new name", path: "**/*.md" }],
  ],
  [
    "quotes protect keywords",
    `replace "a with b" with 'c in d' in x.ts`,
    [{ verb: "replace", text: "a with b", by: "c in d", path: "x.ts" }],
  ],
  [
    "the last in counts",
    "replace born in 1 with born in 2 in a.txt",
    [{ verb: "replace", text: "born in 1", by: "born in 2", path: "a.txt" }],
  ],
  ["an empty replacement", 'replace foo with "" in a.txt', [{ verb: "replace", text: "foo", by: "", path: "a.txt" }]],
  [
    "escapes in double quotes",
    String.raw`replace "a\nb\t\"c\"\\" with 'd\n' in a.txt`,
    [{ verb: "replace", text: 'a\nb\t"c"\\', by: "d\\n", path: "a.txt" }],
  ],
  [
    "curly quotes",
    "replace “foo bar” with ‘baz’ in a.txt",
    [{ verb: "replace", text: "foo bar", by: "baz", path: "a.txt" }],
  ],
  [
    "rename in files",
    "rename getUser to fetchUser in src/**",
    [{ verb: "rename", text: "getUser", by: "fetchUser", path: "src/**" }],
  ],
  ["create", 'create hello.txt with "Hello, world"', [{ verb: "create", path: "hello.txt", text: "Hello, world" }]],
  [
    "create with a fence",
    "create src/a.ts with\n```ts\nexport const a = 1;\n\nthen();\n```",
    [{ verb: "create", path: "src/a.ts", text: "export const a = 1;\n\nthen();" }],
  ],
  [
    "create with a fence and no with",
    "create a.txt\n```\nx\n```\nthen show a.txt",
    [
      { verb: "create", path: "a.txt", text: "x" },
      { verb: "show", path: "a.txt" },
    ],
  ],
  [
    "a longer fence",
    "create a.md with\n````\n```\nx\n```\n````",
    [{ verb: "create", path: "a.md", text: "```\nx\n```" }],
  ],
  ["create empty", "create empty.txt", [{ verb: "create", path: "empty.txt", text: "" }]],
  ["append", "append `one more line` to docs/log.md", [{ verb: "append", path: "docs/log.md", text: "one more line" }]],
  ["delete", "delete ./old.txt.", [{ verb: "delete", path: "old.txt" }]],
  ["find", "find TODO", [{ verb: "find", text: "TODO", path: "" }]],
  ["show", "show README.md", [{ verb: "show", path: "README.md" }]],
  ["list", "list", [{ verb: "list", path: "" }]],
  ["list the files", "list the files", [{ verb: "list", path: "" }]],
  ["list a directory", "list src", [{ verb: "list", path: "src" }]],
  [
    "run keeps the command as written",
    `run npm test -- --grep "a  b"`,
    [{ verb: "run", text: `npm test -- --grep "a  b"` }],
  ],
  ["run quoted", "run `npm test`", [{ verb: "run", text: "npm test" }]],
  [
    "run in the terminal",
    "run npm install in the terminal",
    [{ verb: "run", text: "npm install", by: "in the terminal" }],
  ],
  [
    "run quoted in the terminal",
    'run "npm run dev" in a terminal.',
    [{ verb: "run", text: "npm run dev", by: "in a terminal." }],
  ],
  ["a shell's then", "run if true; then echo x; fi", [{ verb: "run", text: "if true; then echo x; fi" }]],
  [
    "a proof",
    "run x, and then verify `npm test`",
    [
      { verb: "run", text: "x" },
      { verb: "verify", text: "npm test" },
    ],
  ],
  ["a mention in quotes", 'show @"x then delete y":3', [{ verb: "show", path: "x then delete y" }]],
  ["say", "say hello there, friend", [{ verb: "say", text: "hello there, friend" }]],
  [
    "joined",
    "show a.txt, and then say one THEN say two",
    [
      { verb: "show", path: "a.txt" },
      { verb: "say", text: "one" },
      { verb: "say", text: "two" },
    ],
  ],
  ["then without a verb is text", "say first this then that", [{ verb: "say", text: "first this then that" }]],
  ["an apostrophe is no quote", "say don't panic, it's fine", [{ verb: "say", text: "don't panic, it's fine" }]],
];

describe("parseRequest", () => {
  it.each(understood)("understands %s", (_name, text, steps) => {
    expect(parseRequest(text)).toMatchObject(steps);
  });

  it.each([
    ["make it faster", undefined],
    ["replace foo with bar", "replace A with B in GLOB"],
    ["rename foo to bar", "rename A to B in GLOB"],
    ["append foo", "append TEXT to FILE"],
    ["run", "run COMMAND"],
    ['find ""', "find TEXT"],
    ["show a.txt then find", "find TEXT"],
    ["help me with it", undefined],
  ])("does nothing for %j", (text, advice) => {
    const parsed = parseRequest(text);
    expect("clause" in parsed && (parsed.usage ?? "")).toContain(advice ?? "");
  });

  it("never throws, whatever it reads", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.constantFrom(
              "replace",
              "with",
              "in",
              "then",
              "to",
              "run",
              '"',
              "'",
              "`",
              "```\n",
              "\n",
              " ",
              "rename",
              "create",
              "file",
            ),
            fc.string(),
          ),
        ),
        (parts) => {
          expect(() => parseRequest(parts.join(" "))).not.toThrow();
        },
      ),
    );
  });

  it("gives quoted text back unchanged", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (find, replacement) => {
        const quoted = (text: string) => JSON.stringify(text.replaceAll(/[^ -~]/g, "_"));
        const plain = (text: string) => text.replaceAll(/[^ -~]/g, "_");
        expect(parseRequest(`replace ${quoted(find)} with ${quoted(replacement)} in "a.txt"`)).toMatchObject([
          { verb: "replace", text: plain(find), by: plain(replacement), path: "a.txt" },
        ]);
      }),
    );
  });
});
