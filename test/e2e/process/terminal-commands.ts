import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { afterAll, beforeAll, expect, test } from "vitest";

const program = builtProgram(import.meta.resolve("@gennai/cli/main"));

/** Every command of the reference, with arguments that need no person, and its exit code. */
export const commands: readonly (readonly [command: string, args: string, code: number])[] = [
  ["gennai", "--help", 0],
  ["gennai serve", "serve --help", 0],
  ["gennai doctor", "doctor", 0],
  ["gennai open", "open", 2],
  ["gennai run", "run --continue replace colour with color in a.md", 0],
  ["gennai attempts", "attempts --help", 0],
  ["gennai attempts list", "attempts list", 0],
  ["gennai attempts show", "attempts show 1", 2],
  ["gennai attempts take", "attempts take 1", 2],
  ["gennai attempts drop", "attempts drop", 0],
  ["gennai try", "try --keep -- touch b.txt", 0],
  ["gennai acp", "acp --help", 0],
  ["gennai undo", "undo --list", 0],
  ["gennai sessions", "sessions", 0],
  ["gennai sessions list", "sessions list", 0],
  ["gennai sessions rename", "sessions rename none x", 2],
  ["gennai sessions delete", "sessions delete none --yes", 2],
  ["gennai sessions export", "sessions export none", 1],
  ["gennai sessions import", "sessions import none", 2],
  ["gennai sessions worktrees", "sessions worktrees", 0],
  ["gennai sessions fork", "sessions fork none", 2],
  ["gennai models", "models --backend openai", 0],
  ["gennai models try", "models try none --backend openai-compatible --base-url http://127.0.0.1:9/v1", 1],
  ["gennai background", "background --help", 0],
  ["gennai background list", "background list", 0],
  ["gennai background logs", "background logs none", 2],
  ["gennai background stop", "background stop none", 2],
  ["gennai background open", "background open none 80", 2],
  ["gennai stage", "stage --help", 0],
  ["gennai stage list", "stage list", 0],
  ["gennai stage keep", "stage keep none", 2],
  ["gennai stage drop", "stage drop none", 0],
  ["gennai storage", "storage", 0],
  ["gennai storage show", "storage show", 0],
  ["gennai storage free", "storage free", 0],
  ["gennai ledger", "ledger --help", 0],
  ["gennai ledger verify", "ledger verify", 0],
  ["gennai ledger repair", "ledger repair", 0],
  ["gennai ledger show", "ledger show", 0],
  ["gennai ledger explain", "ledger explain 1", 0],
  ["gennai ledger rotate-key", "ledger rotate-key", 0],
  ["gennai ledger accept-rollback", "ledger accept-rollback", 0],
  ["gennai ledger export", "ledger export", 0],
  ["gennai ledger anchor", "ledger anchor", 2],
  ["gennai ledger resend", "ledger resend --name none 1..2", 2],
  ["gennai ledger page", "ledger page --help", 0],
  ["gennai ledger purge", "ledger purge --session none", 3],
  ["gennai blame", "blame a.md", 0],
  ["gennai report", "report --since HEAD", 0],
  ["gennai provenance", "provenance --help", 0],
  ["gennai provenance note", "provenance note", 0],
  ["gennai provenance trailer", "provenance trailer", 0],
  ["gennai intents", "intents --help", 0],
  ["gennai intents list", "intents list", 0],
  ["gennai intents show", "intents show none", 2],
  ["gennai intents init", "intents init --help", 0],
  ["gennai intents accept", "intents accept --help", 0],
  ["gennai intents mode", "intents mode", 0],
  ["gennai emergency", "emergency --help", 0],
  ["gennai emergency status", "emergency status", 0],
  ["gennai emergency read-only", "emergency read-only --help", 0],
  ["gennai emergency disable-high-impact", "emergency disable-high-impact --help", 0],
  ["gennai emergency stop-all", "emergency stop-all --help", 0],
  ["gennai emergency block", "emergency block --help", 0],
  ["gennai emergency unblock", "emergency unblock --help", 0],
  ["gennai hooks", "hooks --help", 0],
  ["gennai hooks show", "hooks show", 0],
  ["gennai hooks trust", "hooks trust", 2],
  ["gennai mcp", "mcp --help", 0],
  ["gennai mcp list", "mcp list", 0],
  ["gennai mcp accept", "mcp accept none", 2],
  ["gennai mcp login", "mcp login none", 2],
  ["gennai mcp logout", "mcp logout none", 2],
  ["gennai mcp serve", "mcp serve --help", 0],
  ["gennai check", "check --help", 0],
  ["gennai check list", "check list", 0],
  ["gennai check revoke", "check revoke none", 2],
  ["gennai answers", "answers --help", 0],
  ["gennai answers list", "answers list", 0],
  ["gennai answers revoke", "answers revoke 9", 2],
  ["gennai answers allow", "answers allow none", 2],
  ["gennai approve", "approve", 2],
  ["gennai people", "people --help", 0],
  ["gennai people list", "people list", 0],
  ["gennai people pin", "people pin nobody", 2],
  ["gennai guard", "guard --help", 0],
  ["gennai guard install", "guard install none", 2],
  ["gennai guard uninstall", "guard uninstall none", 2],
  ["gennai guard status", "guard status pi", 0],
  ["gennai guard doctor", "guard doctor pi", 1],
  ["gennai guard run", "guard run --help", 0],
  ["gennai guard hook", "guard hook none", 2],
  ["gennai plan", "plan --help", 0],
  ["gennai plan new", "plan new 'create c.md with x'", 0],
  ["gennai plan preview", "plan preview none", 2],
  ["gennai plan approve", "plan approve none", 2],
  ["gennai plan execute", "plan execute none", 2],
  ["gennai plan verify", "plan verify none", 2],
  ["gennai plan status", "plan list", 0],
  ["gennai policy", "policy --help", 0],
  ["gennai policy check", "policy check --run 'touch b.txt'", 0],
  ["gennai policy test", "policy test", 0],
  ["gennai policy log", "policy log", 0],
  ["gennai policy replay", "policy replay", 0],
  ["gennai policy show", "policy show", 0],
  ["gennai policy fetch", "policy fetch --url https://a.example --key none --to none", 2],
  ["gennai policy sign", "policy sign none", 2],
];

