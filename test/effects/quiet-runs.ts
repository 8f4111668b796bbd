import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { eventsOf, runTurn, startSession } from "../e2e/rpc/session-client.ts";
import { type BareRun, bareRun } from "./bare-run.ts";
import { copyServerFiles, copyTree, everydayFiles, makeHistory } from "./everyday-repository.ts";
import { normalisedOutput } from "./normalised-output.ts";
import type { CorpusCommand } from "./run-commands.ts";
import { differences, treeState } from "./tree-state.ts";

/** What a command was to the person who waits for it. */
export interface QuietRun extends CorpusCommand {
  /** `quiet`: no question, and exit code, output and effects of a bare run. */
  readonly outcome: "quiet" | "different" | "asked" | "refused" | "not installed";
  /** Rules that asked or refused, or what differs from a bare run. */
  readonly why: readonly string[];
  /** What it prints differs from one bare run to the next, and was not compared. */
  readonly outputVaries: boolean;
}

export interface QuietOptions {
  /** An intent is in force, with the scope `src/**`. */
  readonly intent?: boolean;
  /** Fetches the packages of the project, so that commands which run them mean something. */
  readonly install?: boolean;
  readonly onResult?: (run: QuietRun) => void;
}

const timeoutMs = 8_000;
const intents = `active_intents:
  - { id: INT-001, name: Work, status: active, owned_scope: ["src/**"] }
`;
/** Says what there is of what git ignores: its effects, too, are seen by the session's next command. */
const look =
  "git ls-files -z -o -i --exclude-standard | grep -zvE '^(node_modules|.orchestration|.gennai)/' | LC_ALL=C sort -z | xargs -0r sha256sum";

/**
 * Runs each command staged, through the product with nobody to ask, and with nothing around it, in a copy of the same
 * repository at the same path; and says whether anybody could tell the difference. Where there is one, it runs bare once more:
 * what two bare runs do differently is held against nobody.
 */
