import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { samplePng } from "@gennai/testkit/sample-images";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { cliScene } from "../../cli-scene.ts";

const files = {
  "src/a.ts": `const colour = 1;\n${"// between\n".repeat(20)}use(colour);\n`,
  "src/b.ts": "// colour\r\n",
};
const replace = "replace colour with color in src/**/*.ts";

test("branch mode: changes on a branch of its own, shown as a diff, recorded, and taken back", async () => {
  await using here = await cliScene(files);
  const { code, out, err } = await here.run("run", replace);
  expect([code, out]).toEqual([0, "Changed 2 files:\n- src/a.ts\n- src/b.ts\n"]);
  expect(await here.repository.git("branch", "--show-current")).toBe("ai-agent/replace-colour-with-color-in-src-ts");
  expect(await here.repository.read("src/b.ts")).toBe("// color\r\n");
  expect(err).toContain("-const colour = 1;\n+const color = 1;");
  expect(err).toMatch(/✓ Edit src\/a\.ts/);
  expect(err).not.toMatch(/\x1b/);
  expect(err).toContain("Branch ai-agent/replace-colour-with-color-in-src-ts (created)");

  expect((await here.run("sessions")).out).toContain(replace);
  expect((await here.run("ledger", "verify")).code).toBe(0);
  expect((await here.run("ledger", "show", "--limit", "1")).out).toMatch(/Edit allow, src\/b\.ts/);
  const undone = await here.run("undo");
  expect(undone).toMatchObject({ code: 0, out: "restored src/a.ts\nrestored src/b.ts\n" });
  expect(await here.repository.read("src/b.ts")).toBe(files["src/b.ts"]);
  expect(await here.run("undo")).toMatchObject({ code: 2, err: expect.stringContaining("has changes to undo") });
});

test("a request that only asks, or that fails at the provider, moves nobody to another branch", async () => {
  await using here = await cliScene(files);
  const { out, err } = await here.run("run", "what is here?");
  expect(out + err).not.toContain("Branch ");
  const gone = ["--backend", "openai-compatible", "--base-url", "http://127.0.0.1:9/v1", "--model", "none"];
  expect((await here.run("run", ...gone, "mend it")).code).not.toBe(0);
  expect(await here.repository.git("branch", "--format=%(refname:short)")).toBe("main");
});

test("a ledger that somebody changed is told by the exit code", async () => {
  await using here = await cliScene(files);
  await here.run("run", replace);
  const ledger = ".orchestration/agent_trace.jsonl";
  await here.repository.write(ledger, (await here.repository.read(ledger)).replace("Edit", "Read"));
  const broken = await here.run("ledger", "verify", "--json");
  expect(broken.code).toBe(10);
  expect(JSON.parse(broken.out)).toMatchObject({ status: "broken_chain" });
  expect((await here.run("ledger", "repair")).code).toBe(0);
  expect((await here.run("ledger", "verify")).code).toBe(0);
});

test("a model that answers nothing, or is cut in its only words, is not success", async () => {
  const cut = { text: ["half"], finish: "length" };
  const answers = [{ text: ["Hello."] }, { text: [] }, { text: [] }, { text: [] }, cut, cut, cut, cut, cut, cut];
  const answer = (count: number) => answers[count - 1] ?? { text: ["(no more)"] };
  await using provider = await startModelServer(modelWires["openai-compatible"], answer);
  await using here = await cliScene(files);
  const ask = (text: string) =>
    here.run("run", "--backend", "openai-compatible", "--model", "m", "--base-url", provider.baseUrl, text);
  const { code, out, err } = await ask("hello");
  expect([code, out + err]).toEqual([0, expect.stringMatching(/120 tokens in, 30 out\n/)]);
  const empty = await ask("hello");
  expect([empty.code, empty.out + empty.err]).toEqual([1, expect.stringContaining("without a word")]);
  const used = provider.requests.length;
  expect((await ask("hello")).code).toBe(1);
  expect(provider.requests.length).toBeGreaterThan(used);
});

