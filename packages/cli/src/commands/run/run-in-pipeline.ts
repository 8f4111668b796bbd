import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { artefactDirectory, writeArtefacts } from "../../ci/artefacts.ts";
import { allowNothing, readCiPolicy } from "../../ci/ci-policy.ts";
import { Pipeline } from "../../ci/pipeline.ts";
import { describeRefusal, placeOf } from "../../ci/refusal-place.ts";
import type { Refusal } from "../../ci/refusals.ts";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { runCommand } from "./run-command.ts";
import type { RunFlags } from "./run-options.ts";

/** Options that ask a user, or answer for one. */
const ofPersons = ["yes", "ask", "attempts", "session", "continue"] as const;

/** `gennai run --ci`: one request in a pipeline, where no person is. */
export async function runInPipeline(request: string | undefined, flags: RunFlags, console: Console): Promise<ExitCode> {
  const other = ofPersons.find((name) => flags[name] !== undefined);
  if (request === undefined || other !== undefined || flags.mode === "plan") {
    throw usageError(
      request === undefined
        ? "--ci takes a request."
        : `--ci does not go with ${other === undefined ? "--mode plan" : `--${other}`}.`,
      'For example: gennai run --ci --ci-policy "$RUNNER_TEMP/policy.yaml" "fix the failing test"',
    );
  }
  const annotations = annotationsOf(flags.annotations, console.environment);
  const workspace = await realpath(await resolveWorkspace(flags.workspace, console));
  const place = flags.artefacts === undefined ? undefined : await artefactDirectory(flags.artefacts, console.directory);
  const policy =
    flags.ciPolicy === undefined
      ? allowNothing
      : await readCiPolicy(flags.ciPolicy, { directory: console.directory, workspace });
  const pipeline = new Pipeline(policy, workspace);
  const runner = annotations === "github" ? new QuietRunner() : undefined;
  const told = flags.json === true ? console.errors : console.output;
  if (runner !== undefined) {
    // GitHub reads both streams, each at its own pace. A line of JSON is no command.
    for (const stream of new Set([told, console.errors])) stream.write(runner.begin);
  }
  try {
    return await runCommand(request, flags, console, pipeline);
  } finally {
    if (runner !== undefined) told.write(runner.end + annotationLines(pipeline.refusals, pipeline.problem));
    // If the turn never began, the error says everything.
    if (place !== undefined && pipeline.end !== undefined) {
      const facts = { pipeline, workspace, stateDir: defaultStateDir(console.environment) };
      console.errors.write(`Artefacts: ${await writeArtefacts(place, facts)}\n`);
    }
  }
}

/** The annotations that an option names, else those that the runner shows. */
function annotationsOf(named: string | undefined, environment: NodeJS.ProcessEnv): "github" | "none" {
  if (named === "github" || named === "none") return named;
  if (named === undefined) return environment["GITHUB_ACTIONS"] === "true" ? "github" : "none";
  throw usageError(
    `There are no annotations ${JSON.stringify(named)}.`,
    "Choose --annotations github or none. GitLab takes code-quality.json of --artefacts.",
  );
}

/** GitHub shows ten of each kind for a step. */
const mostShown = 10;

/**
 * GitHub takes lines of a step's output as commands
 * (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands). While the agent works it must not: a line
 * that a model writes or a file contains could command the runner. The word that ends this time is random, so that nobody can
 * know it before.
 */
class QuietRunner {
  readonly #word = randomUUID();

  get begin(): string {
    return `::stop-commands::${this.#word}\n`;
  }

  get end(): string {
    return `\n::${this.#word}::\n`;
  }
}

/** Lines that become annotations of the run. */
function annotationLines(refusals: readonly Refusal[], problem: string): string {
  const lines = refusals.map((refusal) => {
    const { file, line } = placeOf(refusal);
    const title = refusal.unanswered ? "Gennai: needed an answer" : "Gennai: refused";
    return {
      command: refusal.unanswered ? "warning" : "error",
      text: `file=${property(file)},line=${line},title=${property(title)}::${data(describeRefusal(refusal))}`,
    };
  });
  const shown = ["error", "warning"].flatMap((command) =>
    // One error is the problem that ended the turn.
    lines.filter((line) => line.command === command).slice(0, mostShown - (command === "error" ? 1 : 0)),
  );
  const end = problem === "" ? [] : [{ command: "error", text: `title=Gennai::${data(problem)}` }];
  return [...end, ...shown].map(({ command, text }) => `::${command} ${text}\n`).join("");
}

function data(text: string): string {
  // A line feed is hidden on a terminal's line, and spelled here.
  const lines = text
    .split(/\r?\n|\r/)
    .map(terminalSafe)
    .join("\n");
  return lines.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