export async function quietRuns(
  commands: readonly CorpusCommand[],
  { intent = false, install = false, onResult = () => undefined }: QuietOptions = {},
): Promise<readonly QuietRun[]> {
  const place = mkdtempSync(join(tmpdir(), "gennai-bare-"));
  try {
    await using server = await startTestServer({
      files: { ...everydayFiles, ...(intent ? { ".orchestration/active_intents.yaml": intents } : {}) },
      script: [
        { match: "^select$", steps: [call("select_active_intent", { intent_id: "INT-001" }), { text: ["Done."] }] },
        { match: "^look$", steps: [call("Bash", { command: look }), { text: ["Done."] }] },
        { match: "^first$", steps: [call("Bash", { command: "echo > src/first.txt" }), { text: ["Done."] }] },
        ...commands.map(({ command }, index) => ({
          match: `^${index}$`,
          steps: [call("Bash", { command, timeout_ms: timeoutMs }), { text: ["Done."] }],
        })),
      ],
      server: { sandbox: "required", environment: { ...process.env, GENNAI_STAGED_COMMANDS: "1" } },
    });
    const { root } = server.workspace;
    makeHistory(root, { install });
    // The first change of all has the server write down what it keeps in the workspace.
    await turn(server, await startSession(server), "first");
    rmSync(join(root, "src/first.txt"));
    const template = join(place, "template");
    mkdirSync(template);
    copyTree(root, template);
    const [copy, temporary, before] = ["copy", "tmp", "tmp-before"].map((name) => join(place, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [copy, temporary, before]) mkdirSync(path, { mode: 0o700 });
    const runs: QuietRun[] = [];
    for (const [index, each] of commands.entries()) {
      copyTree(template, root);
      const sessionId = await startSession(server);
      if (intent) await turn(server, sessionId, "select");
      const staged = await turn(server, sessionId, String(index));
      const runBare = async (): Promise<Ran> => {
        copyTree(template, copy);
        copyServerFiles(root, copy);
        const options = { root, copy, temporary, home: homedir(), timeoutMs };
        const ran = await bareRun(each.command, options);
        const { output } = await bareRun(look, options);
        return { ...ran, state: withIgnored(copy, output) };
      };
      copyTree(temporary, before);
      const bare = await runBare();
      const ignored = staged.fired.length > 0 ? { output: "" } : await turn(server, sessionId, "look");
      const state = withIgnored(root, ignored.output);
      let run = judged(each, { ...staged, state }, [bare, bare]);
      if (run.outcome === "different") {
        copyTree(before, temporary);
        run = judged(each, { ...staged, state }, [bare, await runBare()]);
      }
      runs.push(run);
      onResult(run);
    }
    return runs;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function call(name: string, args: object) {
  return { tool: { name, args } };
}

interface Ran extends BareRun {
  readonly state: ReadonlyMap<string, string>;
}

interface Turn extends BareRun {
  /** Rules that did not allow, and whether they refused. */
  readonly fired: readonly { readonly rule: string; readonly refused: boolean }[];
}

async function turn(server: TestServer, sessionId: string, text: string): Promise<Turn> {
  const events = await runTurn(server, sessionId, text);
  const fired = eventsOf(events, "gateDecision")
    // The project's own check after a change is another question.
    .filter(({ rule, verdict }) => !rule.startsWith("project-check/") && verdict !== Verdict.ALLOW)
    .map(({ rule, verdict }) => ({ rule, refused: verdict === Verdict.DENY }));
  const { output = "", exitCode } = eventsOf(events, "toolResult")[0] ?? {};
  return {
    fired,
    exitCode,
    output: output.replace(/\n?\[(?:exit code \d+|ended by|timed out)[^\n]*\](?:\n\[.*\])*$/s, ""),
  };
}

function withIgnored(root: string, listed: string): ReadonlyMap<string, string> {
  const lines = listed.split("\n").filter((line) => /^[0-9a-f]{64} /.test(line));
  return new Map([...treeState(root), ...lines.map((line) => [`ignored ${line.slice(66)}`, line] as const)]);
}

function judged(command: CorpusCommand, staged: Turn & Ran, [bare, again]: readonly [Ran, Ran]): QuietRun {
  const run = { ...command, outputVaries: false };
  if (isMissing(bare)) return { ...run, outcome: "not installed", why: [] };
  if (staged.fired.length > 0) {
    const isRefused = staged.fired.some(({ refused }) => refused);
    return { ...run, outcome: isRefused ? "refused" : "asked", why: staged.fired.map(({ rule }) => rule) };
  }
  // Of what did not end by itself nothing is kept.
  if (bare.exitCode === undefined && staged.exitCode === undefined) return { ...run, outcome: "quiet", why: [] };
  const why: string[] = [];
  if (staged.exitCode !== bare.exitCode) why.push(`exit code ${staged.exitCode} and not ${bare.exitCode}`);
  const outputs = [staged, bare, again].map(({ output }) => shown(output));
  const outputVaries = outputs[1] !== outputs[2];
  if (!outputVaries && outputs[0] !== outputs[1]) why.push(`output ${firstDifference(outputs[0], outputs[1])}`);
  const varying = new Set(differences(bare.state, again.state));
  for (const name of differences(staged.state, bare.state)) {
    const isThere = [staged, bare].map(({ state }) => state.has(name));
    if (!varying.has(name) || isThere[0] !== isThere[1]) why.push(`effect ${name}`);
  }
  return { ...run, outputVaries, outcome: why.length === 0 ? "quiet" : "different", why };
}

/** The program is not there, or would have to be fetched. */
function isMissing({ exitCode, output }: BareRun): boolean {
  return exitCode === 127 || /command not found|npm (?:error|ERR!) code E(?:AI_AGAIN|NOTCACHED|NOTFOUND)/.test(output);
}

/** As much as an event holds, without the ledger's own lines. */
function shown(output: string): string {
  const lines = normalisedOutput(output).split("\n");
  return lines
    .filter((line) => !line.includes(".orchestration"))
    .join("\n")
    .slice(0, 12_000);
}

function firstDifference(staged = "", bare = ""): string {
  const [one, other] = [staged.split("\n"), bare.split("\n")];
  const at = one.findIndex((line, index) => line !== other[index]);
  const line = at === -1 ? one.length : at;
  return `${JSON.stringify((one[line] ?? "").slice(0, 200))} and not ${JSON.stringify((other[line] ?? "").slice(0, 200))}`;
}
