import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startTestServer } from "@gennai/testkit/test-server";
import { startSession } from "../../e2e/rpc/session-client.ts";
import { copyServerFiles, copyTree, everydayFiles, makeHistory } from "../cases/everyday-repository.ts";
import { treeState } from "../look/tree-state.ts";
import { bareRun } from "./bare-run.ts";
import { comparedRuns, isMissing, type QuietRun, type Ran } from "./compared-runs.ts";
import type { CorpusCommand } from "./run-commands.ts";
import { stagedTurn } from "./staged-turn.ts";

export interface QuietOptions {
  /** An intent is in force, with the scope `src/**`. */
  readonly intent?: boolean;
  /** Fetches the packages of the project, so that commands which run them mean something. */
  readonly install?: boolean;
  readonly onResult?: (run: QuietRun) => void;
}

/** Some commands never end; on a busy machine others take long. */
const timeoutMs = 20_000;
const intents = `active_intents:
  - { id: INT-001, name: Work, status: active, owned_scope: ["src/**"] }
`;
/** Says what there is of what git ignores: its effects, too, are seen by the session's next command. */
const look =
  "git ls-files -z -o -i --exclude-standard | grep -zvE '^(node_modules|.orchestration|.gennai)/' | LC_ALL=C sort -z | xargs -0r sha256sum";

/**
 * Runs each command staged, through the product without a user, and bare in a copy of the same repository at the same path;
 * reports whether they can be distinguished. If they differ, it runs bare once more: differences between two bare runs do not
 * count.
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
      server: { commands: "staged" },
    });
    const { root } = server.workspace;
    makeHistory(root, { install });
    // The first change of all has the server write down what it keeps in the workspace.
    const session = async (): Promise<string> => {
      const sessionId = await startSession(server);
      if (intent) await stagedTurn(server, sessionId, "select");
      return sessionId;
    };
    await stagedTurn(server, await session(), "first");
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
      // On a busy machine that takes longer than a connection stays open without being used.
      await sleep(50);
      const sessionId = await session();
      const staged = await stagedTurn(server, sessionId, String(index));
      const runBare = async (environment: Readonly<Record<string, string>> = {}): Promise<Ran> => {
        copyTree(template, copy);
        copyServerFiles(root, copy);
        const options = { root, copy, temporary, home: homedir(), timeoutMs, environment };
        const ran = await bareRun(each.command, options);
        const { output } = await bareRun(look, options);
        return { ...ran, state: withIgnored(copy, output) };
      };
      copyTree(temporary, before);
      let bare = await runBare();
      if (bare.exitCode === undefined) {
        // Without a network, npm tries for minutes to fetch a program that is not installed.
        const atOnce = await runBare({ npm_config_fetch_retries: "0" });
        if (isMissing(atOnce)) bare = atOnce;
      }
      await sleep(50);
      const ignored = staged.fired.length > 0 ? { output: "" } : await stagedTurn(server, sessionId, "look");
      const state = withIgnored(root, ignored.output);
      let run = comparedRuns(each, { ...staged, state }, [bare, bare]);
      if (run.outcome === "different") {
        copyTree(before, temporary);
        run = comparedRuns(each, { ...staged, state }, [bare, await runBare()]);
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

function withIgnored(root: string, listed: string): ReadonlyMap<string, string> {
  const lines = listed.split("\n").filter((line) => /^[0-9a-f]{64} /.test(line));
  return new Map([...treeState(root), ...lines.map((line) => [`ignored ${line.slice(66)}`, line] as const)]);
}
