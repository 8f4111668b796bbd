import { create } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { AgentService, GetServerInfoResponseSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { expect, test } from "vitest";
import { type LinkState, ServerLink } from "../../src/server/server-link.ts";
import { describeProblem } from "../../src/server/server-problem.ts";

const baseUrl = "http://127.0.0.1:1";

test.each([
  {
    name: "nothing listens",
    proof: { type: "nobody", reason: "refused" },
    says: `No Gennai server answers at ${baseUrl}`,
  },
  {
    name: "another program listens",
    proof: { type: "stranger" },
    says: `No current Gennai server listens at ${baseUrl}`,
  },
] as const)("where $name at the place of a lost server, calls say just that", async ({ proof, says }) => {
  let isUp = true;
  const answer: Interceptor = (next) => async (request) => {
    if (!isUp) return next(request);
    const message = create(GetServerInfoResponseSchema, { version: "1", protocolVersion: 1 });
    const { getServerInfo: method } = AgentService.method;
    return { stream: false, service: request.service, method, header: new Headers(), trailer: new Headers(), message };
  };
  const link = new ServerLink({
    request: async () => ({ baseUrl, port: 1, workspace: "/w", sharing: undefined, startsOwn: false }),
    ports: {
      announced: async () => [],
      storedToken: async () => "token",
      prove: async () => (isUp ? { type: "proven" } : proof),
    },
    interceptors: [answer],
    commands: () => "auto",
    onState: () => undefined,
  });
  const { agent } = await link.connect();
  isUp = false;
  // The first call breaks off; from then on, whoever answers must prove itself again.
  await expect(agent.getServerInfo({})).rejects.toThrow();
  await expect(agent.getServerInfo({})).rejects.toThrow(says);
});

test("why a server did not start is shown until one is found, though none answers meanwhile", async () => {
  const says = (state: LinkState): string => (state.type === "failed" ? describeProblem(state.problem).message : "");
  const link = new ServerLink({
    request: async () => ({ baseUrl: "", port: 1, workspace: "/w", sharing: undefined, startsOwn: true }),
    ports: { announced: async () => [], storedToken: async () => undefined, prove: async () => ({ type: "stranger" }) },
    interceptors: [],
    commands: () => "auto",
    onState: () => undefined,
  });
  const nobody = "No Gennai server answers";
  await expect(link.connect()).rejects.toThrow(nobody);
  expect(says(link.state)).toContain(nobody);
  const wrote = "Starting.\nerror: The store is damaged.\n  Restore it from a backup.\n";
  expect(() => link.notStarted({ type: "launch-ended", wrote })).toThrow("The store is damaged.");
  // Whoever calls still learns that a server could be started.
  await expect(link.connect()).rejects.toMatchObject({ problem: { type: "not-running" } });
  expect(says(link.state)).toBe(
    "The Gennai server did not start: The store is damaged. Restore it from a backup. The log has all that it wrote.",
  );
  link.forget();
  await expect(link.connect()).rejects.toThrow(nobody);
  expect(says(link.state)).toContain(nobody);
});
