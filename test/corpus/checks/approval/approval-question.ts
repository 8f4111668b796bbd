import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readAnswer } from "@gennai/cli/client/confirmation-answer";
import { describeQuestion } from "@gennai/cli/client/terminal-confirmation";
import { confirmationQuestion, confirmationResponse } from "@gennai/client/bridge/confirmation";
import { type ConfirmationRequest, ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { command, planBench, seedPlan } from "../../../../packages/sessions/test/plans/plan-fixture.ts";
import { codeOf, eventsOf } from "../../../e2e/rpc/session-client.ts";
import { askedTurn, questionsOf } from "../../asked-turn.ts";
import { type Check, type Checks, check } from "../../corpus-case.ts";
import { calledLast } from "../../tool-call.ts";

/** `approval.token`: what a question shows, and what a yes to it covers. */
export const approvalQuestionChecks: Checks = {
  "APT-031": grantCoversNot(
    ["env A=1 touch a", "env A=1 touch b"],
    ["bash -c 'touch a'", "bash -c 'touch b'"],
    ["echo a | xargs touch", "echo b | xargs touch"],
    ["git branch a", "git branch b"],
    ["sudo touch a", "sudo touch b"],
  ),
  "APT-033": grantCoversNot(["git show", "git show > ~/.ssh/id_rsa"], ["git show > a.txt", "git show > b.txt"]),
  "APT-034": grantCoversNot(["npm run build", "npm run build:evil"]),
  "APT-035": grantCoversNot(["git log", "git logout"]),
  // The window's own dialogue is the editor's; at the terminal an answer is a typed line.
  "APT-040": check(async () => {
    for (const line of ["", " ", "\r", "\n", "yyyyyy", "YY", "ssss"])
      assert.equal(readAnswer(line, ["once", "turn", "session"]).answer, "no", JSON.stringify(line));
    assert.equal(readAnswer("s", ["once"]).answer, "no");
  }),
  "APT-041": check(async () => {
    const uses = Array.from({ length: 100 }, (_, index) => bash(`touch f${index}`));
    await using turn = await askedTurn(uses, { settings: { maxIterations: 10 } });
    const { editor } = turn;
    let asked = 0;
    for await (const request of questionsOf(editor)) {
      // One question at a time.
      assert.equal(eventsOf(editor.events, "confirmationRequest").length, ++asked);
      await editor.submit(answer(request, no));
    }
    assert.ok(asked > 0 && asked <= 10);
    // What needs many is one plan, approved once.
    const steps = [{ id: "a", actions: uses.slice(0, 15).map(({ args }) => command(args.command)) }];
    await using bench = await planBench();
    assert.equal((await bench.executed(seedPlan(steps))).steps[0]?.state, "executed");
  }),
  "APT-042": check(async () => {
    const text = `echo ${" ".repeat(10_000)}; touch payload`;
    const shown = await shownAbout(text);
    assert.match(shown.split("\n")[0] ?? "", /(?:medium|high) risk/);
    assert.ok(shown.includes(text));
  }),
  "APT-043": check(async () => {
    const text = "touch '[ok](command:x) <b onclick=1>*y*</b>'";
    assert.ok((await shownAbout(text)).includes(text));
  }),
  "APT-044": check(async () => {
    const shown = await shownAbout("touch 'a\u202eb\u200bc'\u001b[2K");
    assert.doesNotMatch(shown, /[\u202e\u200b\u001b]/);
    assert.match(shown, /a\\u\{202e\}b\\u\{200b\}c/);
  }),
  "APT-045": check(async () => {
    await using turn = await askedTurn(["touch a", "touch b"].map(bash));
    const { editor, server } = turn;
    const captured = answer(await editor.next("confirmationRequest"), { answer: "yes", scope: "once" });
    await editor.submit(captured);
    const second = await editor.next("confirmationRequest", 1);
    assert.equal(await codeOf(editor.submit(captured)), "already_exists");
    // The second question's number with the first one's action: heard, and no yes.
    const forged = { ...captured, value: { ...captured.value, requestId: second.requestId } };
    await editor.submit(forged).catch(() => undefined);
    assert.equal(existsSync(server.workspace.path("b")), false);
    await editor.submit(answer(second, no)).catch(() => undefined);
    await editor.end();
    assert.notEqual(calledLast(editor.events).code, "ok");
    assert.equal(existsSync(server.workspace.path("b")), false);
  }),
};

const bash = (text: string) => ({ tool: "Bash", args: { command: text } });
const plain = (_style: unknown, text: string): string => text;

/** Says yes, as lastingly as possible, to every question about the first command and no to others; the second must not run. */
function grantCoversNot(...pairs: readonly (readonly [granted: string, other: string])[]): Check {
  return check(async () => {
    for (const [granted, other] of pairs) {
      await using turn = await askedTurn([granted, granted, other].map(bash), { files: { "package.json": "{}" } });
      for await (const request of questionsOf(turn.editor)) {
        const about = request.actionJson.includes(`"command":${JSON.stringify(granted)}`);
        const scope = request.offeredScopes.includes(ConfirmationScope.SESSION) ? "session" : "once";
        await turn.editor.submit(answer(request, about ? { answer: "yes", scope } : no));
      }
      assert.notEqual(calledLast(turn.editor.events).code, "ok", other);
    }
  });
}

const no = { answer: "no", reason: "" } as const;

function answer(request: ConfirmationRequest, reply: Parameters<typeof confirmationResponse>[1]) {
  return { case: "confirmationResponse", value: confirmationResponse(request, reply) } as const;
}

/** What a person reads at the terminal about a command, as it came over the wire. */
async function shownAbout(text: string): Promise<string> {
  await using turn = await askedTurn([bash(text)]);
  const request = await turn.editor.next("confirmationRequest");
  await turn.editor.submit(answer(request, no));
  await turn.editor.end();
  return describeQuestion(confirmationQuestion(request), plain);
}
