import { expect, test } from "vitest";
import { knownServers, withServers } from "../../src/settings/known-servers.ts";

const file = (servers: object): string => JSON.stringify({ servers });

test("a program and an address, with VS Code's variables in our words", () => {
  const { servers, leftOut } = knownServers(
    file({
      notes: {
        type: "stdio",
        command: "node",
        args: ["${workspaceFolder}/tools/notes.js"],
        env: { TOKEN: "${env:NOTES_TOKEN}" },
      },
      web: { url: "https://mcp.example/x", headers: { Authorization: "Bearer ${env:WEB}" } },
    }),
  );
  expect(leftOut).toEqual([]);
  expect(servers).toEqual([
    {
      name: "notes",
      entry: { command: "node", args: ["./tools/notes.js"], env: { TOKEN: "${NOTES_TOKEN}" } },
      words: "TOKEN=${NOTES_TOKEN} node ./tools/notes.js",
    },
    {
      name: "web",
      entry: { url: "https://mcp.example/x", headers: { Authorization: "Bearer ${WEB}" } },
      words: "https://mcp.example/x, sends Authorization",
    },
  ]);
});

test.each([
  [
    "a password that VS Code asks for",
    { command: "x", env: { KEY: "${input:key}" } },
    "${input:key} is known to VS Code alone",
  ],
  ["a file of variables", { command: "x", envFile: "${workspaceFolder}/.env" }, "only programs"],
  ["server-sent events", { type: "sse", url: "https://x.example" }, "only programs"],
  ["no server", 7, "only programs"],
])("%s is left out, and said so", (_name, entry, reason) => {
  const { servers, leftOut } = knownServers(file({ one: entry }));
  expect(servers).toEqual([]);
  expect(leftOut.join()).toContain(`one: ${reason}`);
});

test("a name that could not be called is left out", () => {
  expect(knownServers(file({ "a b": { command: "x" } })).leftOut).toEqual([
    "a b: a name has 1 to 40 letters, digits, - or _",
  ]);
});

test("comments and commas at the end are VS Code's way; texts keep theirs", () => {
  const text = `// servers
    { "servers": { "one": { "command": "a//b", "args": ["x,}", "/* no */",], /* yes */ }, }, }`;
  expect(knownServers(text).servers[0]?.entry).toEqual({ command: "a//b", args: ["x,}", "/* no */"], env: {} });
});

test.each(["", "{", "[]", '{"servers":[]}'])("%j is no such file", (text) => {
  expect(() => knownServers(text)).toThrow(".vscode/mcp.json");
});

test("what .mcp.json has stays as it is", () => {
  const { servers } = knownServers(file({ one: { command: "evil" }, two: { command: "two" } }));
  const present = JSON.stringify({ mcpServers: { one: { command: "mine" } }, other: 1 });
  const { text, written, kept } = withServers(present, servers);
  expect(JSON.parse(text)).toEqual({
    mcpServers: { one: { command: "mine" }, two: { command: "two", args: [], env: {} } },
    other: 1,
  });
  expect({ written, kept }).toEqual({ written: ["two"], kept: ["one"] });
  expect(withServers(undefined, servers)).toMatchObject({ written: ["one", "two"], kept: [] });
  expect(() => withServers("{", servers)).toThrow();
  expect(() => withServers("[]", servers)).toThrow("correct it first");
});
