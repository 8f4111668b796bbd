import { fileURLToPath } from "node:url";
import type { UserAnswer, UserQuestion } from "@gennai/protocol/model/session/user-question";
import { expect, test } from "vitest";
import type { AskedUser } from "#bridge/session-bridge";
import { askForServer, openable } from "#mcp/mcp-question";
import { callTool, outcomeOf, withUsersServer } from "./users-server.ts";

const revisions = ["2025-11-25", "2026-07-28"];
const server = (revision: string) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL("revision-server.ts", import.meta.url)), revision],
});

/** A user who gives these answers, one for each time they are asked. */
function person(...replies: readonly (readonly UserAnswer[] | "cancelled")[]) {
  const asked: UserQuestion[] = [];
  let times = 0;
  return {
    asked,
    async askUser(questions: readonly UserQuestion[]): Promise<AskedUser> {
      asked.push(...questions);
      const reply = replies[times++] ?? "cancelled";
      return reply === "cancelled" ? { end: "cancelled", by: "ann" } : { end: "answered", answers: reply, by: "ann" };
    },
  };
}

const said = (text: string): UserAnswer => ({ chosen: [], text });
const chose = (...chosen: readonly number[]): UserAnswer => ({ chosen, text: "" });

test.each(revisions)("a form of a server is asked as questions of the server's, and checked: %s", async (revision) => {
  const user = person(
    [chose(1), said("3"), chose(0), said("")],
    [chose(0, 1)],
    [chose(1), said("no number")],
    [chose()],
  );
  await using here = await withUsersServer(server(revision), user);
  const form = (await here.tools()).get("mcp__sdk__form");
  const { output, facts } = await outcomeOf(form, {});
  expect(JSON.parse(output)).toMatchObject({
    action: "accept",
    content: { place: "there", count: 3, sure: true, kinds: ["red", "blue"] },
  });
  expect(facts).toEqual([{ type: "user-asked", end: "answered", by: "ann" }]);
  expect(user.asked.map(({ question }) => question)).toEqual([
    "The MCP server sdk asks: Where to?\nPlace",
    "The MCP server sdk asks: Where to?\ncount",
    "The MCP server sdk asks: Where to?\nsure",
    "The MCP server sdk asks: Where to?\nname: Whose it is",
    "The MCP server sdk asks: Where to?\nkinds",
  ]);
  expect(user.asked.map(({ options }) => options.map(({ label }) => label).join())).toEqual([
    "here,there",
    "",
    "Yes,No",
    "",
    "red,blue",
  ]);
  // What does not fit the form is no answer.
  expect(JSON.parse(await callTool(form, {}))).toMatchObject({ action: "cancel" });
  expect(JSON.parse(await callTool(form, {}))).toMatchObject({ action: "cancel" });
});

test.each(revisions)("an address is shown, and opened by nobody but the user: %s", async (revision) => {
  const user = person([chose(0)], [chose(1)], "cancelled");
  await using here = await withUsersServer(server(revision), user);
  const tools = await here.tools();
  for (const action of ["accept", "decline", "cancel"])
    expect(JSON.parse(await callTool(tools.get("mcp__sdk__open"), {}))).toMatchObject({ action });
  expect(user.asked[0]?.question).toContain("an address of example.org");
  expect(user.asked[0]?.question).toContain("\nhttps://example.org/login?x=1");
  expect(user.asked).toHaveLength(3);
});

