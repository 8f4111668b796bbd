import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, it } from "vitest";
import { loadMcpConfig, type McpConfig } from "#mcp/mcp-config";

async function load(
  files: { readonly user?: unknown; readonly project?: unknown },
  environment: Record<string, string> = {},
): Promise<McpConfig> {
  await using config = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  const text = (content: unknown) => (typeof content === "string" ? content : JSON.stringify(content));
  await mkdir(config.root, { recursive: true });
  if (files.user !== undefined) await writeFile(join(config.root, "mcp.json"), text(files.user), { mode: 0o600 });
  if (files.project !== undefined) await writeFile(join(workspace.root, ".mcp.json"), text(files.project));
  return await loadMcpConfig(workspace.root, config.root, environment);
}

const program = { command: "files-server", args: ["."], env: { TOKEN: "${MY_TOKEN}" }, allow: ["list"] };

describe("loadMcpConfig", () => {
  it("knows no servers where nobody wrote any down", async () => {
    expect(await load({})).toEqual({ servers: new Map(), problems: [] });
  });

  it("fills in the user's variables, and leaves a server out when one is missing", async () => {
    const user = { mcpServers: { files: program } };
    const { servers } = await load({ user }, { MY_TOKEN: "secret" });
    expect(servers.get("files")?.start).toMatchObject({ command: "files-server", environment: { TOKEN: "secret" } });
    expect((await load({ user })).problems).toEqual(["mcp.json: files: set the environment variable MY_TOKEN"]);
  });

  it("fills in variables everywhere, and their words where they are not set", async () => {
    const files = { command: "${BIN}/x", args: ["${ARG:-none}"], env: { A: "${A:-}" }, cwd: "${DIR:-sub}" };
    const far = {
      type: "http",
      url: "${BASE:-https://mcp.example}/v1/${TENANT}",
      headers: { Authorization: "Bearer ${KEY:-k}" },
    };
    const { servers, problems } = await load(
      { user: { mcpServers: { files, far } } },
      { BIN: "/opt", A: "", TENANT: "t" },
    );
    expect(problems).toEqual([]);
    expect(servers.get("files")?.start).toMatchObject({
      command: "/opt/x",
      args: ["none"],
      environment: { A: "" },
      cwd: "sub",
    });
    const filled = { url: "https://mcp.example/v1/t", headers: { Authorization: "Bearer k" } };
    expect(servers.get("far")).toMatchObject({ start: filled, written: { url: far.url, headers: far.headers } });
  });

  it.each<[string, object, string]>([
    ["an address that is none", { url: "${BASE}" }, "begins with http:// or https://"],
    ["an address of another kind", { url: "${BASE:-file:///etc}/passwd" }, "begins with http:// or https://"],
    ["an address that is not known", { url: "https://${HOST}/mcp" }, "set the environment variable HOST"],
    ["a directory that is not known", { command: "x", cwd: "${DIR}" }, "set the environment variable DIR"],
    ["no command", { command: "${BASE}" }, "its command is empty"],
  ])("checks after that: %s", async (_name, server, problem) => {
    const { servers, problems } = await load({ user: { mcpServers: { server } } }, { BASE: "" });
    expect([servers.size, problems]).toEqual([0, [expect.stringContaining(problem)]]);
  });

  it("refuses a transport that it does not speak, and gives the same digest with and without a known one", async () => {
    const far = async (words: object) =>
      load({ user: { mcpServers: { far: { url: "https://mcp.example/", ...words } } } });
    expect((await far({ type: "sse" })).problems).toEqual([
      expect.stringContaining("far: speaks SSE, which is not taken"),
    ]);
    expect((await far({ type: "ws" })).servers.size).toBe(0);
    const digests = [{}, { type: "http" }, { type: "streamable-http" }].map(
      async (words) => (await far(words)).servers.get("far")?.digest,
    );
    expect(new Set(await Promise.all(digests)).size).toBe(1);
  });

  it("gives the same digest whatever the user lets run without a question", async () => {
    const digest = async (words: object) => {
      const user = { mcpServers: { files: { ...program, ...words } } };
      return (await load({ user }, { MY_TOKEN: "1" })).servers.get("files")?.digest;
    };
    expect(await digest({ allow: [] })).toBe(await digest({ allow: ["list"], readOnly: ["list"] }));
  });

  it("gives the same digest whatever the variables hold, and another for another command", async () => {
    const digest = async (command: string, value: string) => {
      const user = { mcpServers: { files: { ...program, command } } };
      return (await load({ user }, { MY_TOKEN: value })).servers.get("files")?.digest;
    };
    expect(await digest("a", "1")).toBe(await digest("a", "2"));
    expect(await digest("a", "1")).not.toBe(await digest("b", "1"));
  });

  it("takes no word of a repository on what runs without a question, and prefers the user's server", async () => {
    const own = { command: "mine" };
    const { servers, problems } = await load({
      user: { mcpServers: { both: own } },
      project: { mcpServers: { both: { command: "theirs" }, files: { ...program, env: {}, readOnly: ["write"] } } },
    });
    expect(servers.get("both")).toMatchObject({ origin: "user", start: { command: "mine" } });
    expect(servers.get("files")).toMatchObject({ origin: "project", allow: [], readOnly: [] });
    expect(problems).toHaveLength(1);
  });

  it.each<[string, unknown, string]>([
    ["no JSON", "{", "it is not JSON"],
    ["another shape", { mcpServers: [] }, "cannot be read"],
    ["a name with a space", { mcpServers: { "a b": { command: "x" } } }, "cannot be used"],
    ["a name that could be another's", { mcpServers: { a__proto__: { command: 1 } } }, "write a command"],
    ["neither command nor url", { mcpServers: { a: {} } }, "write a command with args, or a url"],
    [
      "a url of another kind",
      { mcpServers: { a: { url: "file:///etc/passwd" } } },
      "write a command with args, or a url",
    ],
  ])("says what is wrong with %s", async (_name, user, problem) => {
    const { servers, problems } = await load({ user });
    expect(servers.size).toBe(0);
    expect(problems.join()).toContain(problem);
  });

  it("goes on with the others when one is broken or switched off", async () => {
    const user = { mcpServers: { good: { command: "x" }, bad: {}, off: { command: "y", disabled: true } } };
    const { servers, problems } = await load({ user });
    expect([...servers.keys()]).toEqual(["good"]);
    expect(problems).toHaveLength(1);
  });
});
