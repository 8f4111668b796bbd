// @vitest-environment happy-dom
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { afterEach, expect, test } from "vitest";
import { PageAccess } from "#hosts/page-access";
import { PageDoor } from "#hosts/page-door";
import { PageRefused } from "#hosts/page-link";

const code = (name: string) => name.padEnd(32, "0");

afterEach(() => {
  sessionStorage.clear();
  document.body.replaceChildren();
});

/** A server that knows one token at a time, and codes `good…` for it. */
function scene() {
  const server: { token: string | undefined; fails: Code | undefined } = { token: "first", fails: undefined };
  const notices: string[] = [];
  const access = new PageAccess({
    storage: sessionStorage,
    door: new PageDoor(document),
    notify: ({ state }) => void notices.push(state),
    exchange: async (given) => {
      if (!given.startsWith("good") || server.token === undefined) throw new PageRefused("This link was used already.");
      return server.token;
    },
  });
  const transport = createRouterTransport(
    ({ service }) =>
      service(AgentService, {
        getServerInfo: (_request, { requestHeader }) => {
          if (server.fails !== undefined) throw new ConnectError("down", server.fails);
          if (requestHeader.get("authorization") !== `Bearer ${server.token}`) {
            throw new ConnectError("no", Code.Unauthenticated);
          }
          return { version: "1" };
        },
      }),
    { transport: { interceptors: [access.interceptor] } },
  );
  return { server, notices, access, client: createClient(AgentService, transport) };
}

const door = () => document.querySelector<HTMLDialogElement>("dialog.page-door");

test("the link's code becomes a token, in the tab's storage alone", async () => {
  const { access, client } = scene();
  await access.begin(code("good"));
  expect((await client.getServerInfo({})).version).toBe("1");
  expect(Object.values({ ...sessionStorage })).toEqual(["first"]);
  expect(localStorage.length).toBe(0);
  expect(document.cookie).toBe("");
  expect(door()).toBeNull();
});

test("a server that was started again shuts the page out until it has a new link; calls wait", async () => {
  const { server, access, client, notices } = scene();
  await access.begin(code("good"));
  server.token = "second";
  await expect(client.getServerInfo({})).rejects.toMatchObject({ code: Code.Unavailable });
  expect(door()?.textContent).toContain("started again");
  expect(sessionStorage.length).toBe(0);
  const waiting = client.getServerInfo({});
  const given = new AbortController();
  const givenUp = client.getServerInfo({}, { signal: given.signal });
  given.abort();
  await expect(givenUp).rejects.toMatchObject({ code: Code.Canceled });
  await access.use(code("good"));
  expect((await waiting).version).toBe("1");
  expect(door()).toBeNull();
  expect(notices).toEqual(["refused", "connected"]);
});

test("a server that does not answer is told once, and so is its return", async () => {
  const { server, access, client, notices } = scene();
  await access.begin(code("good"));
  server.fails = Code.Unavailable;
  for (let tries = 0; tries < 2; tries++) await expect(client.getServerInfo({})).rejects.toThrow();
  server.fails = undefined;
  await client.getServerInfo({});
  expect(notices).toEqual(["unreachable", "connected"]);
});

test("a bad link in the address bar leaves a page alone that is in", async () => {
  const { access, client } = scene();
  await access.begin(code("good"));
  await access.use(code("bad"));
  expect(door()).toBeNull();
  expect((await client.getServerInfo({})).version).toBe("1");
});
