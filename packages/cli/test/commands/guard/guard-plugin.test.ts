import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";

const files = { "src/a.txt": "one\n", "docs/b.txt": "two\n", ".gennai/config.yaml": 'paths:\n  deny: ["docs/**"]\n' };
const plugins = { opencode: ".opencode/plugins/gennai-guard.js", pi: ".pi/extensions/gennai-guard.js" };

/** A project with a server, and the command line in it. */
async function project() {
  const server = await startTestServer({ files, server: { announce: true } });
  const { root } = server.workspace;
  const environment = { HOME: join(root, "home"), GENNAI_STATE_DIR: server.stateDir };
  const { governance } = server;
  return {
    root,
    server,
    governance,
    async run(command: string, more: NodeJS.ProcessEnv = {}) {
      const console = testConsole(root, { ...environment, ...more });
      console.input.end();
      const code = await runCommandLine(command.split(" "), console);
      return { code, printed: console.printed(), complained: console.complained() };
    },
    async records() {
      const { records } = await governance.listLedgerRecords({ limit: 100 });
      const own = records.map(({ json }) => recordSchema.parse(JSON.parse(json)).metadata);
      return own.flatMap(({ kind, details, calls }) => {
        if (kind === "intent" || details.agent === undefined) return [];
        const made = calls.map(({ tool, verdict, verification = "", confirmation }) =>
          [tool, verdict, confirmation?.answer ?? "", verification]
            .filter((word) => word !== "" && word !== "unverified")
            .join(" "),
        );
        return [details.agent, kind, ...made].join(", ");
      });
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const recordSchema = z.object({
  metadata: z.object({
    kind: z.string(),
    details: z.object({ agent: z.string().optional() }),
    calls: z.array(
      z.object({
        tool: z.string(),
        verdict: z.string(),
        verification: z.string().optional(),
        confirmation: z.object({ answer: z.string() }).optional(),
      }),
    ),
  }),
});

type Handler = (...args: readonly unknown[]) => Promise<unknown>;
const load = async <Plugin>(root: string, path: string): Promise<Plugin> =>
  ((await import(pathToFileURL(join(root, path)).href)) as { default: Plugin }).default;

describe.each(Object.entries(plugins))("%s", (agent, path) => {
  test("what somebody else has there stays, and one that was changed is told", async () => {
    await using here = await project();
    const { run, root } = here;
    const file = join(root, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(join(file, "../theirs.js"), "theirs");
    writeFileSync(file, "theirs");
    expect(await run(`guard install ${agent}`)).toMatchObject({
      code: 2,
      complained: expect.stringContaining("not written by Gennai"),
    });
    expect((await run(`guard uninstall ${agent}`)).printed).toContain("There is nothing of Gennai");
    expect(readFileSync(file, "utf8")).toBe("theirs");
    writeFileSync(file, "");
    await run(`guard install ${agent}`);
    writeFileSync(file, readFileSync(file, "utf8").replace("throw new Error", "return; throw new Error") + "\n");
    expect(await run(`guard doctor ${agent}`)).toMatchObject({
      code: 1,
      printed: expect.stringContaining("differs from what install writes"),
    });
    await run(`guard install ${agent}`);
    expect((await run(`guard doctor ${agent}`)).printed).not.toContain("differs from what install writes");
    await run(`guard uninstall ${agent}`);
    expect(readdirSync(join(file, ".."))).toContain("theirs.js");
    expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe("");
  });

  test("a project's link is not followed, and a user's own place is where the agent looks", async () => {
    await using here = await project();
    const { run, root } = here;
    const [top = ""] = path.split("/");
    mkdirSync(join(root, "elsewhere"));
    symlinkSync(join(root, "elsewhere"), join(root, top));
    expect(await run(`guard install ${agent}`)).toMatchObject({
      code: 2,
      complained: expect.stringContaining("is a link"),
    });
    expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
    const own = agent === "pi" ? "home/.pi/agent/extensions" : "home/.config/opencode/plugins";
    await run(`guard install ${agent} --user`);
    expect(readFileSync(join(root, own, "gennai-guard.js"), "utf8")).toContain('"GENNAI_GUARD_PROJECT":""');
    await run(`guard uninstall ${agent} --user`);
    expect(existsSync(join(root, "home"))).toBe(false);
  });
});

test("opencode's plugin: what may run, what may not, the result, and all of it stopped", async () => {
  await using here = await project();
  const { root, governance } = here;
  await here.run("guard install opencode");
  const stopped: unknown[] = [];
  const client = { session: { abort: async (told: unknown) => stopped.push(told) } };
  const plugin = await load<Readonly<Record<"server" | "setup", Handler>>>(root, plugins.opencode);
  const hooks = (await plugin.server({ client, directory: root, worktree: "/" })) as Record<string, Handler>;
  const on = (name: string, ...args: readonly unknown[]) => hooks[name]?.(...args);
  const call = (tool: string, callID: string) => ({ tool, sessionID: "s", callID });
  const read = { filePath: join(root, "src/a.txt") };
  await on("tool.execute.before", call("read", "1"), { args: read });
  await on("tool.execute.after", { ...call("read", "1"), args: read }, { metadata: {} });
  const edit = { ...read, oldString: "none", newString: "1" };
  await on("tool.execute.before", call("edit", "2"), { args: edit });
  const state = { status: "error", error: "Could not find it" };
  const part = { type: "tool", callID: "2", sessionID: "s", state };
  await on("event", { event: { type: "message.part.updated", properties: { part } } });
  await on("tool.execute.before", call("bash", "3"), { args: { command: "ls" } });
  await on("tool.execute.after", { ...call("bash", "3"), args: { command: "ls" } }, { metadata: { exit: 2 } });
  await expect(on("tool.execute.before", call("bash", "4"), { args: { command: "touch x" } })).rejects.toThrow(
    /nobody can be asked.*no rule can allow it/,
  );
  const outside = { args: { filePath: join(root, "docs/x"), content: "x" } };
  await expect(on("tool.execute.before", call("write", "5"), outside)).rejects.toThrow(/deny list.*Gennai, rule/);
  await expect(on("tool.execute.before", call("bash", "6"), { args: {} })).rejects.toThrow("not arguments");
  // Another plugin changed it after it was judged.
  await on("tool.execute.before", call("bash", "7"), { args: { command: "ls" } });
  await on("tool.execute.after", { ...call("bash", "7"), args: { command: "touch y" } }, { metadata: { exit: 0 } });
  expect(stopped).toEqual([{ path: { id: "s" } }]);
  await governance.setEmergencyControl({ control: EmergencyControl.STOP_ALL, enabled: true, by: "a", reason: "b" });
  await expect(on("tool.execute.before", call("read", "8"), { args: read })).rejects.toThrow("emergency control");
  await expect(on("tool.execute.before", call("todowrite", "9"), { args: {} })).rejects.toThrow("emergency control");
  expect(stopped).toHaveLength(1);
  const refused = { part: { ...part, callID: "9" } };
  await on("event", { event: { type: "message.part.updated", properties: refused } });
  expect(stopped).toHaveLength(2);
  expect(await here.records()).toEqual([
    ...["opencode, outcome, Read allow", "opencode, outcome, Edit allow failed"],
    ...["opencode, outcome, Bash allow failed", "opencode, refusal, Bash deny nobody"],
    ...["opencode, refusal, Write deny", "opencode, outcome, Bash allow failed", "opencode, refusal, Read deny"],
  ]);
  // Version 2, as its page says: what is refused, throws; what lacks a name, too. Version 1 calls it without tools.
  expect(await plugin.setup({})).toBeUndefined();
  const later = new Map<string, Handler>();
  const tool = { hook: async (name: string, handler: Handler) => void later.set(name, handler) };
  await governance.setEmergencyControl({ control: EmergencyControl.STOP_ALL, enabled: false, by: "a", reason: "b" });
  await plugin.setup({ tool, directory: root });
  const shell = (command: string) => ({ ...call("shell", "l1"), input: { command } });
  await expect(later.get("execute.before")?.(shell("touch made"))).rejects.toThrow("nobody can be asked");
  await expect(later.get("execute.before")?.({ tool: "shell" })).rejects.toThrow();
  await later.get("execute.before")?.(shell("ls src"));
  await later.get("execute.after")?.({ ...shell("ls src"), status: "completed" });
});

test("pi's extension: its user is asked where one is there, and says yes or no", async () => {
  await using here = await project();
  const { root } = here;
  await here.run("guard install pi");
  const handlers = new Map<string, Handler>();
  const extension = await load<Handler>(root, plugins.pi);
  await extension({ on: (name: string, handler: Handler) => void handlers.set(name, handler) });
  const asked: string[] = [];
  let says: boolean | undefined = true;
  const ctx = (hasUI: boolean) => ({
    cwd: root,
    hasUI,
    abort: () => undefined,
    sessionManager: { getSessionId: () => "s" },
    ui: {
      notify: () => undefined,
      async confirm(...words: readonly string[]) {
        asked.push(words.join("\n"));
        return says;
      },
    },
  });
  const wants = (toolCallId: string, toolName: string, input: object, hasUI = true) =>
    handlers.get("tool_call")?.({ toolCallId, toolName, input }, ctx(hasUI));
  const touch = { command: "touch 'a\u202eb'" };
  expect(await wants("1", "bash", touch)).toBeUndefined();
  expect(asked).toEqual([expect.stringMatching(/bash\n.*touch 'a\\u\{202e\}b'[\s\S]*Gennai, rule/)]);
  const content = [{ type: "text", text: "oh\n\nCommand exited with code 3" }];
  const result = { toolCallId: "1", toolName: "bash", input: touch, content, isError: true };
  await handlers.get("tool_result")?.(result, ctx(true));
  for (const answer of [false, undefined]) {
    says = answer;
    expect(await wants("2", "bash", touch)).toMatchObject({
      block: true,
      reason: expect.stringMatching(/^The user said no/),
    });
  }
  expect(await wants("3", "bash", touch, false)).toMatchObject({
    block: true,
    reason: expect.stringContaining("nobody"),
  });
  expect(await wants("4", "write", { path: "@docs/x", content: "" })).toMatchObject({ block: true });
  await expect(wants("5", "bash", {})).rejects.toThrow("not arguments");
  await handlers.get("agent_settled")?.({}, ctx(true));
  expect(await here.records()).toEqual([
    "pi, outcome, Bash ask passed-on failed",
    "pi, outcome, Bash ask passed-on failed",
    "pi, outcome, Bash ask passed-on failed",
    "pi, refusal, Bash deny nobody",
    "pi, refusal, Write deny",
  ]);
});