test.each(revisions)("nobody is asked for a secret, or to open what is not of the web: %s", async (revision) => {
  const user = person([chose(0)]);
  await using here = await withUsersServer(server(revision), user);
  const tools = await here.tools();
  const shown: string[] = [];
  // The library tells of its rounds, too.
  const onOutput = (text: string) => void (text.startsWith("Nobody") && shown.push(text));
  const names = ["unsafe0", "unsafe1", "unsafe2", "unsafe3", "secret0", "secret1", "secret2"];
  for (const name of names)
    expect(JSON.parse(await callTool(tools.get(`mcp__sdk__${name}`), {}, { onOutput })), name).toMatchObject({
      action: "decline",
    });
  const refusal = "Nobody was asked: the MCP server sdk";
  expect(shown).toEqual([
    ...Array.from({ length: 4 }, () => `${refusal} wanted an address opened that is none of the web.\n`),
    ...Array.from({ length: 3 }, () => `${refusal} asked for a secret in a form, where it would be kept.\n`),
  ]);
  expect(user.asked).toEqual([]);
  // Of this machine a program may show pages, and a server elsewhere none.
  expect(JSON.parse(await callTool(tools.get("mcp__sdk__here"), {}))).toMatchObject({ action: "accept" });
  const params = { mode: "url", message: "Look", url: "http://127.0.0.1:7777/", elicitationId: "1" } as const;
  const { signal } = new AbortController();
  const start = { type: "http", url: "https://example.org/mcp", headers: {} } as const;
  expect((await askForServer({ name: "far", start }, params, user, { signal })).result).toEqual({ action: "decline" });
});

test.each([
  ...["One-time code", "your passwords", "tokens", "API keys", "passwd", "PIN", "userPINCode", "OTPValue"],
  "new_password2",
])("a field for %s is a secret's, of whatever type", async (title) => {
  const user = person([said("1")]);
  const { signal } = new AbortController();
  const start = { type: "program", command: "x", args: [], environment: {}, cwd: undefined } as const;
  for (const it of [{ type: "string" }, { type: "integer" }, { type: "number" }] as const) {
    const requestedSchema = { type: "object" as const, properties: { it: { ...it, title } } };
    const params = { mode: "form", message: "Log in", requestedSchema } as const;
    const { refusal } = await askForServer({ name: "near", start }, params, user, { signal });
    expect(refusal, it.type).toContain("asked for a secret");
  }
  expect(user.asked).toEqual([]);
});

test("whatever leads to this machine is of this machine", async () => {
  const user = person();
  const { signal } = new AbortController();
  const start = { type: "http", url: "https://example.org/mcp", headers: {} } as const;
  const hosts = ["127.0.0.2", "localhost.", "app.localhost", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0", "2130706433"];
  for (const url of hosts.flatMap((host) => [`http://${host}/`, `https://${host}:8443/`])) {
    const params = { mode: "url", message: "Look", url, elicitationId: "1" } as const;
    const { refusal } = await askForServer({ name: "far", start }, params, user, { signal });
    expect(refusal, url).toContain("none of the web");
    expect(openable(url)?.href, url).toBeDefined();
  }
  expect(user.asked).toEqual([]);
});

test.each(revisions)("without a person, a server gets no answer; and a model never: %s", async (revision) => {
  await using here = await withUsersServer(server(revision));
  const tools = await here.tools();
  expect(JSON.parse(await callTool(tools.get("mcp__sdk__form"), {}))).toMatchObject({ action: "cancel" });
  const refused = await callTool(tools.get("mcp__sdk__sample"), {}).catch(String);
  expect(refused).toMatch(/capabilit/);
});

test.each(revisions)(
  "what a server says of its progress is shown, and a call that is stopped ends there too: %s",
  async (revision) => {
    await using here = await withUsersServer(server(revision));
    const slow = (await here.tools()).get("mcp__sdk__slow");
    const stopping = new AbortController();
    const shown: string[] = [];
    const onOutput = (text: string) => {
      shown.push(text);
      stopping.abort(new Error("stopped"));
    };
    await expect(callTool(slow, {}, { signal: stopping.signal, onOutput })).rejects.toThrow("stopped");
    expect(shown).toEqual(["1 of 2 half of it\n"]);
    await expect.poll(async () => (await here.tools()).get("mcp__sdk__echo")?.description).toContain("told to stop");
  },
);
