import { redactionMarker } from "@gennai/governance/redaction";
import { describe, expect, it } from "vitest";
import { OfflineModel } from "#offline/offline-model";
import { requestWith } from "../request-with.ts";
import { type ConversationRow, expectRow } from "./conversation-row.ts";
import { codeTools, collect, converse, readTools, ToolWorld } from "./tool-world.ts";

const model = new OfflineModel();

const long = `${"foo\n".repeat(4500)}`;

const rows: readonly ConversationRow[] = [
  {
    name: "replaces in every file that has the text, and counts",
    files: { "src/a.ts": "foo foo\n", "src/b.ts": "bar\n", "src/c.ts": "x foo" },
    say: "replace foo with $& in src/*.ts",
    calls: ["Grep foo", "Read src/a.ts", "Read src/c.ts", "Edit src/a.ts", "Edit src/c.ts"],
    after: { "src/a.ts": "$& $&\n", "src/b.ts": "bar\n", "src/c.ts": "x $&" },
    answer: ["Changed 2 files:\n- src/a.ts\n- src/c.ts"],
  },
  {
    name: "searches for the text itself, not for a pattern",
    files: { "a.txt": "a.b(c)\n", "b.txt": "aXb(c)\n" },
    say: "replace a.b(c) with ok in *.txt",
    after: { "a.txt": "ok\n", "b.txt": "aXb(c)\n" },
    answer: ["Changed a.txt."],
  },
  {
    name: "changes nothing that it cannot see whole",
    files: { "a.txt": "foo\n", "b.txt": `foo ${redactionMarker}\n`, "long.txt": long },
    say: "replace foo with bar in *.txt",
    after: { "a.txt": "bar\n", "b.txt": `foo ${redactionMarker}\n`, "long.txt": long },
    answer: ["Changed a.txt.", "Not changed:", /- b\.txt: .* masked/, /- long\.txt: .* shortened/],
  },
  {
    name: "says when nothing matches",
    files: { "a.txt": "x\n" },
    say: "replace foo with bar in *.txt then say done",
    after: { "a.txt": "x\n" },
    answer: ["nothing was changed: replace foo with bar in *.txt", "done"],
  },
  {
    name: "stops at a refusal and says why, and what it left out",
    files: { "a.txt": "foo\n", "b.txt": "foo\n" },
    say: "replace foo with bar in *.txt then run echo done",
    refuse: (name, args) =>
      name === "Edit" && args["file_path"] === "a.txt"
        ? { code: "scope_violation", message: "Scope Violation: INT-1." }
        : undefined,
    calls: ["Grep foo", "Read a.txt", "Read b.txt", "Edit a.txt", "Edit b.txt"],
    after: { "a.txt": "foo\n", "b.txt": "bar\n" },
    answer: [
      "Changed b.txt.",
      "Not changed",
      "a.txt: Scope Violation: INT-1. (scope_violation)",
      "Not attempted",
      "- run echo done",
    ],
  },
  {
    name: "creates",
    say: "create docs/a.md with # Title",
    calls: ["Glob docs/a.md", "Write docs/a.md"],
    after: { "docs/a.md": "# Title\n" },
    answer: ["Created docs/a.md."],
  },
  {
    name: "creates nothing over a file that exists",
    files: { "a.md": "old\n" },
    say: "create a.md with new",
    after: { "a.md": "old\n" },
    answer: ["exists already"],
    never: ["Created"],
  },
  {
    name: "gives a refusal's reason",
    say: "create ../../etc/x with y",
    refuse: (name) =>
      name === "Write" ? { code: "outside_workspace", message: "The path is outside of the workspace." } : undefined,
    after: {},
    answer: ["Not changed", "../../etc/x", "outside of the workspace", "outside_workspace"],
    never: ["Created"],
  },
  {
    name: "appends where no newline ends the file",
    files: { "a.txt": "one" },
    say: "append two to a.txt",
    after: { "a.txt": "one\ntwo\n" },
    answer: ["Changed a.txt."],
  },
  {
    name: "appends to an empty file",
    files: { "a.txt": "" },
    say: "append two to a.txt",
    after: { "a.txt": "two\n" },
    answer: ["Changed a.txt."],
  },
  {
    name: "deletes",
    files: { "a.txt": "x" },
    say: "delete a.txt",
    calls: ["Read a.txt", "Delete a.txt"],
    after: {},
    answer: ["Deleted a.txt."],
  },
  {
    name: "deletes nothing that is not there",
    say: "delete a.txt",
    calls: ["Read a.txt"],
    after: {},
    answer: ["does not exist"],
    never: ["Deleted"],
  },
  { name: "finds", files: { "a.txt": "one\ntwo foo\n" }, say: "find foo", answer: ["find foo:\n```\na.txt:2:two foo"] },
  {
    name: "shows",
    files: { "a.txt": "one\n```\ntwo" },
    say: "show a.txt",
    answer: ["show a.txt:\n````\n1\tone\n2\t```\n3\ttwo"],
  },
  { name: "lists", files: { "a.txt": "" }, say: "list", answer: ["list:", "a.txt"] },
  {
    name: "lists the files",
    files: { "a.txt": "" },
    say: "list the files",
    answer: ["a.txt"],
  },
  {
    name: "runs",
    say: "run echo hello",
    calls: ["Bash echo hello"],
    answer: ["run echo hello:\n```\nhello\n[exit code 0]\n```"],
  },
  {
    name: "stops after a command that failed",
    say: "run fail then say well done",
    answer: ["exit code 2", "Not attempted after that", "- say well done"],
    never: [/^well done$/m],
  },
  {
    name: "says what was noted of a command",
    say: "run echo hello then say done",
    refuse: () =>
      "hello\n[exit code 0]\n[what git ignores stays in the session: dist]\n[for the model: do not run it again]",
    answer: ["hello", "what git ignores stays in the session: dist", "done"],
    never: ["for the model"],
  },
  {
    name: "says that a command has no exit code",
    say: "run sleep 99 then say done",
    refuse: () => ({ raw: "tick\n[ended after 5 s: time is up]" }),
    answer: ["tick\n[ended after 5 s: time is up]", "Not attempted"],
  },
  {
    name: "hands to the terminal",
    say: "run npm i in the terminal",
    calls: ["RunInTerminal npm i"],
    answer: ["run npm i in the terminal:\n```\nSENT"],
  },
  {
    name: "cannot write where it may only read",
    files: { "a.txt": "foo" },
    tools: readTools,
    say: "replace foo with bar in a.txt",
    calls: ["Read a.txt"],
    answer: ["does not offer Edit", "CODE"],
  },
  {
    name: "says what it understands",
    say: "Help!",
    calls: [],
    answer: [/^I am the offline assistant built into Gennai/, "replace A with B in GLOB", "choose a language model"],
    never: ["not understand"],
  },
  {
    name: "explains itself",
    say: "refactor the parser",
    calls: [],
    answer: [
      "do not understand “refactor the parser”",
      "I did nothing",
      "replace A with B in GLOB",
      "choose a language model",
    ],
  },
];

