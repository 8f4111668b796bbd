import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRequest } from "#offline/parse-request";
import type { Step } from "#offline/request";

const understood: readonly [name: string, text: string, steps: readonly Step[]][] = [
  [
    "plain words",
    "replace foo with bar in src/*.ts",
    [{ kind: "replace", find: "foo", replacement: "bar", path: "src/*.ts" }],
  ],
  [
    "several words",
    "Replace old name WITH new name In **/*.md",
    [{ kind: "replace", find: "old name", replacement: "new name", path: "**/*.md" }],
  ],
  [
    "quotes protect keywords",
    `replace "a with b" with 'c in d' in x.ts`,
    [{ kind: "replace", find: "a with b", replacement: "c in d", path: "x.ts" }],
  ],
  [
    "the last in counts",
    "replace born in 1 with born in 2 in a.txt",
    [{ kind: "replace", find: "born in 1", replacement: "born in 2", path: "a.txt" }],
  ],
  [
    "an empty replacement",
    'replace foo with "" in a.txt',
    [{ kind: "replace", find: "foo", replacement: "", path: "a.txt" }],
  ],
  [
    "escapes in double quotes",
    String.raw`replace "a\nb\t\"c\"\\" with 'd\n' in a.txt`,
    [{ kind: "replace", find: 'a\nb\t"c"\\', replacement: "d\\n", path: "a.txt" }],
  ],
  [
    "curly quotes",
    "replace “foo bar” with ‘baz’ in a.txt",
    [{ kind: "replace", find: "foo bar", replacement: "baz", path: "a.txt" }],
  ],
  [
    "rename in files",
    "rename getUser to fetchUser in src/**",
    [{ kind: "replace", find: "getUser", replacement: "fetchUser", path: "src/**" }],
  ],
  [
    "create",
    'create hello.txt with "Hello, world"',
    [{ kind: "create", path: "hello.txt", content: "Hello, world\n" }],
  ],
  [
    "create with a fence",
    "create src/a.ts with\n```ts\nexport const a = 1;\n\nthen();\n```",
    [{ kind: "create", path: "src/a.ts", content: "export const a = 1;\n\nthen();\n" }],
  ],
  [
    "create with a fence and no with",
    "create a.txt\n```\nx\n```\nthen show a.txt",
    [
      { kind: "create", path: "a.txt", content: "x\n" },
      { kind: "show", path: "a.txt" },
    ],
  ],
  [
    "a longer fence",
    "create a.md with\n````\n```\nx\n```\n````",
    [{ kind: "create", path: "a.md", content: "```\nx\n```\n" }],
  ],
  ["create empty", "create empty.txt", [{ kind: "create", path: "empty.txt", content: "" }]],
  [
    "append",
    "append `one more line` to docs/log.md",
    [{ kind: "append", path: "docs/log.md", text: "one more line\n" }],
  ],
  ["delete", "delete ./old.txt.", [{ kind: "delete", path: "old.txt" }]],
  ["find", "find TODO", [{ kind: "find", text: "TODO", glob: undefined }]],
  ["show", "show README.md", [{ kind: "show", path: "README.md" }]],
  ["list", "list", [{ kind: "list", path: undefined }]],
  ["list the files", "list the files", [{ kind: "list", path: undefined }]],
  ["list a directory", "list src", [{ kind: "list", path: "src" }]],
  [
    "run keeps the command as written",
    `run npm test -- --grep "a  b"`,
    [{ kind: "run", command: `npm test -- --grep "a  b"` }],
  ],
  ["run quoted", "run `npm test`", [{ kind: "run", command: "npm test" }]],
  ["run in the terminal", "run npm install in the terminal", [{ kind: "terminal", command: "npm install" }]],
  ["run quoted in the terminal", 'run "npm run dev" in a terminal.', [{ kind: "terminal", command: "npm run dev" }]],
  ["a shell's then", "run if true; then echo x; fi", [{ kind: "run", command: "if true; then echo x; fi" }]],
  [
    "a proof",
    "run x, and then verify `npm test`",
    [
      { kind: "run", command: "x" },
      { kind: "verify", command: "npm test" },
    ],
  ],
  ["a mention in quotes", 'show @"x then delete y":3', [{ kind: "show", path: "x then delete y" }]],
  ["say", "say hello there, friend", [{ kind: "say", text: "hello there, friend" }]],
  [
    "joined",
    "show a.txt, and then say one THEN say two",
    [
      { kind: "show", path: "a.txt" },
      { kind: "say", text: "one" },
      { kind: "say", text: "two" },
    ],
  ],
  ["then without a verb is text", "say first this then that", [{ kind: "say", text: "first this then that" }]],
  ["an apostrophe is no quote", "say don't panic, it's fine", [{ kind: "say", text: "don't panic, it's fine" }]],
];

describe("parseRequest", () => {
  it.each(understood)("understands %s", (_name, text, steps) => {
    expect(parseRequest(text)).toEqual({ type: "steps", steps });
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
    expect(parsed.type).toBe("not-understood");
    if (parsed.type === "not-understood") expect(parsed.usage ?? "").toContain(advice ?? "");
  });

  it.each(["help", "Help!", ""])("says what it understands for %j", (text) => {
    expect(parseRequest(text)).toEqual({ type: "help" });
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
          expect(parseRequest(parts.join(" ")).type).toMatch(/steps|help|not-understood/);
        },
      ),
    );
  });

  it("gives quoted text back unchanged", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (find, replacement) => {
        const quoted = (text: string) => JSON.stringify(text.replaceAll(/[^ -~]/g, "_"));
        const plain = (text: string) => text.replaceAll(/[^ -~]/g, "_");
        expect(parseRequest(`replace ${quoted(find)} with ${quoted(replacement)} in "a.txt"`)).toEqual({
          type: "steps",
          steps: [{ kind: "replace", find: plain(find), replacement: plain(replacement), path: "a.txt" }],
        });
      }),
    );
  });
});
