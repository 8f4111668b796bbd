import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { runCommandLine } from "@gennai/cli/command-line";
import { processesRunning } from "@gennai/testkit/processes";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { afterEach, expect, test, vi } from "vitest";
import { commandLine, type TestConsole, testConsole } from "../../../packages/cli/test/test-console.ts";
import { loopbackService } from "./loopback-service.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const program = `#!/bin/sh
echo "settings: $(cat "$HOME/.mine/settings")"
echo "login: $(cat "$HOME/.mine/login")$MINE_KEY"
echo "sessions: $(ls "$HOME/.mine/sessions" | wc -l)"
echo "other files: $(ls "$HOME/notes" 2>/dev/null)"
node -e 'fetch(process.argv[1]).then((r) => r.text()).then((said) => console.log("model: " + said))' "$1"
echo changed > "$HOME/.mine/settings" && echo new > "$HOME/.mine/sessions/2"
echo two > a.md
echo obey > AGENTS.md
`;

const table = `agents:
  mine:
    program: my-agent
    directories: [~/.mine]
    logins: [~/.mine/login]
    histories: [~/.mine/sessions]
    keys: [MINE_KEY]
`;

/** A user with an agent of their own, its model, and a repository. */
async function user() {
  await using parts = new AsyncDisposableStack();
  const place = parts.use(await temporaryDirectory());
  const repository = parts.use(await temporaryRepository({ "a.md": "one\n" }));
  const files = {
    "home/.mine/settings": "dark",
    "home/.mine/login": "hunter2",
    "home/.mine/sessions/1": "what was said elsewhere",
    "home/notes/diary": "private",
    "home/.config/gennai/guard-agents.yaml": table,
  };
  const write = (path: string, text: string, mode?: number): void => {
    mkdirSync(dirname(place.path(path)), { recursive: true });
    writeFileSync(place.path(path), text, { mode });
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  write("bin/my-agent", program, 0o755);
  const model = parts.use(await loopbackService({ "/": "hello" }));
  const host = `127.0.0.1:${model.port}`;
  vi.stubEnv("HOME", place.path("home"));
  const environment = {
    HOME: place.path("home"),
    PATH: `${place.path("bin")}:${process.env["PATH"]}`,
    GENNAI_STATE_DIR: place.path("state"),
    MINE_KEY: "+key",
    NO_COLOR: "1",
  };
  const consoleHere = (): TestConsole => testConsole(repository.root, environment);
  const gennai = commandLine(repository.root, environment);
  const isAsBefore = (): boolean =>
    Object.entries(files).every(([path, text]) => readFileSync(place.path(path), "utf8") === text);
  const owned = parts.move();
  return {
    repository,
    home: place.path("home"),
    host,
    url: `http://${host}/`,
    write,
    consoleHere,
    gennai,
    isAsBefore,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

test.each([
  { flags: [], login: "login: \n" },
  { flags: ["--login"], login: "login: hunter2+key\n" },
])("an agent's session is one proposal, and its own files are as before: $flags", async ({ flags, login }) => {
  await using place = await user();
  const args = ["--keep", "--allow", place.host, ...flags, "--", "my-agent", place.url];
  const { code, out } = await place.gennai("guard", "run", ...args);
  expect(out).toContain(`settings: dark\n${login}sessions: 0\nother files: \nmodel: hello\n`);
  expect(out).toMatch(/create {3}AGENTS\.md {2}ask .*\n.*update {3}a\.md\n/);
  expect(out).toContain("Exit code 0; 1 of 2 changes were kept.\n");
  expect(code).toBe(0);
  expect(await place.repository.read("a.md")).toBe("two\n");
  expect(place.isAsBefore()).toBe(true);

  const { out: ledger } = await place.gennai("ledger", "show", "--json");
  const applied = ledger.split("\n").find((line) => line.includes('"applied"')) ?? "";
  for (const said of ['"agent":"mine"', '"by":"guard run"', "bin/my-agent", '"kept":["a.md"]'])
    expect(applied).toContain(said);
  const reviews = ledger.split("\n").filter((line) => line.includes(place.host) && line.includes('"review"'));
  expect(reviews.join()).toContain('"agent":"mine"');
  expect(reviews.join().includes(".mine/login")).toBe(flags.length > 0);
  expect((await place.gennai("ledger", "verify")).code).toBe(0);
  expect((await place.gennai("undo", "--kept")).code).toBe(0);
  expect(await place.repository.read("a.md")).toBe("one\n");
});

test("stop-all ends one that runs: its processes die, nothing of it is kept, and the ledger says so", async () => {
  await using place = await user();
  const long = `${100_000 + process.pid}`;
  place.write("bin/my-agent", `#!/bin/sh\necho two > a.md\necho begun\nsleep ${long}\n`, 0o755);
  const running = place.consoleHere();
  const args = ["guard", "run", "--keep", "--allow", place.host, "--", "my-agent"];
  const ended = runCommandLine(args, running);
  await expect.poll(running.printed).toContain("begun");
  await expect.poll(() => processesRunning(`sleep ${long}`)).not.toEqual([]);
  const stopped = performance.now();
  expect((await place.gennai("emergency", "stop-all", "on", "--reason", "a trial")).code).toBe(0);
  expect(await ended).toBe(3);
  expect(performance.now() - stopped).toBeLessThan(10_000);
  expect(processesRunning(`sleep ${long}`)).toEqual([]);
  expect(running.complained()).toMatch(
    /ended by the emergency control stop-all \(.*: a trial\); nothing of it was kept/,
  );
  expect(await place.repository.read("a.md")).toBe("one\n");
  const { out: ledger } = await place.gennai("ledger", "show");
  expect(ledger).toMatch(
    /outcome .*mine, guard run “.*bin\/my-agent”: ended by the emergency control stop-all .*nothing kept/,
  );
  expect(ledger).toMatch(/emergency/);
  expect((await place.gennai("ledger", "verify")).code).toBe(0);
});