/** A repository in which a session has changed a file. */
async function openPlace() {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const repository = parts.use(await temporaryRepository({ "a.md": "colour\n" }));
  const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => {
    const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...inherited } = process.env;
    return { ...inherited, GENNAI_STATE_DIR: state.root, HOME: state.root, TERM: "xterm-256color", ...more };
  };
  const gennai = `${JSON.stringify(process.execPath)} ${JSON.stringify(program)}`;
  /** Runs shell lines; at a terminal with `script` of util-linux. */
  const shell = async (lines: string, options: { readonly terminal?: boolean; readonly env?: NodeJS.ProcessEnv }) => {
    const script = state.path("lines.sh");
    writeFileSync(script, lines);
    const [name, args] =
      options.terminal === true
        ? ["script", ["--quiet", "--return", "--flush", "--command", `sh ${script}`, "/dev/null"]]
        : ["sh", [script]];
    const child = spawn(String(name), args, {
      cwd: repository.root,
      env: environment(options.env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await ended, out: out.replaceAll("\r\n", "\n"), err };
  };
  await shell(`${gennai} run replace colour with colours in a.md </dev/null`, {});
  const owned = parts.move();
  return { repository, state, shell, gennai, environment, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

/** A script that runs commands one after the other, and their output. */
const marked = (lines: readonly string[]): string =>
  lines.map((line) => `echo "§ begin" >&2\n${line}\necho "§ end $?" >&2\n`).join("");

function parted(out: string): readonly { readonly said: string; readonly code: number }[] {
  return out
    .split("§ begin\n")
    .slice(1)
    .map((part) => {
      const [said = "", code = ""] = part.split("§ end ");
      return { said, code: Number(code) };
    });
}

const brokenColour = /(?<!\u001b)\[\d{1,3}(?:;\d{1,3})*m/;
const crash = /^\s+at \S.*:\d+:\d+\)?$|failed unexpectedly|\[object Object\]|\bundefined\b/m;

/** Those that paint, of each family one or two: enough where the setting alone makes the difference. */
export const painting = commands.filter(([, args]) =>
  /^(?:doctor|run|undo|blame|policy check|policy test|ledger (?:verify|show|explain)|emergency status|intents list|plan new)/.test(
    args,
  ),
);

/** One for all tests of a file, once they run. */
export function usePlace(): () => Awaited<ReturnType<typeof openPlace>> {
  let place: Awaited<ReturnType<typeof openPlace>>;
  beforeAll(async () => {
    place = await openPlace();
  });
  afterAll(() => place[Symbol.asyncDispose]());
  return () => place;
}

/** Declares tests: `all` at a terminal with colours, `some` without them, and where nothing can be written. */
export function testAtTerminal(place: ReturnType<typeof usePlace>, all: typeof commands, some: typeof commands): void {
  test.each([
    // A test has an end, and each command starts a process.
    ...[...Map.groupBy(all, (_, index) => Math.floor(index / 24)).values()].map((rows) => ({
      name: `60 columns, in colours, from ${rows[0]?.[0]}`,
      columns: 60,
      env: {},
      rows,
    })),
    { name: "200 columns, NO_COLOR", columns: 200, env: { NO_COLOR: "1" }, rows: some },
    { name: "TERM=dumb", columns: 80, env: { TERM: "dumb" }, rows: some },
  ])("at a terminal of $name every command ends as it should, with whole colours or none", async (setting) => {
    const { columns, env, rows } = setting;
    const here = place();
    const lines = marked(rows.map(([, args]) => `${here.gennai} ${args} </dev/null`));
    const { out } = await here.shell(`stty cols ${columns}\n${lines}`, { terminal: true, env });
    const seen = parted(out);
    const wrong = rows.flatMap(([, args, code], index) => {
      const { said = "", code: ended } = seen[index] ?? {};
      const isPlain = columns === 60 || !said.includes("\u001b");
      const isRight = ended === code && !brokenColour.test(said) && !crash.test(said) && isPlain;
      return isRight ? [] : [{ args, ended, said: said.slice(0, 2000) }];
    });
    expect(wrong).toEqual([]);
    if (rows.some(([, args]) => args.startsWith("policy check"))) {
      expect(out.includes("\u001b[32mstaged\u001b[39m")).toBe(columns === 60);
    }
  });

  test("where the output cannot be written every command says so in a line", async () => {
    const here = place();
    const { err } = await here.shell(
      marked(some.map(([, args]) => `${here.gennai} ${args} </dev/null >/dev/full`)),
      {},
    );
    const seen = parted(err);
    const wrong = some.flatMap(([, args], index) => {
      const { said = "", code = 0 } = seen[index] ?? {};
      const isTold = said !== "" && said.length < 2000 && !crash.test(said) && code < 126;
      return isTold ? [] : [{ args, code, said: said.slice(0, 2000) }];
    });
    expect(wrong).toEqual([]);
  });
}
