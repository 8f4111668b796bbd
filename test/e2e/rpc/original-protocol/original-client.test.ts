import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../../../..");
const schema = import.meta.dirname;
const run = promisify(execFile);

type Json = Readonly<Record<string, unknown>>;
type Protocol = "grpcweb" | "connect";

/** A client that uses only messages of the original protocol, with `buf curl`. */
class OriginalClient {
  readonly #server: TestServer;
  readonly #protocol: Protocol;

  constructor(server: TestServer, protocol: Protocol) {
    this.#server = server;
    this.#protocol = protocol;
  }

  async call(method: string, body: Json): Promise<Json> {
    const { stdout } = await run(join(root, "node_modules/.bin/buf"), this.#arguments(method, body));
    return JSON.parse(stdout) as Json;
  }

  /** Each event of a turn with its member and value, as it comes. */
  async *invoke(body: Json): AsyncGenerator<readonly [string, Json]> {
    const child: ChildProcess = spawn(join(root, "node_modules/.bin/buf"), this.#arguments("Invoke", body), {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "close");
    if (child.stdout === null) throw new Error("There is no output.");
    try {
      // Messages are printed over many lines, each closed by a brace at the margin; one of an unknown kind is empty.
      let text = "";
      for await (const line of createInterface({ input: child.stdout })) {
        text += line;
        if (line !== "}" && line !== "{}") continue;
        const [event] = Object.entries(JSON.parse(text) as Readonly<Record<string, Json>>);
        text = "";
        if (event !== undefined) yield event;
      }
      const [code] = await ended;
      if (code !== 0) throw new Error(`The call ended with ${String(code)}.`);
    } finally {
      child.kill();
    }
  }

  #arguments(method: string, body: Json): string[] {
    const { url, token } = this.#server;
    return [
      ...["curl", "--protocol", this.#protocol, "--schema", schema, "-H", `Authorization: Bearer ${token}`],
      ...["-d", JSON.stringify(body), `${url}/gennai.agent.v1.AgentService/${method}`],
    ];
  }
}

const read = call("Read", { file_path: "README.md" });
/** Between two reads: they are not made at the same time then. */
const look = bash("head -1 README.md");
const script = (...steps: readonly Json[]) => [{ match: "go", steps: [...steps, { text: ["Done."] }] }];

async function interactiveSession(client: OriginalClient): Promise<string> {
  return String((await client.call("StartSession", { interactive: true }))["sessionId"]);
}

describe("seed 002: a client that knows only the original protocol", () => {
  test.each<Protocol>(["grpcweb", "connect"])(
    "gets a turn with a read and a command through, over %s",
    async (protocol) => {
      const inTerminal = call("RunInTerminal", { command: "ls -l" });
      const asks = bash("touch made.txt");
      await using server = await startTestServer({ script: script(read, inTerminal, asks) });
      const client = new OriginalClient(server, protocol);
      const sessionId = await interactiveSession(client);
      const seen: string[] = [];
      const results: string[] = [];
      const begun = performance.now();
      for await (const [name, value] of client.invoke({ sessionId, userInput: "go" })) {
        const requestId = value["requestId"];
        if (name === "requestFileRead") {
          seen.push(`read ${String(value["path"])}`);
          const fileReadResponse = { requestId, path: value["path"], content: "unsaved\n", encoding: "utf-8" };
          expect(await client.call("SubmitClientEvent", { sessionId, fileReadResponse })).toMatchObject({
            status: "OK",
          });
        }
        if (name === "executeCommandRequest") {
          seen.push(`run ${String(value["command"])}`);
          const commandDispatchResponse = { requestId, terminalId: "t1", status: "SENT" };
          await client.call("SubmitClientEvent", { sessionId, commandDispatchResponse });
        }
        if (name === "toolResult") results.push(`${String(value["output"])}${JSON.stringify(value["error"] ?? "")}`);
        if (name === "final") seen.push(String(value["text"]));
      }
      expect(seen).toEqual(["read README.md", "run ls -l", "Done."]);
      expect(results).toEqual([
        expect.stringContaining("unsaved"),
        expect.stringContaining("sent to the terminal"),
        // Its protocol has no way to say yes.
        expect.stringContaining("nobody_to_ask"),
      ]);
      expect(await server.workspace.git("status", "--porcelain")).toBe("");
      expect(performance.now() - begun).toBeLessThan(60_000);
    },
  );

  test("one that answers nothing waits once, and everything after that is read from disk at once", async () => {
    await using server = await startTestServer({
      script: [...script(read, look, read, look, read), { match: "again", steps: [read, { text: ["Done."] }] }],
    });
    const client = new OriginalClient(server, "grpcweb");
    const sessionId = await interactiveSession(client);
    const asked: string[] = [];
    const results: string[] = [];
    const begun = performance.now();
    for await (const [name, value] of client.invoke({ sessionId, userInput: "go" })) {
      if (name === "requestFileRead") asked.push(String(value["requestId"]));
      if (name === "toolResult") results.push(String(value["output"]));
    }
    expect([asked.length, results.length]).toEqual([1, 5]);
    for (const result of results) expect(result).toContain("# Test");
    expect(performance.now() - begun).toBeLessThan(30_000);
    // Late as it is: it can answer after all, and is asked again.
    const late = { requestId: asked[0], path: "README.md", content: "x" };
    await client.call("SubmitClientEvent", { sessionId, fileReadResponse: late }).catch(() => undefined);
    for await (const [name] of client.invoke({ sessionId, userInput: "again" })) if (name === "requestFileRead") return;
    throw new Error("It was not asked.");
  });
});