test("--image takes images along, and refuses what is none before anything starts", async () => {
  await using here = await cliScene({ ...files, "notes.txt": "no image" });
  await here.repository.write("page.png", samplePng(3, 2));
  const { code, out } = await here.run("run", "--json", "--image", "page.png", "--image", "page.png", "hello");
  expect(code).toBe(0);
  const message = out.split("\n").find((line) => line.includes('"userMessage"')) ?? "{}";
  expect(JSON.parse(message)).toMatchObject({
    userMessage: { images: [{ mediaType: "image/png" }, { mediaType: "image/png" }] },
  });
  const refused = [
    [["--image", "notes.txt", "hello"], /notes\.txt cannot be sent\. It must be PNG, JPEG, GIF or WebP/],
    [["--image", "none.png", "hello"], /none\.png cannot be sent\. It is not there/],
    [["--image", "src", "hello"], /It is not a file/],
    [["--image", "page.png"], /--image needs a request/],
    [["--image", "page.png", "--mode", "plan", "hello"], /--image is not for plans/],
    [["--image", "page.png", "--attempts", "2", "hello"], /--image is not for attempts/],
    [["-o", "a.json", "--attempts", "2", "hello"], /--output is not for attempts/],
    [["--output-schema", "a.json", "--mode", "plan", "hello"], /A plan gives no answer/],
    [[...Array.from({ length: 21 }, () => ["--image", "page.png"]).flat(), "hello"], /At most 20 images/],
  ] as const;
  for (const [words, why] of refused) {
    expect(await here.run("run", ...words)).toMatchObject({ code: 2, err: expect.stringMatching(why) });
  }
});

test("--json prints an object a line and nothing else", async () => {
  await using here = await cliScene(files);
  const { code, out } = await here.run("run", "--json", replace);
  const lines = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(code).toBe(0);
  expect(lines[0]).toMatchObject({ type: "session", format: 1, session: { branch: expect.any(String) } });
  expect(lines.every(({ type }) => typeof type === "string")).toBe(true);
  expect(lines.at(-1)).toEqual({
    type: "result",
    result: expect.objectContaining({
      outcome: "completed",
      exitCode: 0,
      refused: [],
      changedFiles: ["src/a.ts", "src/b.ts"],
      branch: "ai-agent/replace-colour-with-color-in-src-ts",
    }),
  });
  expect(lines.some((line) => "toolCall" in line)).toBe(true);
});

test("--output-schema: an answer that does not fit is asked for once more, and its JSON alone is the output", async () => {
  const answers = ["Here it is: 3", '```json\n{"count": 3}\n```', '{"count": "3"}', "no"];
  const answer = (count: number) => ({ text: [answers[count - 1] ?? "(no more)"] });
  await using provider = await startModelServer(modelWires["openai-compatible"], answer);
  await using here = await cliScene(files);
  const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
  await here.repository.write("schema.json", JSON.stringify(schema));
  await here.repository.write("bad.json", "[1]");
  const model = ["--backend", "openai-compatible", "--model", "m", "--base-url", provider.baseUrl];
  const ask = (file: string) => here.run("run", ...model, "--output-schema", file, "-o", "answer.json", "how many?");
  expect(await ask("schema.json")).toMatchObject({ code: 0, out: '{"count": 3}\n' });
  expect(await here.repository.read("answer.json")).toBe('{"count": 3}\n');
  expect(JSON.stringify(provider.requests[0])).toContain("It must fit this JSON Schema");
  expect(await ask("schema.json")).toMatchObject({ code: 1, err: expect.stringMatching(/does not fit schema\.json/) });
  expect(await ask("bad.json")).toMatchObject({ code: 2, err: expect.stringMatching(/bad\.json cannot be used/) });
});

