import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRequest } from "#offline/request/parse-request";
import type { Step } from "#offline/request/request";

const understood: readonly [name: string, text: string, steps: readonly Step[]][] = [
  [
    "plain words",
    "replace foo with bar in src/*.ts",
    [{ kind: "replace", find: "foo", replacement: "bar", glob: "src/*.ts" }],
  ],
  [
    "several words",
    "Replace old name WITH new name In **/*.md",
    [{ kind: "replace", find: "old name", replacement: "new name", glob: "**/*.md" }],
  ],
  [
    "quotes protect keywords",
    `replace "a with b" with 'c in d' in x.ts`,
    [{ kind: "replace", find: "a with b", replacement: "c in d", glob: "x.ts" }],
  ],
  [
    "the last in counts",
    "replace born in 1 with born in 2 in a.txt",
    [{ kind: "replace", find: "born in 1", replacement: "born in 2", glob: "a.txt" }],
  ],
  [
    "an empty replacement",
    'replace foo with "" in a.txt',
    [{ kind: "replace", find: "foo", replacement: "", glob: "a.txt" }],
  ],
  [
    "escapes in double quotes",
    String.raw`replace "a\nb\t\"c\"\\" with 'd\n' in a.txt`,
    [{ kind: "replace", find: 'a\nb\t"c"\\', replacement: "d\\n", glob: "a.txt" }],
  ],
  [
    "curly quotes",
    "replace “foo bar” with ‘baz’ in a.txt",
    [{ kind: "replace", find: "foo bar", replacement: "baz", glob: "a.txt" }],
  ],
  ["change … to", "change foo to bar in a.txt", [{ kind: "replace", find: "foo", replacement: "bar", glob: "a.txt" }]],
  [
    "rename in files",
    "rename getUser to fetchUser in src/**",
    [{ kind: "replace", find: "getUser", replacement: "fetchUser", glob: "src/**" }],
  ],
  ["use intent", "use intent INT-001", [{ kind: "use-intent", id: "INT-001" }]],
  [
    "under an intent",
    "Under INT-001: delete a.txt then use intent INT-2",
    [
      { kind: "use-intent", id: "INT-001" },
      { kind: "delete", path: "a.txt" },
      { kind: "use-intent", id: "INT-2" },
    ],
  ],
  [
    "request scope",
    'request scope for src/a.ts, lib/** and "my file.md" because the test lives there',
    [{ kind: "request-scope", paths: ["src/a.ts", "lib/**", "my file.md"], reason: "the test lives there" }],
  ],
  ["remember", "remember that tests need a clock", [{ kind: "remember", lesson: "tests need a clock" }]],
  [
    "then use, of something else",
    "say first do this then use that",
    [{ kind: "say", text: "first do this then use that" }],
  ],
  ["rename a file", "rename file a to b", [{ kind: "move", from: "a", to: "b" }]],
  ["rename what looks like files", "rename src/a.ts to src/b.ts", [{ kind: "move", from: "src/a.ts", to: "src/b.ts" }]],
  ["move into a directory", "move src/a.ts to lib/", [{ kind: "move", from: "src/a.ts", to: "lib/a.ts" }]],
  [
    "create",
    'create hello.txt with "Hello, world"',
    [{ kind: "create", path: "hello.txt", content: "Hello, world\n" }],
  ],
  [
    "create with fillers",
    "please create a file notes.md with one two",
    [{ kind: "create", path: "notes.md", content: "one two\n" }],
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
  ["append a block", "append to a.txt\n```\nx\ny\n```", [{ kind: "append", path: "a.txt", text: "x\ny\n" }]],
  ["delete", "delete the file ./old.txt.", [{ kind: "delete", path: "old.txt" }]],
  ["find", "find TODO", [{ kind: "find", text: "TODO", glob: undefined }]],
  ["search for in", "search for foo bar in src/**/*.ts", [{ kind: "find", text: "foo bar", glob: "src/**/*.ts" }]],
  ["show", "show README.md", [{ kind: "show", path: "README.md" }]],
  ["list", "list", [{ kind: "list", path: undefined }]],
  ["list the files", "list the files", [{ kind: "list", path: undefined }]],
  ["list a directory of that name", "list files", [{ kind: "list", path: "files" }]],
  ["list a directory", "list files in src", [{ kind: "list", path: "src" }]],
  [
    "run keeps the command as written",
    `run npm test -- --grep "a  b"`,
    [{ kind: "run", command: `npm test -- --grep "a  b"`, terminal: false }],
  ],
  ["run quoted", "run `npm test`", [{ kind: "run", command: "npm test", terminal: false }]],
  ["run in the terminal", "run npm install in the terminal", [{ kind: "run", command: "npm install", terminal: true }]],
  [
    "run quoted in the terminal",
    'run "npm run dev" in a terminal.',
    [{ kind: "run", command: "npm run dev", terminal: true }],
  ],
  [
    "a shell's then",
    "run if true; then echo x; fi",
    [{ kind: "run", command: "if true; then echo x; fi", terminal: false }],
  ],
  [
    "todos",
    "add todo write tests then show todos",
    [{ kind: "add-todo", text: "write tests" }, { kind: "show-todos" }],
  ],
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
    ["rename foo to bar", "rename file A to B"],
    ["append foo", "append TEXT to FILE"],
    ["run in the terminal", "run COMMAND"],
    ["show a.txt then find", "find TEXT"],
    ["help me with it", undefined],
  ])("does nothing for %j", (text, advice) => {
    const parsed = parseRequest(text);
    expect(parsed.type).toBe("not-understood");
    if (parsed.type === "not-understood") expect(parsed.advice ?? "").toContain(advice ?? "");
  });

  it.each(["help", "Help!", "please help", ""])("says what it understands for %j", (text) => {
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
          steps: [{ kind: "replace", find: plain(find), replacement: plain(replacement), glob: "a.txt" }],
        });
      }),
    );
  });
});
