import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { logIn, logOut, renewedLogin } from "#mcp/mcp-login";
import { McpLogins } from "#mcp/mcp-logins";
import { StandingAnswers } from "#rules/standing-answers";
import { authorizedServer, documented, type Hostility } from "./authorized-server.ts";
import { callTool, withUsersServer } from "./users-server.ts";

const signal = new AbortController().signal;

/** A user of such a server. */
async function user(hostility: Hostility = "none", client?: string) {
  await using parts = new AsyncDisposableStack();
  const far = parts.use(await authorizedServer(hostility));
  const here = parts.use(await withUsersServer({ url: far.url }));
  const logins = new McpLogins(here.stateDir);
  const place = { name: "sdk", url: far.url, client };
  let recorded = 0;
  const owned = parts.move();
  return {
    ...far,
    ...here,
    logins,
    place,
    /** Logs in with a browser on this machine. */
    logIn: (scope?: string) =>
      logIn(place, {
        logins,
        scope,
        signal,
        record: async () => void recorded++,
        pasted: nothing(),
        show: (address) => void fetch(address).catch(() => undefined),
      }),
    echo: async () => callTool((await here.tools()).get("mcp__sdk__echo"), { text: "hello" }),
    recorded: () => recorded,
    warnings: async () => (await here.offered()).warnings.map(String),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

async function* nothing(): AsyncGenerator<string> {}

test("a turn asks for a login and begins none; after one its tools are there, and renew it by themselves", async () => {
  await using here = await user();
  expect(await here.warnings()).toEqual([
    "The MCP server sdk wants a login. Log in under Governance, or at a terminal: mcp login sdk",
  ]);
  expect(here.seen).toEqual([]);
  await here.logIn();
  const { mode } = await stat(join(here.stateDir, "mcp", "logins.json"));
  expect(mode & 0o077).toBe(0);
  expect(await here.echo()).toContain("hello");
  for (const _time of [1, 2]) {
    here.expire();
    expect(await here.echo()).toContain("hello");
    // Each renewal gives another one, and the one before is used up.
    expect(here.refreshTokens()).toBe(1);
  }
  const { tokens } = (await here.logins.find(here.place)) ?? {};
  expect([...here.learnt]).toEqual(expect.arrayContaining([tokens?.access_token, tokens?.["refresh_token"]]));
  expect(here.seen.filter((path) => path === "/register")).toHaveLength(1);
});

test("a login that was taken back at its server is told of, and nothing is asked in a turn", async () => {
  await using here = await user();
  await here.logIn();
  await here.echo();
  here.revoke();
  const asked = here.seen.filter((path) => path === "/authorize").length;
  await expect(here.echo()).rejects.toThrow("wants a login");
  expect(here.seen.filter((path) => path === "/authorize")).toHaveLength(asked);
  await here.logIn();
  expect(await here.echo()).toContain("hello");
});

test("a login is taken back at its server and forgotten", async () => {
  await using here = await user();
  await here.logIn();
  expect(await logOut(here.place, here.logins)).toBe("revoked");
  expect(here.refreshTokens()).toBe(0);
  expect(await here.logins.find(here.place)).toBeUndefined();
  expect(await logOut(here.place, here.logins)).toBe("nothing");
});

test("a login is listed beside the lasting answers, and taken back there", async () => {
  await using here = await user();
  await here.logIn();
  const answers = new StandingAnswers(here.stateDir, here.root);
  const statement = `the MCP server sdk has a login at ${here.place.url}`;
  expect(await answers.list()).toMatchObject([{ kind: "login", statement }]);
  const recorded: (readonly string[])[] = [];
  await answers.revoke(undefined, async (statements) => void recorded.push(statements));
  expect([recorded, here.refreshTokens(), await answers.list()]).toEqual([[[statement]], 0, []]);
});

test("where more is wanted than the login is for, it is named, and a login for it helps", async () => {
  await using here = await user();
  await here.logIn();
  here.want("write");
  expect(await here.warnings()).toEqual(['The MCP server sdk wants a login for more: mcp login sdk --scope "write"']);
  await here.logIn("read write");
  expect(await here.echo()).toContain("hello");
});

test("a browser elsewhere: its last address is pasted, and one of another login is not taken", async () => {
  await using here = await user();
  const shown = Promise.withResolvers<URL>();
  async function* pasted() {
    const address = await shown.promise;
    const back = await fetch(address, { redirect: "manual" });
    yield "what now?";
    yield `${address.searchParams.get("redirect_uri")}?code=forged&state=other`;
    yield ` ${back.headers.get("location")}\n`;
  }
  const record = async () => undefined;
  await logIn(here.place, { logins: here.logins, signal, record, pasted: pasted(), show: shown.resolve });
  expect(await here.echo()).toContain("hello");
});

test.each<[Hostility, RegExp]>([
  ["other-issuer", /issuer/i],
  ["mix-up", /iss/i],
  ["other-resource", /resource/i],
  ["token-elsewhere", /HTTP 307/],
])("nothing is kept of a login where a server is hostile: %s", async (hostility, why) => {
  await using here = await user(hostility);
  await expect(here.logIn()).rejects.toThrow(why);
  expect(await here.logins.find(here.place)).toBeUndefined();
  expect(here.elsewhere).toEqual([]);
});

test("a browser that is sent elsewhere brings no login, and none is kept of one that cannot be recorded", async () => {
  await using far = await user("redirect-elsewhere");
  const ending = new AbortController();
  const show = (address: URL) => {
    // The code goes there, and is worth nothing without what only we know.
    void fetch(address).then(() => ending.abort(new Error("nobody came back")));
  };
  const ports = { logins: far.logins, pasted: nothing(), show };
  const record = async () => undefined;
  await expect(logIn(far.place, { ...ports, record, signal: ending.signal })).rejects.toThrow("nobody came back");
  expect(await far.logins.find(far.place)).toBeUndefined();
  await using here = await user();
  const refuse = () => Promise.reject(new Error("nothing can be recorded"));
  const unrecorded = { logins: here.logins, pasted: nothing(), show: (address: URL) => void fetch(address), signal };
  await expect(logIn(here.place, { ...unrecorded, record: refuse })).rejects.toThrow("nothing can be recorded");
  expect(await here.logins.find(here.place)).toBeUndefined();
  expect(here.seen).not.toContain("/token");
});

test.each<[string, Hostility, string | undefined, number]>([
  ["a metadata document", "documents", documented, 0],
  ["a metadata document that the server does not take", "none", documented, 1],
  ["nothing", "documents", undefined, 1],
])("a client of %s registers only where it has to", async (_of, kind, client, registrations) => {
  await using here = await user(kind, client);
  await here.logIn();
  expect(here.recorded()).toBe(1);
  expect(here.seen.filter((path) => path === "/register")).toHaveLength(registrations);
  expect(await here.echo()).toContain("hello");
});

test("many that find their token ended renew it once, as one that is used twice ends the login", async () => {
  await using here = await user();
  await here.logIn();
  const { tokens } = (await here.logins.find(here.place)) ?? {};
  here.expire();
  const response = new Response("", { status: 401 });
  const [, ...sent] = await Promise.all(
    Array.from({ length: 8 }, async () => {
      // As another process has it.
      const login = renewedLogin(new McpLogins(here.stateDir), here.place);
      await login.token();
      await login.onUnauthorized?.({ response, serverUrl: new URL(here.place.url), fetchFn: fetch });
      return login.token();
    }),
  );
  expect(new Set(sent).size).toBe(1);
  expect(sent).not.toContain(tokens?.access_token);
  expect(here.refreshTokens()).toBe(1);
  expect(await here.echo()).toContain("hello");
});

test("a login counts for its address alone, and one that fails leaves the one before", async () => {
  await using here = await user();
  await here.logIn();
  expect(await here.logins.find({ ...here.place, url: "http://127.0.0.1:1/mcp" })).toBeUndefined();
  const stopping = new AbortController();
  const show = () => stopping.abort(new Error("stopped"));
  const record = async () => undefined;
  const ports = { logins: here.logins, signal: stopping.signal, record, pasted: nothing(), show };
  await expect(logIn(here.place, ports)).rejects.toThrow("stopped");
  expect(await here.echo()).toContain("hello");
});
