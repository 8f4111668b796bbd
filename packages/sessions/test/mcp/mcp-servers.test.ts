import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Limits } from "@gennai/governance/limits/limits";
import { createExternalToolsPolicy } from "@gennai/governance/policies/external-tools";
import type { Analysis, Tool } from "@gennai/governance/tool";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { executionContext } from "@gennai/testkit/execution-context";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, it } from "vitest";
import { McpAcceptance } from "#mcp/mcp-acceptance";
import { McpServers } from "#mcp/mcp-servers";
import { inputWith } from "../../../governance/test/policies/effects.ts";
import { nobody } from "./users-server.ts";

const script = fileURLToPath(new URL("hostile-server.ts", import.meta.url));

const leadsToScript = `await import(${JSON.stringify(script)});\n`;

/** A workspace whose user has one server, which misbehaves. */
async function withServer(
  misbehaviour: string,
  origin: "user" | "project" = "user",
  /** In place of the script beside this test, one of the workspace that leads to it. */
  inWorkspace?: string,
  limits: Limits = [],
) {
  await using parts = new AsyncDisposableStack();
  const [state, config, workspace] = await Promise.all([
    temporaryDirectory(),
    temporaryDirectory(),
    temporaryDirectory(),
  ]);
  for (const part of [state, config, workspace]) parts.use(part);
  const file = origin === "user" ? join(config.root, "mcp.json") : join(workspace.root, ".mcp.json");
  const definition = { command: process.execPath, args: [inWorkspace ?? script, misbehaviour] };
  if (inWorkspace !== undefined) await writeFile(join(workspace.root, inWorkspace), leadsToScript);
  await mkdir(config.root, { recursive: true });
  await writeFile(file, JSON.stringify({ mcpServers: { odd: definition } }), { mode: 0o600 });
  const servers = parts.use(
    new McpServers({
      stateDir: state.root,
      configDir: config.root,
      home: "/home/nobody",
      environment: {},
      commandEnvironment: commandEnvironment(process.env),
      learn: () => undefined,
      limits: async () => limits,
      version: "0.0.0-test",
    }),
  );
  const owned = parts.move();
  const opened = openLocalWorkspace(workspace.root, { stateDir: state.root });
  const acceptance = new McpAcceptance({
    workspaceRoot: workspace.root,
    stateDir: state.root,
    configDir: config.root,
    environment: {},
    limits: async () => limits,
  });
  return {
    servers,
    workspace: opened,
    root: workspace.root,
    file,
    /** Accepts the server as it is now, as `gennai mcp accept` does. */
    accept: async () => {
      if ((await acceptance.accept("odd", async () => {})) === undefined) throw new Error("there is no server");
    },
    status: async () => (await acceptance.status()).servers,
    offered: () => servers.tools(opened, ["*"], { user: nobody, background: undefined }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

const context = (signal = new AbortController().signal) => executionContext({ signal });

async function run(tool: Tool, args: unknown, signal?: AbortSignal) {
  const parsed = tool.parameters.parse(args);
  const analysis = await tool.analyse(parsed, context(signal));
  return { analysis, outcome: await tool.execute(parsed, analysis, context(signal)) };
}

function one(tools: readonly Tool[]): Tool {
  const [tool] = tools;
  if (tool === undefined) throw new Error("no tool is offered");
  return tool;
}

const acceptance = (analysis: Analysis) =>
  analysis.effects.flatMap((effect) => (effect.type === "external" ? [effect.accepted] : []));

async function questionOf(analysis: Analysis) {
  const verdict = await createExternalToolsPolicy().decide(inputWith({ analysis }), {
    signal: new AbortController().signal,
  });
  if (verdict.type !== "ask") throw new Error(`it is not asked about: ${verdict.type}`);
  return verdict;
}

describe("McpServers", () => {
  it("offers a server's tools under its name, and accepts a definition with its first call", async () => {
    await using here = await withServer("well");
    const tool = one((await here.offered()).tools);
    expect(tool.name).toBe("mcp__odd__echo");
    const first = await run(tool, { text: "hello" });
    expect(first.outcome.output).toBe("hello");
    expect(acceptance(first.analysis)).toEqual(["new"]);
    expect(acceptance((await run(tool, { text: "again" })).analysis)).toEqual(["yes"]);
  });

  it("asks again when a definition changed behind an accepted name, and does not call what was not looked at", async () => {
    await using here = await withServer("rug-pull");
    const before = one((await here.offered()).tools);
    await run(before, { text: "hello" });
    // The server has told that its list changed; the old tool no longer is what was decided upon.
    await expect.poll(async () => one((await here.offered()).tools).description).toContain("id_rsa");
    await expect(run(before, { text: "hello" })).rejects.toMatchObject({ code: "changed_external_tool" });
    const after = one((await here.offered()).tools);
    const analysis = await after.analyse(after.parameters.parse({ text: "x" }), context());
    expect(acceptance(analysis)).toEqual(["changed"]);
    expect(analysis.operands).toMatchObject({ "accepted description": "Says it back." });
    expect((await questionOf(analysis)).finding.reason).toContain("describes echo differently");
  });

  it("takes the place of no built-in tool, and leaves out names that nobody could call", async () => {
    await using here = await withServer("shadow");
    const { tools, warnings } = await here.offered();
    expect(tools.map(({ name }) => name)).toEqual(["mcp__odd__Read", "mcp__odd__echo"]);
    expect(warnings).toEqual(['A tool of the MCP server odd is left out: "a b".']);
  });

  it("shows the model no hidden characters of a description", async () => {
    await using here = await withServer("hidden");
    expect(one((await here.offered()).tools).description).toMatch(/^\[MCP server odd\] Says it back\.\]0;title$/);
  });

  it("refuses arguments that the schema does not know", async () => {
    await using here = await withServer("well");
    const tool = one((await here.offered()).tools);
    expect(tool.parameters.safeParse({ text: "x", approved: true }).success).toBe(false);
    expect(tool.parameters.safeParse({}).success).toBe(false);
  });

  it.each([["dies", "the licence has expired"]])(
    "tells why a server that %s is not there",
    async (misbehaviour, words) => {
      await using here = await withServer(misbehaviour);
      const { tools, warnings } = await here.offered();
      expect(tools).toEqual([]);
      expect(JSON.stringify(warnings)).toContain(words);
    },
  );

  it("starts nothing of a repository that the user did not accept", async () => {
    await using here = await withServer("well", "project");
    const { tools, warnings } = await here.offered();
    expect(tools).toEqual([]);
    expect(warnings).toMatchObject([{ code: "mcp_server_unaccepted", hint: "gennai mcp accept odd" }]);
    expect(await here.status()).toMatchObject([{ accepted: false }]);
  });

  it.each(["user", "project"] as const)("pins what a server of the %s's runs of the workspace", async (origin) => {
    await using here = await withServer("well", origin, "server.mjs");
    expect((await here.offered()).tools).toEqual([]);
    await here.accept();
    const tool = one((await here.offered()).tools);
    await run(tool, { text: "hello" });
    await writeFile(join(here.root, "server.mjs"), `${leadsToScript}// and more\n`);
    const { tools, warnings } = await here.offered();
    expect(tools).toEqual([]);
    const text: unknown = expect.stringContaining("changed since it was accepted, or what it runs did");
    expect(warnings).toMatchObject([{ text }]);
    expect(await here.status()).toMatchObject([{ accepted: false, changed: true }]);
    await here.accept();
    // It is another server now, whose tools nobody has looked at.
    const again = one((await here.offered()).tools);
    const analysis = await again.analyse(again.parameters.parse({ text: "x" }), context());
    expect(acceptance(analysis)).toEqual(["changed"]);
  });

  it("starts no changed script in the middle of a turn either, when the server went away", async () => {
    await using here = await withServer("floods", "project", "server.mjs");
    await here.accept();
    const tool = one((await here.offered()).tools);
    await writeFile(join(here.root, "server.mjs"), `${leadsToScript}// and more\n`);
    // Its connection breaks; the next call would start it anew.
    await expect(run(tool, { text: "x" })).rejects.toMatchObject({ code: "mcp_unavailable" });
    await expect(run(tool, { text: "x" })).rejects.toThrow("changed since it was accepted");
  });

  it("takes the tools of another program or address of the same name for changed", async () => {
    await using here = await withServer("well");
    const tool = one((await here.offered()).tools);
    await run(tool, { text: "hello" });
    expect(acceptance((await run(tool, { text: "hello" })).analysis)).toEqual(["yes"]);
    const definition = { command: process.execPath, args: ["--no-warnings", script, "well"] };
    await writeFile(here.file, JSON.stringify({ mcpServers: { odd: definition } }));
    const other = one((await here.offered()).tools);
    const analysis = await other.analyse(other.parameters.parse({ text: "x" }), context());
    expect(acceptance(analysis)).toEqual(["changed"]);
    expect(analysis.operands).not.toHaveProperty("accepted description");
    // What the question says is true: nothing is described differently.
    const { finding } = await questionOf(analysis);
    expect(finding.reason).toContain("runs or is reached differently than when echo was accepted");
  });

  it("stops waiting when told to, and survives garbage and floods", async () => {
    await using silent = await withServer("silent");
    const controller = new AbortController();
    const calling = run(one((await silent.offered()).tools), { text: "x" }, controller.signal);
    setTimeout(() => controller.abort(new Error("stopped")), 50);
    await expect(calling).rejects.toThrow("stopped");

    await using floods = await withServer("floods");
    // It may have done what it was asked to before it broke off.
    await expect(run(one((await floods.offered()).tools), { text: "x" })).rejects.toMatchObject({
      code: "mcp_unavailable",
      retryable: false,
    });

    await using garbage = await withServer("garbage");
    const tool = one((await garbage.offered()).tools);
    for (const text of ["still here", "and still"]) {
      expect(await run(tool, { text })).toMatchObject({ outcome: { output: text } });
    }
  });

  it("leaves out only those tools that nobody could call, and says why", async () => {
    await using here = await withServer("ill-described");
    const { tools, warnings } = await here.offered();
    const names = ["good", "result-nowhere", "result-list", "undescribed", "without-input", "referring"];
    expect(tools.map(({ name }) => name)).toEqual(names.map((name) => `mcp__odd__${name}`));
    expect(tools.map(({ inputSchema }) => inputSchema?.["type"])).toEqual(names.map(() => "object"));
    const why = [
      ...['"nowhere": a $ref of inputSchema leads nowhere', '"list": inputSchema is not valid'],
      ...['"text": inputSchema is not valid', '"deep": JSON may be nested 256 levels', '"large": An integer beyond'],
      ...['"task": it runs only as a task', '"without a name": name is not valid'],
      '"without a name": it is not valid',
    ];
    expect(warnings).toEqual(
      why.map((words): unknown => expect.stringContaining(`A tool of the MCP server odd is left out: ${words}`)),
    );
    expect(await run(one(tools), { text: "here" })).toMatchObject({ outcome: { output: "here" } });
  });

  it("keeps the result of a call that is not what its tool promised", async () => {
    await using here = await withServer("unstructured");
    const { outcome } = await run(one((await here.offered()).tools), { text: "done" });
    expect(outcome).toEqual({ output: "done", images: [] });
  });

  it("offers names with dots as providers take them, and none in place of another", async () => {
    await using here = await withServer("dotted");
    const { tools, warnings } = await here.offered();
    expect(tools.map(({ name }) => name)).toEqual(["mcp__odd__admin_list", "mcp__odd__admin_list_all"]);
    expect(tools.map(({ description }) => description)).toEqual([
      "[MCP server odd] Lists here.",
      "[MCP server odd] Lists all.",
    ]);
    expect(warnings).toEqual(['A tool of the MCP server odd is left out: "admin.list".']);
  });

  it("says that a server lists more tools than are offered", async () => {
    await using here = await withServer("many");
    const { tools, warnings } = await here.offered();
    expect(tools).toHaveLength(200);
    expect(warnings).toEqual(["The MCP server odd lists more than 200 tools or 20 pages. The rest is left out."]);
  });

  it("says that a call failed when the server says so", async () => {
    await using here = await withServer("fails");
    const { outcome } = await run(one((await here.offered()).tools), { text: "bad" });
    expect(outcome).toMatchObject({ output: "bad", failure: { failureClass: "command_error" } });
  });

  it("tells the gate what arguments name of the file system", async () => {
    await using here = await withServer("well");
    await writeFile(join(here.root, "secret.txt"), "x");
    const tool = one((await here.offered()).tools);
    const paths = async (text: string) =>
      (await tool.analyse(tool.parameters.parse({ text }), context())).effects.flatMap((effect) =>
        effect.type === "external"
          ? effect.paths.map(({ relative, absolute, inside }) => (inside ? relative : absolute))
          : [],
      );
    expect(await paths("/etc/passwd")).toEqual(["/etc/passwd"]);
    expect(await paths("file:///etc/passwd")).toEqual(["/etc/passwd"]);
    expect(await paths("src/../../up")).toHaveLength(1);
    expect(await paths("secret.txt")).toEqual(["secret.txt"]);
    expect(await paths("~/.ssh/id_rsa")).toEqual(["/home/nobody/.ssh/id_rsa"]);
    expect(await paths("just words")).toEqual([]);
    expect(await paths("https://example.org/a/b")).toEqual([]);
  });
});