const original = files["src/a.ts"];
const proposals = [
  ["--yes keeps all", ["--yes"], 0, original.replaceAll("colour", "color"), "// color\r\n"],
  ["nobody to ask applies nothing", [], 3, original, "// colour\r\n"],
  ["one hunk is refused", ["--refuse", "src/a.ts#2"], 0, original.replace("colour", "color"), "// color\r\n"],
  ["one hunk is kept", ["--keep", "src/a.ts#2"], 0, original.replace("use(colour", "use(color"), "// colour\r\n"],
  ["all is refused", ["--refuse", "src/a.ts", "--refuse", "src/b.ts"], 0, original, "// colour\r\n"],
  ["a hunk that is not there", ["--refuse", "src/c.ts#1"], 2, original, "// colour\r\n"],
] as const;

test.each(proposals)("proposal mode: %s", async (_, flags, code, a, b) => {
  await using here = await cliScene(files);
  const run = await here.run("run", "--mode", "proposal", ...flags, replace);
  expect({
    code: run.code,
    a: await here.repository.read("src/a.ts"),
    b: await here.repository.read("src/b.ts"),
  }).toEqual({ code, a, b });
  expect(await here.repository.git("branch", "--show-current")).toBe("main");
});

test("proposal mode: asks hunk by hunk, and what was applied can be taken back", async () => {
  await using here = await cliScene(files);
  const console = here.console();
  const done = runCommandLine(["run", "--mode", "proposal", "--ask", replace], console);
  for (const [hunk, answer] of [
    ["src/a.ts#1", "y"],
    ["src/a.ts#2", "n not here"],
    ["src/b.ts#1", "d"],
  ] as const) {
    await expect.poll(() => console.complained()).toContain(`keep ${hunk}?`);
    console.input.write(`${answer}\n`);
  }
  expect(await done).toBe(0);
  expect(await here.repository.read("src/a.ts")).toBe(original.replace("colour", "color"));
  expect((await here.run("undo")).out).toBe("restored src/a.ts\n");
  expect(await here.repository.read("src/a.ts")).toBe(original);
});

const inTerminal = "run touch made in the terminal";

test("a question that nobody can answer is a refusal", async () => {
  const workflow = ".github/workflows/ci.yml";
  await using here = await cliScene({ ...files, [workflow]: "on: push\n" });
  const { code, err } = await here.run("run", `append 'x' to ${workflow}`);
  expect(code).toBe(3);
  expect(err).toContain("Refused: Edit");
  expect(await here.repository.read(workflow)).toBe("on: push\n");
});

test("--yes answers, and the command runs in the user's shell", async () => {
  await using here = await cliScene(files);
  expect((await here.run("run", "--yes", inTerminal)).code).toBe(0);
  expect(await here.repository.read("made")).toBe("");
});

test.each([
  ["y", 0],
  ["n not now", 3],
  ["sure", 3],
])("--ask: the answer %s", async (answer, code) => {
  await using here = await cliScene(files);
  const console = here.console();
  // What is there before the question does not answer it.
  console.input.write("y\n");
  const done = runCommandLine(["run", "--ask", inTerminal], console);
  await expect.poll(() => console.complained()).toContain("n [reason] >");
  expect(console.complained()).toContain("What the server found");
  expect(console.complained()).toContain("touch made");
  console.input.write(`${answer}\n`);
  expect(await done).toBe(code);
});

test("a prompt takes one request after the other", async () => {
  await using here = await cliScene(files);
  const console = here.console();
  console.input.end("show src/b.ts\n/mode proposal\n/nonsense\n/exit\n");
  expect(await runCommandLine(["run"], console)).toBe(0);
  expect(console.printed()).toContain("✓ Read src/b.ts");
  expect(console.printed()).toContain("Proposal Mode from now on.");
  expect(console.printed()).toContain("There is no /nonsense.");
});

test("goes on with a session, in its own workspace only", async () => {
  await using here = await cliScene(files);
  const { out } = await here.run("run", "--json", "show src/b.ts");
  const last = JSON.parse(out.trimEnd().split("\n").at(-1) ?? "{}") as { result: { sessionId: string } };
  const { sessionId } = last.result;
  expect((await here.run("run", "--resume", sessionId, "show src/a.ts")).code).toBe(0);
  await using elsewhere = await temporaryRepository({ "c.ts": "" });
  const foreign = await here.run("run", "--resume", sessionId, "--workspace", elsewhere.root, "show c.ts");
  expect(foreign).toMatchObject({ code: 2, err: expect.stringContaining(`--workspace ${here.repository.root}`) });
});

