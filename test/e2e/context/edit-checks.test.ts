import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { type Diagnostic, DiagnosticSchema, DiagnosticSeverity } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { AcceptedChecks } from "@gennai/sessions/rules/workspace-answers";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test, vi } from "vitest";
import { endState, eventsOf, runTurn, startSession, Watcher } from "../rpc/session-client.ts";

const write = (file: string, content: string) => call("Write", { file_path: file, content });
const done = { text: ["Done."] };
/** Between two calls it makes them two rounds. */
const said = { text: ["On."] };

const configured = { ".gennai/config.yaml": "check: grep -rq good src\n" };

const problem = (path: string, message: string) =>
  create(DiagnosticSchema, { path, line: 1, column: 1, message, severity: DiagnosticSeverity.ERROR });

/** Answers the `nth` question for problems. @returns the files that it was about */
async function tellProblems(editor: Watcher, nth: number, diagnostics: readonly Diagnostic[], more: object = {}) {
  const { requestId, paths } = await editor.next("diagnosticsRequest", nth);
  await editor.submit({ case: "diagnosticsResponse", value: { requestId, diagnostics: [...diagnostics], ...more } });
  return paths;
}

/** What the model was told behind results. */
async function notes(server: TestServer, sessionId: string): Promise<string[]> {
  const session = await server.running.manager.get(sessionId);
  return session.state.conversation.messages.flatMap((message) => (message.role === "tool" ? [message.output] : []));
}

