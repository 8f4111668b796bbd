import { OfflineModel } from "@gennai/server/models/offline/offline-model";
import { describe, expect, it } from "vitest";
import { codeTools, collect, converse, editorTools, readTools, ToolWorld } from "./tool-world.ts";

const model = new OfflineModel();

interface Row {
  readonly name: string;
  readonly files?: Record<string, string>;
  readonly say: string;
  readonly tools?: readonly string[];
  readonly refuse?: ToolWorld["refuse"];
  readonly calls?: readonly string[];
  readonly after?: Record<string, string>;
  readonly answer: readonly (string | RegExp)[];
  readonly never?: readonly (string | RegExp)[];
}

const long = `${Array.from({ length: 4500 }, (_, index) => `line ${index + 1} foo`).join("\n")}\n`;

/** A workspace that asks for one of these intents before anything changes. */
function asksFor(...ids: readonly string[]): NonNullable<Row["refuse"]> {
  let selected = false;
  return (name, args) => {
    if (name === "select_active_intent") {
      selected = ids.includes(String(args["intent_id"]));
      return selected ? undefined : refusal("invalid_intent", ids);
    }
    return selected || name === "Read" || name === "Grep" || name === "Glob"
      ? undefined
      : refusal("intent_required", ids);
  };
}

function refusal(code: string, ids: readonly string[]) {
  const hint =
    ids.length === 0
      ? "No intent can be selected now."
      : `Call select_active_intent first, with one of: ${ids.join(", ")}.`;
  return { code, message: "You must cite a valid active Intent ID.", hint, retryable: true };
}

const intentTools = [...codeTools, "select_active_intent", "request_scope_expansion", "record_lesson"];

