import { chmod } from "node:fs/promises";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import { PersonPins } from "@gennai/server/elsewhere/person-pins";
import { call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { allEvents, eventsOf, Watcher } from "../../rpc/session-client.ts";

const steps = [call("Write", { path: "Makefile", content: "all:\n" }), { text: ["Done."] }];

/** A server whose questions go to alice by a webhook, which is here. */
async function scene(policy = "") {
  await using parts = new AsyncDisposableStack();
  const hooked: string[] = [];
  const first = Promise.withResolvers<string>();
  const hook = createServer(async (request, response) => {
    const body = await text(request);
    hooked.push(body);
    response.end();
    first.resolve(body);
  });
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  parts.defer(() => void hook.close());
  const place = hook.address();
  const port = typeof place === "object" ? place?.port : 0;
  const home = parts.use(
    await temporaryDirectory({
      "gennai/q.secret": "whsec_c2VjcmV0",
      "gennai/people.yaml": `url: http://127.0.0.1\nafter_seconds: 0\npeople:\n  alice: [{ via: webhook, url: "http://127.0.0.1:${port}/", secret_file: q.secret }]\n`,
      "policy/policy.yaml": `gennai_policy: 1\nname: acme\n${policy}\n...\n`,
    }),
  );
  for (const name of ["q.secret", "people.yaml"]) await chmod(home.path(`gennai/${name}`), 0o600);
  const page = parts.use(await temporaryDirectory({ "repl.js": "1;\n" }));
  const directory = home.path("policy");
  const server = parts.use(
    await startTestServer({
      steps,
      settings: { interactive: true },
      server: {
        pageDirectory: page.root,
        environment: { ...process.env, XDG_CONFIG_HOME: home.root },
        policyFiles: {
          directory,
          list: (at) => (at === directory ? ["policy.yaml"] : []),
          read: async () => `gennai_policy: 1\nname: acme\n${policy}\n...\n`,
        },
      },
    }),
  );
  const pin = await new PersonPins(server.stateDir).renew("alice");
  const owned = parts.move();
  const post = async (body: object, headers: Readonly<Record<string, string>> = { Origin: server.url }) => {
    const sent = { method: "POST", headers: { "content-type": "application/json", ...headers } };
    const response = await fetch(`${server.url}/page/answer`, { ...sent, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
  };
  const codeIn = (body: string) => /answer#([\w-]{32})/.exec(body)?.[1] ?? "";
  return {
    server,
    pin,
    hooked,
    post,
    code: () => first.promise.then(codeIn),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("a question is answered by a link and a PIN, and the ledger says by whom and how", async () => {
  await using on = await scene();
  await using editor = await Watcher.begin(on.server);
  const question = await editor.next("confirmationRequest");
  const code = await on.code();
  // Robots that look at links neither use them up nor answer.
  for (const method of ["GET", "HEAD"])
    expect((await fetch(`${on.server.url}/answer`, { method })).status).toBe(method === "GET" ? 200 : 405);
  expect((await on.post({ code, pin: on.pin }, {})).status).toBe(403);
  expect((await on.post({ code, pin: on.pin }, { Origin: "https://evil.example" })).status).toBe(403);
  const { status, body } = await on.post({ code, pin: on.pin });
  expect([status, body["requestId"]]).toEqual([200, question.requestId]);
  const token = String(body["token"]);
  const asks = (path: string) =>
    fetch(`${on.server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", Authorization: `Bearer ${token}`, Origin: on.server.url },
      body: "{}",
    });
  for (const service of [AgentService, GovernanceService, PlanService]) {
    for (const { name } of service.methods) expect((await asks(`/${service.typeName}/${name}`)).status, name).toBe(401);
  }
  expect((await asks("/page/code")).status).toBe(401);
  const said = { token, answer: "yes", actionSha256: question.actionSha256 };
  expect((await on.post({ ...said, actionSha256: "0".repeat(64) })).status).toBe(409);
  expect((await on.post(said)).body).toEqual({ answer: "yes" });
  expect((await on.post(said)).status).toBe(409);
  expect(await editor.end()).toBe("COMPLETED");
  const [resolved] = eventsOf(await allEvents(on.server, editor.sessionId), "clientRequestResolved");
  expect(resolved).toMatchObject({ user: "alice", clientId: expect.stringMatching(/^webhook link [0-9a-f]{16}$/) });
  expect(on.hooked.join()).not.toContain("all:");
});

test("where a policy permits no answers from elsewhere, nobody is told, and the editor is asked as ever", async () => {
  await using on = await scene("answers: { remote: false }");
  await using editor = await Watcher.begin(on.server);
  const question = await editor.next("confirmationRequest");
  await editor.answer(question);
  expect(await editor.end()).toBe("COMPLETED");
  expect(on.hooked).toEqual([]);
});
