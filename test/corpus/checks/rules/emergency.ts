import assert from "node:assert/strict";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { connectGovernance } from "@gennai/client/connection/connection";
import { emergencyVerdict } from "@gennai/governance/emergency/emergency-policy";
import { ConfirmationAnswer, EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { type EmergencyState, noEmergency } from "@gennai/protocol/model/governance/emergency";
import type { EmergencyRequest } from "@gennai/sessions/emergency/emergency-change";
import { EmergencyStore } from "@gennai/sessions/emergency/emergency-store";
import { databaseFile } from "@gennai/store/database/database";
import { usualLedgerPath } from "@gennai/store/ledger/file/ledger-file-name";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { exec, inside, write } from "../../../../packages/governance/test/policies/effects.ts";
import { startSession, Watcher } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../../corpus-case.ts";
import { calledLast, callTool, scriptOf } from "../../tool-call.ts";

const readOnly: EmergencyState = { ...noEmergency, readOnly: true };

function verdict(state: EmergencyState, command: string, toolName = "Bash"): string {
  return emergencyVerdict(state, { toolName, analysis: { statement: command, effects: [exec(command)] } }).type;
}

function expectAll(state: EmergencyState, wanted: string, commands: readonly string[]): void {
  for (const command of commands) assert.equal(verdict(state, command), wanted, command);
}

function switchOn(server: TestServer, control: EmergencyControl) {
  const governance = connectGovernance({ baseUrl: server.url, token: server.token });
  return governance.setEmergencyControl({ control, enabled: true, tool: "", by: "ann", reason: "a test" });
}

const on: EmergencyRequest = {
  control: "read-only",
  enabled: true,
  tool: "",
  by: "ann",
  reason: "why not",
  via: "cli",
};

/** A command that has begun is ended, and the process is gone. */
async function whileRunning(): Promise<void> {
  const marker = `61.${process.pid}${Date.now()}`;
  await using server = await startTestServer({
    script: [scriptOf([{ tool: "Bash", args: { command: `touch started; sleep ${marker}` } }])],
  });
  const sessionId = await startSession(server, { interactive: true });
  await using editor = await Watcher.attach(server, sessionId, { capabilities: { confirmation: true } });
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  const { requestId, actionSha256 } = await editor.next("confirmationRequest");
  await editor.submit({
    case: "confirmationResponse",
    value: { requestId, actionSha256, answer: ConfirmationAnswer.YES },
  });
  for (let tries = 0; !existsSync(server.workspace.path("started")) && tries < 500; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const started = performance.now();
  await switchOn(server, EmergencyControl.READ_ONLY);
  await editor.end();
  assert.ok(performance.now() - started < 10_000);
  assert.notEqual(calledLast(editor.events).code, "ok");
}

export const emergencyChecks: Checks = {
  "EMG-001": check(async () => {
    const called = await callTool(
      "Bash",
      { command: "touch made" },
      {
        whileAsked: (server) => switchOn(server, EmergencyControl.READ_ONLY),
        after: async (server) => assert.equal(existsSync(server.workspace.path("made")), false),
      },
    );
    assert.notEqual(called.code, "ok");
  }),
  "EMG-002": check(whileRunning),
  "EMG-003": check(async () => {
    expectAll(readOnly, "deny", ["touch x", "npm test", "./run", "make", "$X", "curl http://x.test", "echo x > y"]);
    expectAll(readOnly, "allow", ["ls", "cat src/a.ts", "git status"]);
    const effects = [write(inside("src/a.ts"))];
    assert.equal(emergencyVerdict(readOnly, { toolName: "Write", analysis: { statement: "", effects } }).type, "deny");
  }),
  "EMG-004": check(async () =>
    expectAll(readOnly, "deny", [`python3 -c 'open("x","w")'`, "node -e 1", "perl -e 1", "ruby -e 1", "bash x.sh"]),
  ),
  "EMG-005": check(async () =>
    expectAll(readOnly, "deny", [
      "sort -o x y",
      "echo x | tee y",
      "git diff --output=x",
      "find . -fprint x",
      "awk '{print > \"x\"}' y",
      "uniq a b",
      "uniq *.txt",
      "sed -n 'w x' y",
      "xxd a b",
      "tree -o x",
    ]),
  ),
  "EMG-007": check(async () => {
    expectAll(readOnly, "deny", ["gennai emergency read-only off --reason x", "npx gennai emergency stop-all off"]);
    await using server = await startTestServer();
    const stranger = connectGovernance({ baseUrl: server.url, token: "wrong" });
    await assert.rejects(
      stranger.setEmergencyControl({
        control: EmergencyControl.READ_ONLY,
        enabled: false,
        tool: "",
        by: "x",
        reason: "x",
      }),
    );
  }),
  "EMG-009": check(async () => {
    const state = { ...noEmergency, disableHighImpact: true };
    expectAll(state, "deny", ["npm publish", "sudo ls", "git push", "kubectl apply -f x"]);
    expectAll(state, "allow", ["ls", "touch src/x", "npm test"]);
  }),
  "EMG-010": check(async () => {
    const state = { ...noEmergency, blockedTools: ["deploy"] };
    expectAll(state, "deny", [
      "npm publish",
      "npx -y vercel deploy",
      "env A=1 npm publish",
      "bash -c 'kubectl apply -f x'",
      "terraform apply",
      "docker push x",
      "$X",
    ]);
    expectAll(state, "allow", ["ls", "npm test"]);
  }),
  "EMG-011": check(async () => {
    await using place = await temporaryDirectory();
    const options = { onWarning: () => undefined, now: () => 1_000_000 };
    await using one = await EmergencyStore.open(place.path("state"), options);
    await using two = await EmergencyStore.open(place.path("state"), options);
    one.change(on, []);
    two.change({ ...on, enabled: false, by: "bob" }, []);
    assert.equal(one.current().readOnly && two.current().readOnly, true);
    assert.deepEqual(
      one.history(10).map(({ by }) => by),
      ["ann", "bob"],
    );
  }),
  "EMG-012": check(async () => {
    await using place = await temporaryDirectory({ "ws/a": "a" });
    await using store = await EmergencyStore.open(place.path("state"), { onWarning: () => undefined, now: Date.now });
    store.change({ ...on, control: "block-tool", tool: "Bash" }, [place.path("ws")]);
    const file = databaseFile(place.path("state"));
    renameSync(file, join(place.root, "gone"));
    const state = store.current();
    assert.deepEqual([state.readOnly, state.blockedTools], [true, ["bash"]]);
    renameSync(join(place.root, "gone"), file);
    assert.ok(usualLedgerPath(place.path("ws")).endsWith("agent_trace.jsonl"));
  }),
};