const rows: readonly Row[] = [
  {
    name: "selects the only intent there is and repeats what was refused, without a word of changed files",
    files: { "a.txt": "foo\n", "b.txt": "foo\n" },
    say: "replace foo with bar in *.txt",
    tools: intentTools,
    refuse: asksFor("INT-1.2"),
    calls: [
      ...["Grep foo", "Read a.txt", "Read b.txt", "Edit a.txt", "Edit b.txt", "select_active_intent INT-1.2"],
      ...["Edit a.txt", "Edit b.txt"],
    ],
    after: { "a.txt": "bar\n", "b.txt": "bar\n" },
    answer: ["2 files, 2 occurrences"],
    never: ["changed meanwhile"],
  },
  {
    name: "lists several intents and selects none of them by itself",
    files: { "a.txt": "foo\n" },
    say: "replace foo with bar in a.txt",
    tools: intentTools,
    refuse: asksFor("INT-1", "INT-2"),
    calls: ["Read a.txt", "Edit a.txt"],
    after: { "a.txt": "foo\n" },
    answer: ["You must cite a valid active Intent ID.", "several: INT-1, INT-2", "use intent INT-1 then"],
  },
  {
    name: "says when no intent can be selected",
    files: { "a.txt": "foo\n" },
    say: "delete a.txt",
    tools: intentTools,
    refuse: asksFor(),
    calls: ["Read a.txt", "Delete a.txt"],
    answer: ["No intent can be selected now."],
  },
  {
    name: "works under the intent that was named",
    files: { "a.txt": "foo\n" },
    say: "under INT-2: replace foo with bar in a.txt",
    tools: intentTools,
    refuse: asksFor("INT-1", "INT-2"),
    calls: ["select_active_intent INT-2", "Read a.txt", "Edit a.txt"],
    after: { "a.txt": "bar\n" },
    answer: ["I work under the intent INT-2.", "Replaced"],
  },
  {
    name: "stops at an intent that cannot be selected",
    files: { "a.txt": "foo\n" },
    say: "use intent INT-9 then delete a.txt",
    tools: intentTools,
    refuse: asksFor("INT-1", "INT-2"),
    calls: ["select_active_intent INT-9"],
    after: { "a.txt": "foo\n" },
    answer: ["could not select the intent INT-9", "several: INT-1, INT-2", "Not attempted"],
  },
  {
    name: "stops where intents are off and one was named",
    say: "use intent INT-1 then run echo hello",
    calls: [],
    answer: ["Intents are off in this workspace"],
  },
  {
    name: "reports a scope violation and asks for nothing by itself",
    files: { "a.txt": "foo\n" },
    say: "delete a.txt",
    tools: intentTools,
    refuse: (name) =>
      name === "Delete"
        ? {
            code: "scope_violation",
            message: "Scope Violation: INT-1 is not authorized to edit a.txt.",
            retryable: true,
          }
        : undefined,
    calls: ["Read a.txt", "Delete a.txt"],
    answer: ["Scope Violation: INT-1", "request scope for PATHS because REASON"],
  },
  {
    name: "asks for scope when it is told to",
    say: "request scope for src/** because the parser lives there",
    tools: intentTools,
    calls: ["request_scope_expansion the parser lives there"],
    answer: ["owns src/** now"],
  },
  {
    name: "writes a lesson down",
    say: "remember that the clock is a port",
    tools: intentTools,
    calls: ["record_lesson the clock is a port"],
    answer: ["the clock is a port"],
  },
  {
    name: "replaces in every file that has the text, and counts",
    files: { "src/a.ts": "foo foo\n", "src/b.ts": "bar\n", "src/c.ts": "x foo" },
    say: "replace foo with $& in src/*.ts",
    calls: ["Grep foo", "Read src/a.ts", "Read src/c.ts", "Edit src/a.ts", "Edit src/c.ts"],
    after: { "src/a.ts": "$& $&\n", "src/b.ts": "bar\n", "src/c.ts": "x $&" },
    answer: ["2 files, 3 occurrences", "src/a.ts (2)", "src/c.ts (1)"],
  },
  {
    name: "searches for the text itself, not for a pattern",
    files: { "a.txt": "a.b(c)\n", "b.txt": "aXb(c)\n" },
    say: "replace a.b(c) with ok in *.txt",
    after: { "a.txt": "ok\n", "b.txt": "aXb(c)\n" },
    answer: ["1 file, 1 occurrence"],
  },
  {
    name: "reads a long file to its end before it counts",
    files: { "long.txt": long },
    say: "replace foo with bar in long.txt",
    calls: ["Read long.txt", "Read long.txt", "Read long.txt", "Edit long.txt"],
    answer: ["4500 occurrences"],
  },
  {
    name: "says when nothing matches",
    files: { "a.txt": "x\n" },
    say: "replace foo with bar in *.txt then say done",
    after: { "a.txt": "x\n" },
    answer: ["does not occur in any file that matches *.txt", "done"],
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
      "1 file, 1 occurrence",
      "Not changed",
      "a.txt: Scope Violation: INT-1. (scope_violation)",
      "Not attempted",
      "run “echo done”",
    ],
  },
  {
    name: "reads again and tries once more when the file changed",
    files: { "a.txt": "foo\n" },
    say: "replace foo with bar in a.txt",
    refuse: (name, _args, call) =>
      name === "Edit" && call === 2 ? { code: "stale_file", message: "Stale File: a.txt", retryable: true } : undefined,
    calls: ["Read a.txt", "Edit a.txt", "Read a.txt", "Edit a.txt"],
    after: { "a.txt": "bar\n" },
    answer: ["Replaced"],
    never: ["Not changed"],
  },
  {
    name: "tries no more than once more",
    files: { "a.txt": "foo\n" },
    say: "replace foo with bar in a.txt",
    refuse: (name) =>
      name === "Edit" ? { code: "stale_file", message: "Stale File: a.txt", retryable: true } : undefined,
    calls: ["Read a.txt", "Edit a.txt", "Read a.txt", "Edit a.txt"],
    after: { "a.txt": "foo\n" },
    answer: ["Not changed", "Stale File"],
    never: ["Replaced"],
  },
  {
    name: "creates",
    say: "create docs/a.md with # Title",
    calls: ["Glob docs/a.md", "Write docs/a.md"],
    after: { "docs/a.md": "# Title\n" },
    answer: ["Created docs/a.md (1 line)."],
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
    name: "creates nothing over a file the search did not see",
    files: { "a.md": "old\n" },
    say: "create a.md with new",
    refuse: (name) =>
      name === "Glob"
        ? "[no files found]"
        : name === "Write"
          ? { code: "not_read", message: "Read it first.", retryable: true }
          : undefined,
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
    answer: ["I could not create ../../etc/x", "outside of the workspace", "outside_workspace"],
    never: ["Created"],
  },
  {
    name: "appends by the last lines that are unique",
    files: { "log.txt": "x\n}\n\nx\n}\n" },
    say: "append last to log.txt",
    calls: ["Read log.txt", "Edit log.txt"],
    after: { "log.txt": "x\n}\n\nx\n}\nlast\n" },
    answer: ["Appended 1 line to log.txt."],
  },
  {
    name: "appends where no newline ends the file",
    files: { "a.txt": "one" },
    say: "append two to a.txt",
    after: { "a.txt": "one\ntwo\n" },
    answer: ["Appended"],
  },
  {
    name: "appends to an empty file",
    files: { "a.txt": "" },
    say: "append two to a.txt",
    after: { "a.txt": "two\n" },
    answer: ["Appended"],
  },
  {
    name: "appends to repeated blank lines",
    files: { "a.txt": "\n\n\n" },
    say: "append two to a.txt",
    after: { "a.txt": "\n\n\ntwo\n" },
    answer: ["Appended"],
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
  {
    name: "moves",
    files: { "a.txt": "x" },
    say: "rename file a.txt to b.txt",
    after: { "b.txt": "x" },
    answer: ["Moved a.txt to b.txt."],
  },
  { name: "finds", files: { "a.txt": "one\ntwo foo\n" }, say: "find foo", answer: ["1 line", "a.txt:2:two foo"] },
  {
    name: "shows",
    files: { "a.txt": "one\n```\ntwo" },
    say: "show a.txt",
    answer: ["a.txt (3 lines)", "````\none\n```\ntwo\n````"],
  },
  { name: "lists", files: { "a.txt": "" }, say: "list", answer: ["1 entry", "a.txt"] },
  {
    name: "runs",
    say: "run echo hello",
    calls: ["Bash echo hello"],
    answer: ["“echo hello” ended with exit code 0.", "hello"],
  },
  {
    name: "stops after a command that failed",
    say: "run fail then say well done",
    answer: ["exit code 2", "Not attempted after that", "say “well done”"],
    never: [/^well done$/m],
  },
  {
    name: "says that a command has no exit code",
    say: "run sleep 99 then say done",
    refuse: () => ({ raw: "tick\n[ended after 5 s: time is up]" }),
    answer: ["its exit code is not known", "tick\n[ended after 5 s: time is up]", "Not attempted"],
  },
  {
    name: "hands to the terminal",
    say: "run npm i in the terminal",
    calls: ["RunInTerminal npm i"],
    answer: ["handed “npm i” to the terminal"],
    never: ["exit code"],
  },
  {
    name: "adds todos",
    say: "add todo one then add todo two then show todos",
    answer: ["Added the todo “one”", "2 todos:\n- one (pending)\n- two (pending)"],
  },
  {
    name: "cannot write where it may only read",
    files: { "a.txt": "foo" },
    tools: readTools,
    say: "replace foo with bar in a.txt",
    calls: [],
    answer: ["does not offer Edit", "CODE"],
  },
  {
    name: "explains itself",
    say: "refactor the parser",
    calls: [],
    answer: [
      "do not understand “refactor the parser”",
      "I did nothing",
      "replace A with B in GLOB",
      "--backend openai-compatible",
      "GENNAI_API_KEY",
    ],
  },
];

