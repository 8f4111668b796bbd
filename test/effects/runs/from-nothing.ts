import { execFileSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestOutside } from "@gennai/testkit/test-outside";
import { startTestServer } from "@gennai/testkit/test-server";
import { AskedSession } from "../../e2e/sandbox/asked-session.ts";

/** For one step of an install or a build. */
const withinMs = 600_000;
/** Questions that are answered with a yes, for once. */
const mostQuestions = 20;

/** The result of one project in one mode. */
export interface FromNothing {
  readonly mode: "branch" | "proposal";
  /** As they were titled, in their order. Each was answered with a yes for once. */
  readonly questions: readonly string[];
  /** `output`: what the model reads. */
  readonly commands: readonly {
    readonly command: string;
    readonly exitCode: number | undefined;
    readonly output: string;
  }[];
  /** What is in the workspace that was not, at its top. */
  readonly added: readonly string[];
  readonly proposed: readonly string[];
}

/**
 * Runs commands one after the other in a fresh clone of a repository, in which nothing is installed or built, through the product; once in
 * each mode. The repository itself stays as it is.
 */
export async function fromNothing(
  repository: string,
  commands: readonly string[],
  outside?: TestOutside,
): Promise<readonly FromNothing[]> {
  const runs: FromNothing[] = [];
  for (const mode of ["branch", "proposal"] as const) {
    const tools = commands.map((command) => ({ name: "Bash", args: { command, timeout_ms: withinMs } }));
    await using server = await startTestServer({
      steps: [...tools.map((tool) => ({ tool })), { text: ["Done."] }],
      server: { commands: "staged", ...(outside === undefined ? {} : { outside }) },
    });
    const { root, git } = server.workspace;
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
    execFileSync("git", ["clone", "--quiet", "--no-hardlinks", repository, root]);
    await git("checkout", "--quiet", "-B", "work");
    const before = new Set(readdirSync(root));
    await using session = await AskedSession.start(server, { proposal: mode === "proposal", withinMs });
    const yes = Array.from({ length: mostQuestions }, () => "once" as const);
    const { questions, results } = await session.wholeTurn(...yes);
    runs.push({
      mode,
      questions: questions.map(({ title }) => title),
      commands: commands.map((command, index) => {
        const { exitCode, output = "", error = "" } = results[index] ?? {};
        return { command, exitCode, output: `${error}${output}` };
      }),
      added: readdirSync(root).filter((name) => !before.has(name) && name !== ".orchestration"),
      proposed: session.proposedPaths(),
    });
  }
  return runs;
}