describe("OfflineModel", () => {
  it.each(rows)("$name", expectRow);

  it("streams in small pieces that make up the whole, the same every time", async () => {
    const messages = [{ role: "user" as const, text: 'create a.txt with "one 😀 two"' }];
    const events = await collect(model, messages, codeTools);
    expect(await collect(model, messages, codeTools)).toEqual(events);
    const whole = events.flatMap((event) => (event.type === "tool-call" ? [event.argumentsJson] : []));
    expect(events.flatMap((event) => (event.type === "tool-call-delta" ? [event.text] : [])).join("")).toBe(
      whole.join(""),
    );

    expect(events.at(-2)).toMatchObject({ type: "usage" });
    expect(events.at(-1)).toEqual({ type: "finish", reason: "tool-calls" });
  });

  it("answers the latest message and leaves earlier turns alone", async () => {
    const world = new ToolWorld({ "a.txt": "x\n" });
    const before = [
      { role: "user" as const, text: "show a.txt" },
      {
        role: "assistant" as const,
        text: "",
        toolCalls: [{ id: "offline-1-1", name: "Read", argumentsJson: '{"file_path":"a.txt"}' }],
      },
      { role: "tool" as const, id: "offline-1-1", name: "Read", output: "1\tx", isError: false },
      { role: "assistant" as const, text: "a.txt (1 line)", toolCalls: [] },
    ];
    expect(await converse(model, world, "say hi", codeTools, before)).toBe("hi");
  });

  it("stops when the conversation is not its own", async () => {
    const messages = [
      { role: "user" as const, text: "show a.txt" },
      { role: "assistant" as const, text: "", toolCalls: [{ id: "1", name: "Bash", argumentsJson: "{}" }] },
      { role: "tool" as const, id: "1", name: "Bash", output: "", isError: false },
    ];
    const events = await collect(model, messages, codeTools);
    expect(events.map((event) => (event.type === "text-delta" ? event.text : "")).join("")).toContain("I lost track");
  });

  it("ends when aborted", async () => {
    const controller = new AbortController();
    const request = requestWith({
      messages: [{ role: "user" as const, text: `say ${"word ".repeat(10_000)}` }],
      enableThinking: true,
    });
    const read = async () => {
      for await (const event of model.stream(request, { signal: controller.signal }))
        if (event.type === "text-delta") controller.abort();
    };
    await expect(read()).rejects.toMatchObject({ name: "AbortError" });
  });
});
