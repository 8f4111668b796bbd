import { listStandingAnswers, revokeStandingAnswers } from "@gennai/client/governance/standing-answers";
import { AcceptedChecks, AcceptedConnections } from "@gennai/sessions/rules/workspace-answers";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { codeOf, startSession } from "../../rpc/session-client.ts";

const { signal } = new AbortController();

test("answers that stand are listed for the workspace and its sessions, and taken back one by one or all at once", async () => {
  await using server = await startTestServer({ steps: [{ text: ["Hello."] }] });
  const { governance } = server;
  const connections = new AcceptedConnections(server.stateDir, server.workspace.root);
  const registry = { host: "registry.example", port: 443, callId: "" };
  await connections.remember("npm install", [registry, { host: "mirror.example", port: 8443, callId: "" }]);
  const actionSha256 = "a".repeat(64);
  const check = { command: "npm test", source: "package.json", actionSha256, rules: [], callId: "1" };
  await new AcceptedChecks(server.stateDir, server.workspace.root).accept(check);
  await new AcceptedConnections(server.stateDir, "/elsewhere").remember("git fetch", [registry]);

  const sessionId = await startSession(server);
  const statements = async (): Promise<readonly string[]> =>
    (await listStandingAnswers(governance, sessionId, { signal })).map(({ statement }) => statement);
  const answers = await listStandingAnswers(governance, "", { signal });
  expect(await statements()).toEqual([
    "the check npm test (package.json) runs",
    "npm install reaches registry.example:443",
    "npm install reaches mirror.example:8443",
  ]);
  expect(answers.every(({ accepted }) => Math.abs(Date.now() - (accepted?.getTime() ?? 0)) < 600_000)).toBe(true);

  const mirror = answers.find(({ statement }) => statement.includes("mirror"))?.id;
  await revokeStandingAnswers(governance, sessionId, mirror, { signal });
  expect(await connections.find("npm install")).toEqual([registry]);
  expect(await statements()).toHaveLength(2);
  expect(await codeOf(governance.revokeStandingAnswers({ sessionId }))).toBe("invalid_argument");
  expect(await codeOf(governance.revokeStandingAnswers({ sessionId, id: mirror ?? "", all: true }))).toBe(
    "invalid_argument",
  );
  await revokeStandingAnswers(governance, sessionId, undefined, { signal });
  expect(await statements()).toEqual([]);
  expect(await new AcceptedConnections(server.stateDir, "/elsewhere").list()).toHaveLength(1);
});
