import { randomUUID } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { connect, connectGovernance } from "@gennai/client/connection/connection";
import { StopScope } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { ServerOptions } from "@gennai/server/tenants/server-options";
import { openLedgerSigner } from "@gennai/store/ledger/ledger-key";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer, type TestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { startTokenIssuer, testAudience } from "@gennai/testkit/token-issuer";
import { connect as connectNats, headers } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { NatsCluster } from "../../conformance/session-log/nats-cluster.ts";
import { copyLedgerKey } from "../../conformance/session-log/shared-ledger-key.ts";
import { codeOf, refusalOf, Watcher } from "../rpc/session-client.ts";
import { answer, touchesScript, twoPersonsPolicy, waiting } from "./two-persons-scene.ts";

const sleepy = [{ steps: [{ delay_ms: 60_000 }, { text: ["Done."] }] }];

/** Two servers of many users over one log. */
async function startReplicas({
  script = sleepy,
  policyFiles,
}: Pick<TestServerOptions, "script"> & Pick<ServerOptions, "policyFiles"> = {}) {
  await using parts = new AsyncDisposableStack();
  const issuer = parts.use(await startTokenIssuer());
  const workspaces = parts.use(await temporaryDirectory());
  const states = parts.use(await temporaryDirectory());
  const cluster = parts.use(await NatsCluster.start(1));
  const claims = { user: "sub", tenant: "org", roles: "roles", adminRole: "admin", approverRole: "approver" };
  const users = {
    workspaceRoot: workspaces.root,
    issuer: issuer.issuer,
    audiences: [testAudience],
    jwks: issuer.jwksUrl.href,
    claims,
  };
  const stateDirs = [states.path("one"), states.path("two")];
  for (const directory of stateDirs) await mkdir(directory, { mode: 0o700 });
  await openLedgerSigner(stateDirs[0] ?? "");
  await copyLedgerKey(stateDirs[0] ?? "", stateDirs[1] ?? "");
  const servers: TestServer[] = [];
  for (const stateDir of stateDirs) {
    const server = {
      token: undefined,
      workspace: undefined,
      users,
      sharedLog: cluster.address,
      stateDir,
      ...(policyFiles && { policyFiles }),
    };
    servers.push(parts.use(await startTestServer({ script, server })));
  }
  const [one, two] = servers;
  if (one === undefined || two === undefined) throw new TypeError("no servers");
  const as = async (user: string, tenant = "acme", roles: readonly string[] = []) => {
    const token = await issuer.sign({ user, tenant, roles });
    const [here, there] = [one, two].map(({ url }) => ({
      url,
      token,
      client: connect({ baseUrl: url, token }),
      governance: connectGovernance({ baseUrl: url, token }),
    }));
    if (here === undefined || there === undefined) throw new TypeError("no clients");
    return { here, there };
  };
  const owned = parts.move();
  return {
    as,
    cluster,
    stateDirs,
    /** What a server reported is what was meant to happen. */
    expectFailures(text: string) {
      const failures = servers.flatMap((server) => server.failures.splice(0));
      expect(failures.length).toBeGreaterThan(0);
      for (const failure of failures) expect(failure).toContain(text);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("users are kept apart on every server of a log, and each finds their own on all", async () => {
  await using world = await startReplicas();
  const [ada, eve, otherAda, grace] = [
    await world.as("ada"),
    await world.as("eve"),
    await world.as("ada", "other"),
    await world.as("grace", "acme", ["admin"]),
  ];
  const { sessionId } = await ada.here.client.startSession({});
  const { turnId } = await ada.here.client.startTurn({ sessionId, userInput: "go", clientTurnId: "t" });

  // Passed on to the server that owns the session, in the caller's name.
  expect((await ada.there.client.getTodos({ sessionId })).items).toEqual([]);
  for (const stranger of [eve.there, otherAda.there]) {
    expect(await refusalOf(stranger.client.getTodos({ sessionId }))).toEqual(
      await refusalOf(stranger.client.getTodos({ sessionId: randomUUID() })),
    );
    expect(await codeOf(stranger.client.cancelTurn({ sessionId, turnId }))).toBe("not_found");
    expect((await stranger.client.listSessions({})).sessions).toEqual([]);
    // Told to all servers, and each looks whose sessions it has.
    expect((await stranger.client.stop({ scope: StopScope.SERVER, reason: "mine" })).turnIds).toEqual([]);
  }
  expect((await ada.there.client.listSessions({})).sessions.map((each) => each.sessionId)).toEqual([sessionId]);
  expect((await grace.there.client.stop({ scope: StopScope.SERVER, reason: "all" })).turnIds).toEqual([turnId]);

  const keys = await Promise.all(
    world.stateDirs.map((directory) => readFile(join(directory, "tenants", "acme", "keys", "ledger.ed25519"), "utf8")),
  );
  expect(keys[0]).toBe(keys[1]);
  expect((await ada.there.governance.verifyLedger({ sessionId })).status).toBe("ok");
});

test("the second person answers at another server than the one that asks", async () => {
  await using world = await startReplicas({ script: touchesScript, policyFiles: twoPersonsPolicy });
  const [ada, bob] = [await world.as("ada", "acme", ["approver"]), await world.as("bob", "acme", ["approver"])];
  await using editor = await Watcher.begin(ada.here);
  await editor.answer(await editor.next("confirmationRequest"));
  const approval = await waiting(bob.there);
  expect(approval.since).toBeDefined();
  expect((await ada.there.governance.listApprovals({})).approvals).toEqual([]);
  expect(await refusalOf(answer(ada.there, approval))).toMatchObject({ code: "permission_denied" });
  await answer(bob.there, approval);
  expect(await editor.end()).toBe("COMPLETED");
  expect(await refusalOf(answer(bob.there, approval))).toMatchObject({ code: "failed_precondition" });
});

test("a server that does not list what waits there is named", async () => {
  await using world = await startReplicas({ policyFiles: twoPersonsPolicy });
  const bob = await world.as("bob", "acme", ["approver"]);
  expect((await bob.here.governance.listApprovals({})).unanswered).toEqual([]);
  const nats = await connectNats({ servers: world.cluster.address.replace("nats://", "").split(",") });
  try {
    const beat = Promise.withResolvers<string>();
    nats.subscribe("*.replica.*", { callback: (_, { subject }) => beat.resolve(subject) });
    const subject = (await beat.promise).replace(/[^.]+$/, "ghost");
    await nats.request(subject, "1");
    expect((await bob.here.governance.listApprovals({})).unanswered).toEqual(["ghost"]);
  } finally {
    await nats.close();
  }
});

test("what somebody else puts into a replica's inbox, or replays there, does nothing", async () => {
  await using world = await startReplicas();
  const ada = await world.as("ada");
  const { sessionId } = await ada.here.client.startSession({});
  await ada.here.client.startTurn({ sessionId, userInput: "go", clientTurnId: "t" });
  const nats = await connectNats({ servers: world.cluster.address.replace("nats://", "").split(",") });
  try {
    // Everybody who is let into NATS sees what replicas send, and can send it again.
    const captured: { subject: string; data: Uint8Array; fields: ReturnType<typeof headers> | undefined }[] = [];
    const wire = nats.subscribe(">", {
      callback: (_, { subject, data, headers: fields }) => {
        if (subject.includes(".inbox.") && fields?.get("Gennai-Head").includes("rpc"))
          captured.push({ subject, data, fields });
      },
    });
    await nats.flush();
    const list = async () => (await ada.there.client.getTodos({ sessionId })).items.map(({ content }) => content);
    await ada.there.client.writeTodos({ sessionId, items: [{ id: "1", content: "one" }] });
    await ada.there.client.writeTodos({ sessionId, items: [{ id: "1", content: "two" }] });
    wire.unsubscribe();
    const [first] = captured;
    if (first === undefined) throw new Error("Nothing was passed on.");
    const send = async (fields = first.fields, data = first.data): Promise<string> =>
      nats
        .request(first.subject, data, {
          timeout: 1_500,
          noMux: true,
          ...(fields === undefined ? {} : { headers: fields }),
        })
        .then(
          () => "answered",
          () => "no answer",
        );

    expect(await send()).toBe("no answer");
    const forged = headers();
    const head = JSON.parse(decodeURIComponent(first.fields?.get("Gennai-Head") ?? ""));
    const caller = JSON.stringify({ tenant: "acme", user: "ada", isAdmin: true, isApprover: false });
    forged.set("Gennai-Head", encodeURIComponent(JSON.stringify({ ...head, caller })));
    expect(await send(forged)).toBe("no answer");
    forged.set("Gennai-Proof", first.fields?.get("Gennai-Proof") ?? "");
    expect(await send(forged)).toBe("no answer");
    expect(await list()).toEqual(["two"]);
  } finally {
    await nats.close();
  }
  world.expectFailures("not one of this log's replicas");
});