describe("the project's own check after edits", () => {
  test("the repository's command asks once, runs after each change, and its end is told to the model", async () => {
    await using server = await startTestServer({
      files: configured,
      steps: [
        write("src/new.ts", "bad\n"),
        said,
        call("Edit", { file_path: "src/new.ts", old_string: "bad", new_string: "good" }),
        done,
      ],
    });
    await using editor = await Watcher.begin(server, { capabilities: { confirmation: true } });
    const question = await editor.next("confirmationRequest");
    expect(question.actionStatement).toContain("grep -rq good src");
    expect(question.computed?.rule).toBe("project-check/repository-command");
    await editor.answer(question, { scope: ConfirmationScope.SESSION });
    expect(await editor.end()).toBe("COMPLETED");
    const outputs = await notes(server, editor.sessionId);
    expect(outputs[0]).toContain("check `grep -rq good src` ran after this change and did not pass");
    expect(outputs[1]).toContain("ran after this change and passed");
    expect(eventsOf(editor.events, "warning").join()).not.toContain("not verified");
  });

  test("a quick one runs with each call, whose result says what is new", async () => {
    await using server = await startTestServer({
      files: { ".gennai/config.yaml": "check: sh scripts/check.sh\n", "scripts/check.sh": "! grep -rn bad src\n" },
      steps: [
        write("src/a.ts", "bad one\n"),
        said,
        write("src/b.ts", "// new\nbad two\n"),
        write("src/c.ts", "fine\n"),
        write("src/a.ts", "fine\n"),
        write("src/b.ts", "fine\n"),
        done,
      ],
    });
    const sessionId = await startSession(server, { interactive: true });
    // The clock does not advance: the check is quick on any machine.
    const { services } = await server.running.manager.get(sessionId);
    vi.spyOn(services, "now").mockReturnValue(Date.now());
    await using editor = await Watcher.attach(server, sessionId, { capabilities: { confirmation: true } });
    await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "1" });
    await editor.answer(await editor.next("confirmationRequest"), { scope: ConfirmationScope.SESSION });
    expect(await editor.end()).toBe("COMPLETED");
    const results = eventsOf(editor.events, "toolResult").map(({ output }) => output);
    // Nobody knew yet how long it takes: it ran behind the round.
    expect(results[0]).not.toContain("check");
    expect((await notes(server, editor.sessionId))[0]).toContain("did not pass:\nsrc/a.ts:1:bad one");
    expect(results[1]).toContain("did not pass; new:\nsrc/b.ts:2:bad two");
    expect(results[1]).not.toContain("bad one");
    expect(results[2]).toContain("still did not pass, with nothing new");
    expect(results[3]).toContain("still did not pass, with nothing new");
    expect(results[4]).toContain("ran after this change and passed.");
    // Once behind the first round, and once with each call of the second: not again behind that one.
    expect(
      eventsOf(editor.events, "gateDecision").filter(({ toolCallId }) => toolCallId.includes("-check-")),
    ).toHaveLength(5);
    expect(eventsOf(editor.events, "warning").join()).not.toContain("not verified");
  });

  test("a person who allowed it once is asked again behind the round, and not while a call waits", async () => {
    await using server = await startTestServer({
      files: configured,
      steps: [write("src/a.ts", "bad\n"), said, write("src/a.ts", "good\n"), done],
    });
    await using editor = await Watcher.begin(server, { capabilities: { confirmation: true } });
    for (const nth of [0, 1]) {
      const question = await editor.next("confirmationRequest", nth);
      expect(eventsOf(editor.events, "toolResult")).toHaveLength(nth + 1);
      await editor.answer(question);
    }
    expect(await editor.end()).toBe("COMPLETED");
    expect((await notes(server, editor.sessionId))[1]).toContain("ran after this change and passed");
  });

  test("nobody to accept it: it does not run, and the end says so", async () => {
    await using server = await startTestServer({
      files: configured,
      steps: [write("src/new.ts", "bad\n"), said, write("src/other.ts", "bad\n"), said, done],
    });
    const sessionId = await startSession(server);
    const events = await runTurn(server, sessionId, "go");
    expect(endState(events)).toBe("COMPLETED");
    expect(eventsOf(events, "gateDecision").filter(({ rule }) => rule.startsWith("project-check"))).toHaveLength(1);
    expect(eventsOf(events, "warning").at(-1)).toMatch(/^The 2 changed files were not verified: the check `grep/);
  });

  test("no check is known: the end says so; a turn that changes nothing says nothing", async () => {
    await using server = await startTestServer({
      script: [
        { match: "write", steps: [write("src/new.ts", "x\n"), done] },
        { match: ".", steps: [done] },
      ],
    });
    const sessionId = await startSession(server);
    const events = await runTurn(server, sessionId, "write");
    expect(eventsOf(events, "warning")).toEqual([
      expect.stringMatching(/^The changed file was not verified: no check is known for this project/),
    ]);
    expect(eventsOf(await runTurn(server, sessionId, "hello"), "warning")).toEqual([]);
  });
});

describe("a check that was accepted for the workspace", () => {
  const manifest = (typecheck: string) => JSON.stringify({ scripts: { typecheck, lint: "true" } });

  /** Runs a turn that changes a file, says yes for the workspace if asked, and tells what was asked. */
  async function changedWith(server: TestServer, name: string): Promise<string | undefined> {
    const sessionId = await startSession(server, { interactive: true });
    await using editor = await Watcher.attach(server, sessionId, { capabilities: { confirmation: true } });
    const prompt = `go, and write src/${name}.ts`;
    await server.client.startTurn({ sessionId, userInput: prompt, clientTurnId: name });
    const asked = await Promise.race([editor.next("confirmationRequest"), editor.end().then(() => undefined)]);
    if (asked === undefined) return undefined;
    expect(asked.offeredScopes).toContain(ConfirmationScope.WORKSPACE);
    await editor.answer(asked, { scope: ConfirmationScope.WORKSPACE });
    expect(await editor.end()).toBe("COMPLETED");
    return asked.actionJson;
  }

  test("runs in later sessions without a question, and asks again when its script or a file it names changes, or after a revocation", async () => {
    const script = (name: string) => [{ match: name, steps: [write(`src/${name}.ts`, "x\n"), said, done] }];
    await using server = await startTestServer({
      files: { "package.json": manifest("sh scripts/check.sh"), "scripts/check.sh": "true\n" },
      script: ["one", "two", "three", "four", "five"].flatMap(script),
    });
    const { root } = server.workspace;
    const first = await changedWith(server, "one");
    // Who accepts sees what would run, not only the name of a script.
    expect(JSON.parse(first ?? "{}")).toMatchObject({
      operands: {
        "package.json typecheck": "sh scripts/check.sh",
        "scripts/check.sh": expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(await changedWith(server, "two")).toBeUndefined();
    await writeFile(join(root, "scripts/check.sh"), "true # another\n");
    expect(await changedWith(server, "three")).toContain("sh scripts/check.sh");
    await writeFile(join(root, "package.json"), manifest("sh scripts/check.sh --all"));
    expect(await changedWith(server, "four")).toContain("--all");
    const checks = new AcceptedChecks(server.stateDir, root);
    expect((await checks.list()).map(({ command }) => command)).toEqual(["npm run typecheck"]);
    await checks.revoke();
    expect(await changedWith(server, "five")).toContain("--all");
  });

  test("is offered for no other command", async () => {
    await using server = await startTestServer({ steps: [bash("rm src/main.ts"), done] });
    await using editor = await Watcher.begin(server, { capabilities: { confirmation: true } });
    const { offeredScopes } = await editor.next("confirmationRequest");
    expect(offeredScopes).toEqual([ConfirmationScope.ONCE, ConfirmationScope.TURN, ConfirmationScope.SESSION]);
  });
});

describe("an editor's diagnostics after edits", () => {
  test("new problems of changed files go to the model, known ones do not", async () => {
    await using server = await startTestServer({ files: configured, steps: [write("src/new.ts", "bad\n"), done] });
    await using editor = await Watcher.begin(server, { capabilities: { diagnostics: true } });
    const told = (message: string, line: number) => ({ ...problem("src/new.ts", message), line, source: "ts" });
    await tellProblems(editor, 0, [told("old one", 1)]);
    expect(await tellProblems(editor, 1, [told("old one", 2), told("new one", 7)])).toEqual(["src/new.ts"]);
    expect(await editor.end()).toBe("COMPLETED");
    const [output] = await notes(server, editor.sessionId);
    expect(output).toContain("src/new.ts:7:1 error: new one (ts)");
    expect(output).not.toContain("old one");
    expect(eventsOf(editor.events, "warning").at(-1)).toContain("not verified: the editor reports 2 errors");
  });
});

describe("an editor's diagnostics of each call's files", () => {
  test("stand in that call's own result, each once; what a later call broke elsewhere comes behind the round", async () => {
    await using server = await startTestServer({ steps: [write("src/a.ts", "a\n"), write("src/b.ts", "b\n"), done] });
    await using editor = await Watcher.begin(server, { capabilities: { diagnostics: true } });
    await tellProblems(editor, 0, [problem("src/a.ts", "old one")]);
    expect(await tellProblems(editor, 1, [problem("src/a.ts", "old one"), problem("src/a.ts", "first")])).toEqual([
      "src/a.ts",
    ]);
    expect(await tellProblems(editor, 2, [problem("src/b.ts", "second")])).toEqual(["src/b.ts"]);
    const all = [problem("src/a.ts", "first"), problem("src/a.ts", "broken by b"), problem("src/b.ts", "second")];
    expect(await tellProblems(editor, 3, all)).toEqual(["src/a.ts", "src/b.ts"]);
    expect(await editor.end()).toBe("COMPLETED");

    const results = eventsOf(editor.events, "toolResult").map(({ output }) => output);
    expect(results[0]).toMatch(/new problems in what this changed:\nsrc\/a\.ts:1:1 error: first$/);
    expect(results[1]).toMatch(/new problems in what this changed:\nsrc\/b\.ts:1:1 error: second$/);
    const told = (await notes(server, editor.sessionId)).map((output) => output.match(/(?<=error: )[^\]\n]*/g));
    expect(told).toEqual([["first", "broken by b"], ["second"]]);
  });

  test("nothing new, an editor that fails: the result is as it was, and nothing is lost", async () => {
    await using server = await startTestServer({
      steps: [write("src/a.ts", "a\n"), said, write("src/a.ts", "b\n"), done],
    });
    await using editor = await Watcher.begin(server, { capabilities: { diagnostics: true } });
    await tellProblems(editor, 0, []);
    await tellProblems(editor, 1, []);
    await tellProblems(editor, 2, [], { error: "the language server is gone" });
    await tellProblems(editor, 3, [problem("src/a.ts", "late")]);
    expect(await editor.end()).toBe("COMPLETED");
    const results = eventsOf(editor.events, "toolResult").map(({ output }) => output);
    expect(results.join()).not.toContain("problems");
    const [first, second] = await notes(server, editor.sessionId);
    expect(first).not.toContain("problems");
    expect(second).toContain("src/a.ts:1:1 error: late");
  });

  test("a thousand of them are bounded", async () => {
    await using server = await startTestServer({ steps: [write("src/a.ts", "a\n"), done] });
    await using editor = await Watcher.begin(server, { capabilities: { diagnostics: true } });
    await tellProblems(editor, 0, []);
    const many = Array.from({ length: 1000 }, (_, at) => problem("src/a.ts", `${at} ${"x".repeat(900)}`));
    await tellProblems(editor, 1, many);
    expect(await editor.end()).toBe("COMPLETED");
    const [output = ""] = await notes(server, editor.sessionId);
    expect(output).toMatch(/and 950 more$/);
    expect(output.length).toBeLessThan(30_000);
  });
});

describe("symbols by the editor", () => {
  test("are offered where a client finds them", async () => {
    await using server = await startTestServer({ steps: [call("Symbols", { query: "thing" }), done] });
    const alone = await startSession(server);
    expect(eventsOf(await runTurn(server, alone, "go"), "toolResult")[0]?.output).toContain("unknown_tool");
    await using editor = await Watcher.begin(server, { capabilities: { findSymbols: true } });
    const { requestId, query } = await editor.next("findSymbolsRequest");
    const symbol = { name: "thing", kind: "function", line: 4, container: "Box" };
    const symbols = [
      { ...symbol, path: "src/a.ts" },
      { ...symbol, path: ".env" },
      { ...symbol, path: "../x.ts" },
    ];
    await editor.submit({ case: "findSymbolsResponse", value: { requestId, symbols } });
    expect(await editor.end()).toBe("COMPLETED");
    expect(query).toBe("thing");
    expect(eventsOf(editor.events, "toolResult")[0]?.output).toBe("src/a.ts:4 function thing in Box");
  });
});