const oidc = [
  ...["serve", "--auth", "oidc", "--issuer", "https://login.example", "--audience", "g", "--workspace-root", "w"],
] as const;

const wrong = [
  ["an empty request", ["run", " "], "The prompt is empty"],
  ["an unknown mode", ["run", "--mode", "x", "go"], "Choose --mode branch"],
  ["an unknown verbosity", ["run", "--verbosity", "x", "go"], "terse, normal, detailed"],
  ["an unknown backend", ["run", "--backend", "x", "go"], "openai-compatible"],
  ["an unusable count", ["run", "--max-iterations", "0", "go"], "--max-iterations 20"],
  ["two ways to answer", ["run", "--yes", "--ask", "go"], "exclude each other"],
  ["a directory that is not there", ["run", "--workspace", "nowhere", "go"], "--workspace"],
  ["the former name of --resume", ["run", "--session", "x", "go"], "--session is called --resume."],
  ["a session that is not there", ["run", "--resume", "none", "go"], "gennai sessions"],
  ["a server that is not a URL", ["run", "--server", "x", "--mode", "proposal", "go"], "http://127.0.0.1:7777"],
  ["an unknown command", ["frobnicate"], "--help"],
  ["help for an unknown command", ["help", "frobnicate"], "unknown command 'frobnicate'"],
  ["an unknown option", ["run", "--frob"], "--help"],
  ["a port that is none", ["--serve", "--port", "70000"], "--port 7777"],
  ["an address of others without TLS", ["serve", "--host", "0.0.0.0"], "--behind-proxy"],
  ["a certificate without its key", ["serve", "--tls-cert", "a.txt"], "--tls-key FILE"],
  ["a certificate that is none", ["serve", "--tls-cert", "a.txt", "--tls-key", "a.txt"], "PEM"],
  ["a proxy and a certificate", ["serve", "--behind-proxy", "--tls-cert", "x", "--tls-key", "y"], "Leave out"],
  ["another way to know users", ["serve", "--auth", "basic"], "Leave it out"],
  ["many users without an issuer", ["serve", "--auth", "oidc"], "--issuer https://login.example"],
  ["an issuer for one user", ["serve", "--issuer", "https://login.example"], "Add --auth oidc"],
  ["keys that come unencrypted", [...oidc, "--jwks", "http://login.example/keys"], "https URL"],
  ["keys that are none", [...oidc, "--jwks", "a.txt"], "JSON Web Key Set"],
  ["a workspace for many users", [...oidc, "--jwks", "https://login.example/k", "--workspace", "."], "Leave it out"],
  ["the RinaWarp port for many users", [...oidc, "--jwks", "https://x.example/k", "--rina-port", "0"], "Leave it out"],
  ["a limit of nothing", ["serve", "--max-turns", "0"], "Leave it out for the default"],
  ["no authentication for other machines", ["serve", "--no-auth", "--host", "0.0.0.0"], "--no-auth"],
] as const;

test.each(wrong)("%s is told with what to do next", async (_, args, next) => {
  await using here = await cliScene({ "a.txt": "" });
  const { code, err } = await here.run(...args);
  expect(code).toBe(2);
  expect(err).toContain(next);
});

test("a directory without git: both ways out", async () => {
  await using here = await cliScene(files);
  await using plain = await temporaryDirectory({ "a.txt": "colour\n" });
  const refused = await here.run("run", "--workspace", plain.root, "replace colour with color in a.txt");
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("git init");
  expect(refused.err).toContain("--mode proposal");
  const proposed = await here.run(
    "run",
    "--mode",
    "proposal",
    "--yes",
    "--workspace",
    plain.root,
    "replace colour with color in a.txt",
  );
  expect(proposed.code).toBe(0);
  expect(await plain.read("a.txt")).toBe("color\n");
});
