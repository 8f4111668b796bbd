import type { ServerProof } from "@gennai/client/connection/prove-server";
import { expect, it } from "vitest";
import {
  type AnnouncedServer,
  type FindPorts,
  type FindRequest,
  type FoundServer,
  findServer,
} from "../../src/server/find-server.ts";

const workspace = "/work";
const local = "http://127.0.0.1:7777";
const other = "http://127.0.0.1:4000";

const server = (
  url: string,
  token: string | undefined,
  of = workspace,
  shared?: AnnouncedServer["shared"],
): AnnouncedServer => ({
  url,
  token,
  workspace: of,
  version: "1",
  shared,
});

const options = { commands: "auto", protectedBranches: ["a", "b"] };
const sharing = { ...options, version: "1" };
const sharedElsewhere = server(other, "a", "/else", options);
const notRunning = { type: "not-running", url: local, reason: "refused" } as const;

/** What listens where, and which token it knows; null: something else than Gennai. */
type World = Readonly<Record<string, string | null>>;

interface Row {
  readonly name: string;
  readonly request?: Partial<FindRequest>;
  readonly announced?: readonly AnnouncedServer[];
  readonly stored?: Readonly<Record<string, string>>;
  readonly world: World;
  readonly want: FoundServer;
}

const rows: readonly Row[] = [
  { name: "nothing runs", world: {}, want: { type: "not-running", url: local, reason: "refused" } },
  {
    name: "a server of this workspace, on any port",
    announced: [server(other, "a")],
    world: { [other]: "a" },
    want: { type: "found", url: other, token: "a", isHere: true },
  },
  {
    name: "a server of another workspace only on the port that is set",
    announced: [server(other, "a", "/else")],
    world: { [other]: "a" },
    want: { type: "not-running", url: local, reason: "refused" },
  },
  {
    name: "a server of another workspace on the port that is set",
    announced: [server(local, "a", "/else")],
    world: { [local]: "a" },
    want: { type: "found", url: local, token: "a", isHere: true },
  },
  {
    name: "a server of another workspace that windows share, started as this one would",
    request: { sharing: { ...sharing, protectedBranches: ["b", "a"] } },
    announced: [sharedElsewhere],
    world: { [other]: "a" },
    want: { type: "found", url: other, token: "a", isHere: true },
  },
  ...[
    { name: "other options", sharing: { ...sharing, commands: "ask" } },
    { name: "other protected branches", sharing: { ...sharing, protectedBranches: ["a"] } },
    { name: "another version", sharing: { ...sharing, version: "2" } },
    { name: "a server of the user's own wanted", sharing: undefined },
  ].map((row) => ({
    name: `no shared server for a window with ${row.name}`,
    request: { sharing: row.sharing },
    announced: [sharedElsewhere],
    world: { [other]: "a" },
    want: notRunning,
  })),
  {
    name: "not its own folder's shared server with other options",
    request: { sharing: { ...sharing, commands: "staged" }, startsOwn: true },
    announced: [server(other, "a", workspace, options)],
    world: { [other]: "a" },
    want: notRunning,
  },
  {
    name: "not a shared server with other options that has the port",
    request: { sharing: { ...sharing, commands: "staged" }, startsOwn: true },
    announced: [server(local, "a", "/else", options)],
    world: { [local]: "a" },
    want: { ...notRunning, reason: "another program listens there" },
  },
  {
    name: "its own server before a shared one",
    request: { sharing },
    announced: [sharedElsewhere, server(local, "b")],
    world: { [other]: "a", [local]: "b" },
    want: { type: "found", url: local, token: "b", isHere: true },
  },
  ...[null, "unknown"].map((listener) => ({
    name: `nobody is in the way of a server of our own: ${listener}`,
    request: { sharing, startsOwn: true },
    world: { [local]: listener },
    want: { ...notRunning, reason: "another program listens there" },
  })),
  {
    name: "somebody else sits where a server announced itself: its token is not named",
    announced: [server(local, "a")],
    world: { [local]: null },
    want: { type: "stranger", url: local },
  },
  {
    name: "a server that answers with another token",
    announced: [server(local, "a")],
    world: { [local]: "b" },
    want: { type: "token-wrong", url: local },
  },
  {
    name: "the stored token where the announced one is old",
    announced: [server(local, "a")],
    stored: { [local]: "b" },
    world: { [local]: "b" },
    want: { type: "found", url: local, token: "b", isHere: false },
  },
  { name: "a server nobody announced", world: { [local]: "a" }, want: { type: "token-missing", url: local } },
  {
    name: "a server without authentication",
    announced: [server(local, undefined)],
    world: { [local]: null },
    want: { type: "found", url: local, token: undefined, isHere: true },
  },
  { name: "another program on the port", world: { [local]: null }, want: { type: "stranger", url: local } },
  {
    name: "localhost is 127.0.0.1",
    request: { baseUrl: "http://localhost:7777/" },
    announced: [server(local, "a")],
    world: { "http://localhost:7777": "a" },
    want: { type: "found", url: "http://localhost:7777", token: "a", isHere: false },
  },
  {
    name: "baseUrl goes before announced servers",
    request: { baseUrl: "https://far.example" },
    announced: [server(other, "a")],
    stored: { "https://far.example": "c" },
    world: { [other]: "a", "https://far.example": "c" },
    want: { type: "found", url: "https://far.example", token: "c", isHere: false },
  },
  ...["file:///etc/passwd", "far.example", "http://user:word@far.example"].map((baseUrl) => ({
    name: `baseUrl ${baseUrl}`,
    request: { baseUrl },
    world: {},
    want: { type: "bad-url" as const, url: baseUrl },
  })),
];

it.each(rows)("findServer: $name", async ({ request, announced = [], stored = {}, world, want }) => {
  const ports: FindPorts = {
    announced: async () => announced,
    storedToken: async (url) => stored[url],
    prove: async (url, token): Promise<ServerProof> => {
      const known = world[url];
      if (known === undefined) return { type: "nobody", reason: "refused" };
      if (known === null) return { type: "stranger" };
      return { type: known === token ? "proven" : "other-token" };
    },
  };
  expect(
    await findServer({ baseUrl: "", port: 7777, workspace, sharing: undefined, startsOwn: false, ...request }, ports),
  ).toEqual(want);
});
