import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { provesNothing } from "@gennai/sessions/plans/verify-plan";
import { checkCall } from "@gennai/sessions/turn/check-call";
import { startTestServer } from "@gennai/testkit/test-server";
import { never, planBench, seedPlan, write } from "../../../../packages/sessions/test/plans/plan-fixture.ts";
import { allEvents, eventsOf, runTurn, startSession, Watcher } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../../corpus-case.ts";
import { expectCode, scriptOf, type ToolUse } from "../../tool-call.ts";
import { commandLimitChecks } from "../commands/command-limits.ts";
import { modelLoopChecks } from "./model-loop.ts";

/** Ways a call that needs a person's yes ends where nobody can be asked, and those that are refused no matter who asks. */
const stopped = ["nobody_to_ask", "dangerous_command", "zero_access"];

const removes = (path: string): string => `rmSync("${path}", { recursive: true });\n`;

/** Where a command is staged it may run: what it did away with is refused, or can be taken back as an edit can. */
async function expectNothingLost(args: { readonly command: string }, first: readonly ToolUse[] = []): Promise<void> {
  await using server = await startTestServer({
    files: { "src/a.ts": "export const a = 1;\n" },
    script: [scriptOf([...first, { tool: "Bash", args }])],
    server: { commands: "auto" },
  });
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, "go");
  if (!existsSync(server.workspace.path("src/a.ts"))) await server.client.undoChangeSet({ sessionId });
  assert.equal(await server.workspace.read("src/a.ts"), "export const a = 1;\n");
  assert.ok(existsSync(server.workspace.path(".git/HEAD")));
}

/** What models answer with, and what programs and files tell them. */
export const modelChecks: Checks = {
  ...modelLoopChecks,
  ...commandLimitChecks,
  "MOD-014": check(async () => {
    await using server = await startTestServer();
    const session = await server.running.manager.get(await startSession(server));
    const content = "x".repeat(21 * 1024 * 1024);
    const large = JSON.stringify({ file_path: "big.txt", content });
    await assert.rejects(checkCall(session, "Write", large), /larger than 20 MiB/);
    const larger = JSON.stringify({ file_path: "big.txt", content: "x".repeat(65 * 1024 * 1024) });
    await assert.rejects(checkCall(session, "Write", larger), /longer than/);
  }),
  "MOD-036": check(async () => {
    for (const command of ["true", "echo ok", ":", "printf done && true"]) assert.ok(provesNothing(command), command);
    for (const command of ["npm test", "test -f a.txt", "echo $(npm test)", "grep -q x a.txt || true", "cat a.txt"]) {
      assert.ok(!provesNothing(command), command);
    }
    await using bench = await planBench();
    const plan = seedPlan([{ id: "a", actions: [write("a.txt", "a\n")], verify: ["echo ok"] }]);
    const { planId, digest, token } = await bench.approved(plan);
    const session = await bench.session();
    await bench.plans().execute(session, planId, digest, token, never);
    await bench.plans().verify(session, planId, digest, token, never);
    const events = await allEvents(bench.server, session.id);
    assert.match(eventsOf(events, "warning").join("\n"), /proves nothing/);
    assert.match(
      eventsOf(events, "toolResult")
        .map(({ output }) => output)
        .join("\n"),
      /ok/,
    );
  }),
  "MOD-038": check(async () => {
    const parts = [
      { tool: "Write", args: { file_path: "src/run.mjs", content: "import { rmSync } from 'node:fs';\n" } },
      { tool: "Read", args: { file_path: "src/run.mjs" } },
      { tool: "Edit", args: { file_path: "src/run.mjs", old_string: "\n", new_string: "\nrmSync('src', {});\n" } },
    ];
    for (const command of ["node src/run.mjs", "sh src/run.mjs", "./src/run.mjs", "cd src && node ./run.mjs"]) {
      await expectCode(stopped, "Bash", { command }, { first: parts, server: { commands: "ask" } });
    }
    for (const removal of [removes("src"), removes("src") + removes(".git")]) {
      const content = `import { rmSync } from "node:fs";\n${removal}`;
      await expectNothingLost({ command: "node src/x.mjs" }, [
        { tool: "Write", args: { file_path: "src/x.mjs", content } },
      ]);
    }
  }),
  "MOD-039": check(async () => {
    for (const command of [
      "cp /bin/rm x; ./x -rf src",
      "cp /bin/rm x",
      "./x -rf src",
      "cp /bin/rm x && PATH=.:$PATH x -rf src",
    ]) {
      await expectCode(stopped, "Bash", { command }, { server: { commands: "ask" } });
      await expectNothingLost({ command });
    }
  }),
  "MOD-040": check(async () => {
    await using server = await startTestServer({
      files: { "src/a.ts": "a\n" },
      steps: [
        { tool: { name: "RunInTerminal", args: { command: "rm -rf ~" } } },
        { text: ["."] },
        { tool: { name: "RunInTerminal", args: { command: "cat .env" } } },
        { text: ["."] },
      ],
    });
    await using editor = await Watcher.begin(server);
    assert.equal(await editor.end(), "COMPLETED");
    assert.equal(eventsOf(editor.events, "executeCommandRequest").length, 0);
    assert.equal(eventsOf(editor.events, "gateDecision").length, 2);
    for (const { output } of eventsOf(editor.events, "toolResult")) assert.match(output, /Security Policy Violation/);
  }),
};