describe("OfflineModel", () => {
  it.each(rows)("$name", async ({ files = {}, say, tools = codeTools, refuse, calls, after, answer, never = [] }) => {
    const world = new ToolWorld(files, refuse);
    const text = await converse(model, world, say, tools);
    if (calls !== undefined) expect(world.calls).toEqual(calls);
    if (after !== undefined) expect(Object.fromEntries(world.files)).toEqual(after);
    for (const part of answer) expect(text).toMatch(typeof part === "string" ? literal(part) : part);
    for (const part of never) expect(text).not.toMatch(typeof part === "string" ? literal(part) : part);
  });

  it("streams in small pieces that make up the whole, the same every time", async () => {
    const messages = [{ role: "user" as const, text: 'create a.txt with "one 😀 two"' }];
    const events = await collect(model, messages, codeTools);
    expect(await collect(model, messages, codeTools)).toEqual(events);
    const whole = events.flatMap((event) => (event.type === "tool-call" ? [event.argumentsJson] : []));
    expect(events.flatMap((event) => (event.type === "tool-call-delta" ? [event.text] : [])).join("")).toBe(
      whole.join(""),
    );
    expect(events.filter((event) => event.type === "thinking-delta").length).toBeGreaterThan(1);
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
      { role: "tool" as const, id: "offline-1-1", name: "Read", output: "1→x", isError: false },
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
    const request = {
      system: "",
      messages: [{ role: "user" as const, text: `say ${"word ".repeat(10_000)}` }],
      tools: [],
      enableThinking: true,
      maxOutputTokens: 0,
    };
    const read = async () => {
      for await (const event of model.stream(request, { signal: controller.signal }))
        if (event.type === "text-delta") controller.abort();
    };
    await expect(read()).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("OfflineModel where changes are proposed", () => {
  const propose = async (files: Record<string, string>, say: string, refuse?: ToolWorld["refuse"]) => {
    const world = new ToolWorld(files, refuse);
    const text = await converse(model, world, say, editorTools);
    expect(Object.fromEntries(world.files)).toEqual(files);
    return { world, text };
  };

  it("proposes all steps in one call, later ones on top of earlier ones", async () => {
    const files = { "src/a.ts": "foo\n", "src/b.ts": "no newline foo", "old.txt": "x\n", "gone.txt": "y\n" };
    const say =
      "create src/c.ts with foo then replace foo with $1 in src/*.ts then append end to src/b.ts then move old.txt to new.txt then delete gone.txt";
    const { world, text } = await propose(files, say);
    expect(world.proposals).toEqual([
      [
        { path: "src/c.ts", operation: "create", new_content: "$1\n" },
        { path: "src/a.ts", operation: "update", new_content: "$1\n" },
        { path: "src/b.ts", operation: "update", new_content: "no newline $1\nend\n" },
        { path: "new.txt", operation: "create", new_content: "x\n" },
        { path: "old.txt", operation: "delete" },
        { path: "gone.txt", operation: "delete" },
      ],
    ]);
    expect(text).toContain("Proposed 6 changes; nothing is written until you apply them");
  });

  it("proposes nothing when nothing changes", async () => {
    const { world, text } = await propose({ "a.txt": "x\n" }, "replace foo with bar in *.txt");
    expect(world.proposals).toEqual([]);
    expect(text).toContain("does not occur");
  });

  it("never writes back what was masked", async () => {
    const { world, text } = await propose({ "a.txt": "key=[REDACTED:token] foo\n" }, "replace foo with bar in a.txt");
    expect(world.proposals).toEqual([]);
    expect(text).toContain("masked");
  });

  it("says so when the proposal is refused", async () => {
    const refuse: ToolWorld["refuse"] = (name) =>
      name === "ProposeChanges" ? { code: "zero_access", message: "Not this file." } : undefined;
    const { text } = await propose({ "a.txt": "foo\n" }, "replace foo with bar in a.txt", refuse);
    expect(text).toBe("The proposal was refused, so nothing is proposed: Not this file. (zero_access)");
  });

  it("proposes what was drafted before a step that is not possible", async () => {
    const { world, text } = await propose(
      { "a.txt": "foo\n" },
      "replace foo with bar in a.txt then run make then say ok",
    );
    expect(world.proposals).toHaveLength(1);
    expect(text).toMatch(/does not offer Bash[\s\S]*Not attempted[\s\S]*say “ok”[\s\S]*Proposed 1 change;/);
  });
});

function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
}