test("a file of an agent's own is there as a copy, without what it remembers and without its login", async () => {
  await using place = await user();
  const own = { theme: "dark", projects: { "/x": "said elsewhere" }, token: "hunter3" };
  place.write("home/.mine.json", JSON.stringify(own));
  const files = "\n    files: [{ path: ~/.mine.json, histories: [projects], logins: [token] }]\n";
  place.write("home/.config/gennai/guard-agents.yaml", table + files);
  place.write(
    "bin/my-agent",
    '#!/bin/sh\ncat "$HOME/.mine.json"; echo; echo {} > "$HOME/.mine.json"; env | grep GENNAI_FILE',
    0o755,
  );
  const run = (...flags: readonly string[]) =>
    place.gennai("guard", "run", "--drop", "--allow", place.host, ...flags, "--", "my-agent");
  expect(await run()).toMatchObject({
    out: expect.stringContaining('{"theme":"dark"}\nExit code 1'),
    err: expect.stringContaining(`token in ${place.home}/.mine.json`),
  });
  expect((await run("--login")).out).toContain('{"theme":"dark","token":"hunter3"}\nExit code 1');
  expect(JSON.parse(readFileSync(`${place.home}/.mine.json`, "utf8"))).toEqual(own);
});

test("one question names the host and the login; a no starts nothing", async () => {
  await using place = await user();
  const start = (console: TestConsole) =>
    runCommandLine(["guard", "run", "--ask", "--drop", "--allow", place.host, "--", "mine", place.url], console);
  const refusing = place.consoleHere();
  const refused = start(refusing);
  await expect.poll(refusing.complained).toContain("Let it?");
  expect(refusing.complained()).toContain(`mine is to reach ${place.host}, with its login (`);
  expect(refusing.complained()).toMatch(/home\/\.mine\/login, MINE_KEY\)/);
  refusing.input.write("no\n");
  expect(await refused).toBe(3);
  expect(refusing.printed()).toBe("");

  const agreeing = place.consoleHere();
  const agreed = start(agreeing);
  await expect.poll(agreeing.complained).toContain("Let it?");
  agreeing.input.write("yes\n");
  expect(await agreed).toBe(0);
  expect(agreeing.printed()).toContain("login: hunter2+key\n");
  expect(await place.repository.read("a.md")).toBe("one\n");
});

const refusals: readonly {
  readonly words: readonly string[];
  readonly code: number;
  readonly said: RegExp;
  readonly own?: string;
}[] = [
  {
    words: ["--", "vim", "a.md"],
    code: 2,
    said: /"vim" is not a known agent[^]*claude-code, codex, gemini, opencode, pi, mine[^]*guard-agents\.yaml/,
  },
  { words: ["--", "mine"], code: 2, said: /mine speaks to the provider that you chose.*\n.*--allow/ },
  { words: ["--", "claude", "fix it"], code: 2, said: /a run has no terminal.*\n.*-- claude -p/ },
  { words: ["--", "codex"], code: 2, said: /a run has no terminal.*\n.*-- codex exec/ },
  { words: ["--allow", "here", "--", "mine"], code: 2, said: /here is not a host and port/ },
  { words: ["--keep", "--drop", "--", "mine"], code: 2, said: /not both/ },
  {
    words: ["--allow", "a.example:443", "--", "gone"],
    code: 1,
    said: /nowhere-to-be-found was not found on the search path/,
    own: "agents: { gone: { program: nowhere-to-be-found } }",
  },
  {
    words: ["--", "gone"],
    code: 3,
    said: /gone needs a\.example:443, and nobody could be asked.*\n.*--allow a\.example:443 --login/,
    own: "agents: { gone: { program: my-agent, hosts: ['a.example:443'] } }",
  },
  {
    words: ["--allow", "a.example:443", "--", "all"],
    code: 1,
    said: /contains .*, or lies in it/,
    own: "agents: { all: { program: my-agent, directories: ['~/'] } }",
  },
  {
    words: ["--", "mine"],
    code: 2,
    said: /guard-agents\.yaml cannot be used: agents\.mine\.logins\.0/,
    own: "agents: { mine: { program: my-agent, logins: [login] } }",
  },
  {
    words: ["--", "mine"],
    code: 2,
    said: /agents\.pi is one of Gennai's own/,
    own: "agents: { pi: { program: my-agent } }",
  },
  { words: ["--", "mine"], code: 2, said: /cannot be used: .*correct the YAML/, own: "agents: [" },
];

test("what does not start says what to do", async () => {
  await using place = await user();
  for (const { words, code, said, own = table } of refusals) {
    place.write("home/.config/gennai/guard-agents.yaml", own);
    const answer = await place.gennai("guard", "run", ...words);
    expect(answer.err).toMatch(said);
    expect(answer).toMatchObject({ code, out: "" });
  }
});

test("a hook that is installed, and an emergency control, keep it from starting", async () => {
  await using place = await user();
  await place.gennai("guard", "install", "pi");
  const hooked = await place.gennai("guard", "run", "--allow", place.host, "--", "pi", "-p", "go");
  expect(hooked).toMatchObject({ code: 1, err: expect.stringContaining("gennai guard uninstall pi") });
  expect((await place.gennai("emergency", "stop-all", "on", "--reason", "a trial")).code).toBe(0);
  const stopped = await place.gennai("guard", "run", "--allow", place.host, "--", "mine", place.url);
  expect(stopped).toMatchObject({ code: 3, err: expect.stringContaining("stop-all is on") });
});
