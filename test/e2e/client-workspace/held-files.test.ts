import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { findBubblewrap } from "@gennai/machine/host/find-bubblewrap";
import { builtProgram } from "@gennai/testkit/built-program";
import { call } from "@gennai/testkit/scripted-steps";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { commandLine } from "../../../packages/cli/test/test-console.ts";
import { SupervisedProcess } from "../process/supervised-process.ts";

const program = builtProgram(new URL("../../../packages/cli/src/main.ts", import.meta.url));
const token = "e2e-token-of-forty-three-characters-0000000";

const steps = [
  call("Read", { file_path: "src/a.ts" }),
  call("Edit", { file_path: "src/a.ts", old_string: "two", new_string: "2" }),
  call("Write", { file_path: "docs/new/page.md", content: "# New\n" }),
  call("Read", { file_path: "old.txt" }),
  call("Delete", { file_path: "old.txt" }),
  call("Grep", { pattern: "t?wo|one", output_mode: "content" }),
  call("Glob", { pattern: "**/*.ts" }),
  call("LS", { path: "src" }),
  call("Bash", { command: "wc -l src/a.ts > counted.txt; cat counted.txt; exit 3", cwd: "." }),
  call("Read", { file_path: "../secret.txt" }),
  call("Read", { file_path: "leads-out/secret.txt" }),
  call("Write", { file_path: "leads-out/new.txt", content: "escaped" }),
  call("Write", { file_path: ".git/hooks/pre-commit", content: "escaped" }),
  call("Write", { file_path: "denied/x.txt", content: "denied" }),
  { text: ["Done."] },
];
const files = {
  "src/a.ts": "one\ntwo\nthree\n",
  "old.txt": "old\n",
  ".gitignore": "node_modules/\n",
  "node_modules/x.ts": "one\n",
  "AGENTS.md": "Say please.\n",
  ".gennai/config.yaml": 'paths: { deny: ["denied/**"] }\n',
};

/** The command line in a repository of its own, with something beside it that is not for others to know. */
async function place() {
  await using parts = new AsyncDisposableStack();
  const home = parts.use(await temporaryDirectory({ "secret.txt": "secret\n" }));
  const repository = parts.use(await temporaryRepository(files));
  await repository.git("checkout", "--quiet", "-b", "work");
  symlinkSync(home.root, repository.path("leads-out"));
  const owned = parts.move();
  return {
    home,
    repository,
    gennai: commandLine(repository.root, {
      ...process.env,
      GENNAI_STATE_DIR: home.path("state"),
      GENNAI_AUTH_TOKEN: token,
      NO_COLOR: "1",
    }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A server in a process of its own that sees an empty directory where the files are, wherever the machine can do that. */
async function serverWithout(hidden: TemporaryRepository, script: readonly unknown[] = steps) {
  await using parts = new AsyncDisposableStack();
  const home = parts.use(
    await temporaryDirectory({ "script.yaml": JSON.stringify({ turns: [{ match: ".", steps: script }] }) }),
  );
  const elsewhere = parts.use(await temporaryDirectory());
  const model = ["--backend", "scripted", "--model", home.path("script.yaml")];
  const node = [process.execPath, program, "serve", "--port", "0", "--commands", "ask", ...model];
  const box = findBubblewrap();
  const [command = "", ...args] =
    box === undefined
      ? node
      : [box, "--dev-bind", "/", "/", "--tmpfs", hidden.root, "--chdir", elsewhere.root, ...node];
  const server = parts.use(
    new SupervisedProcess(command, args, {
      cwd: elsewhere.root,
      environment: { ...process.env, GENNAI_AUTH_TOKEN: token, GENNAI_STATE_DIR: home.path("state"), HOME: home.root },
    }),
  );
  const url = await server.printed(/listening on (http:\/\/[\d.:]+)/, { timeoutMs: 90_000 });
  const owned = parts.move();
  const stateDir = home.path("state");
  return { url, stateDir, script: home.path("script.yaml"), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function refusedWith(code: string): unknown {
  return expect.stringContaining(`"code":"${code}"`);
}

/** What a model was told, and what happened to the files; roots by one name. */
async function outcome(repository: TemporaryRepository, out: string) {
  const events = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, Record<string, unknown> | undefined>);
  const results = events.flatMap(({ toolResult }) => (toolResult === undefined ? [] : [toolResult]));
  const decided = events.flatMap(({ gateDecision }) => (gateDecision === undefined ? [] : [gateDecision]));
  // Parallel reads are decided in no particular order.
  decided.sort((a, b) => String(a["toolCallId"]).localeCompare(String(b["toolCallId"])));
  const paths = ["src/a.ts", "docs/new/page.md", "old.txt", "counted.txt", "denied/x.txt", ".git/hooks/pre-commit"];
  const contents = paths.map((path) => [
    path,
    existsSync(repository.path(path)) ? readFileSync(repository.path(path), "utf8") : undefined,
  ]);
  const text = JSON.stringify(
    { results, decided, contents, status: await repository.git("status", "--short") },
    null,
    1,
  );
  return text.replaceAll(repository.root, "ROOT");
}

test("a server that cannot reach the files does with them what a local one does, and takes it back", async () => {
  await using there = await place();
  await using local = await place();
  await using server = await serverWithout(there.repository);
  const remote = ["--server", server.url, "--local-files"];
  // Commands of files that are held for a server are not staged.
  const request = ["run", "change it", "--json", "--yes", "--commands", "ask", "--branch", "ai-agent/x"];

  const held = await there.gennai(...request, ...remote);
  const own = await local.gennai(...[...request, "--server", "own", "--backend", "scripted", "--model", server.script]);
  expect(held).toMatchObject({ code: own.code, err: expect.stringContaining("Branch ai-agent/x (created)") });
  const [heldOutcome, ownOutcome] = [
    await outcome(there.repository, held.out),
    await outcome(local.repository, own.out),
  ];
  expect(heldOutcome).toBe(ownOutcome);

  const told = JSON.parse(heldOutcome) as { results: Record<string, string>[] };
  expect(told.results.map(({ output }) => output)).toEqual([
    expect.stringContaining("two"),
    expect.stringContaining("Edit src/a.ts"),
    expect.stringContaining("Create docs/new/page.md"),
    "1\told",
    expect.stringContaining("Delete old.txt"),
    expect.stringMatching(/^(?!.*node_modules).*src\/a\.ts/s),
    "src/a.ts",
    "a.ts",
    expect.stringMatching(/3 src\/a\.ts\n\[exit code 3\]/),
    ...["outside_workspace", "outside_workspace", "outside_workspace", "control_file"].map(refusedWith),
    expect.stringContaining("denied/x.txt"),
  ]);
  expect(existsSync(there.home.path("new.txt"))).toBe(false);

  expect((await there.gennai("sessions", ...remote)).out).toContain("change it");
  expect((await there.gennai("sessions", "--server", server.url)).out).toContain("No sessions yet");
  const undone = await there.gennai("undo", ...remote);
  expect(undone).toMatchObject({ code: 0, err: "" });
  expect(undone.out.trim().split("\n").sort()).toEqual([
    "brought back old.txt",
    "removed docs/new/page.md",
    "restored src/a.ts",
  ]);
  expect(await there.repository.read("src/a.ts")).toBe(files["src/a.ts"]);
  expect(await there.repository.git("status", "--short")).toBe("?? counted.txt\n?? leads-out");
  expect(existsSync(there.repository.path("docs"))).toBe(false);
});
