import { existsSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import * as z from "zod";
import { packagedNode, toolEnvironment } from "../../scripts/lib/packaged-node.mjs";
import { filesUnderWay, underWayVariable } from "./files-under-way.ts";
import type { Findings, Gate } from "./gate.ts";
import { runProgram } from "./run-program.ts";

export interface TestGateOptions {
  readonly name: string;
  readonly title: string;
  readonly timeoutMs: number;
  /** Files and directories of tests, relative to the checkout. Each must hold tests. */
  readonly tests: readonly string[];
  /** What must be proved, each by at least one test that passed: words of the test's full title. */
  readonly proves: readonly string[];
  /** Configuration of vitest, relative to the checkout. */
  readonly config?: string;
  readonly environment?: (context: { readonly directory: string; readonly version: string }) => NodeJS.ProcessEnv;
}

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().default(""),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});
type Report = z.infer<typeof reportSchema>;

/** A gate, and its parts. */
export interface TestGate extends Gate {
  readonly suite: Pick<TestGateOptions, "tests" | "proves">;
}

/** A gate that is tests of the checkout. */
export function testGate(options: TestGateOptions): TestGate {
  const { name, title, timeoutMs } = options;
  return {
    suite: options,
    name,
    title,
    timeoutMs,
    async run(context, { signal }) {
      const [file, underWay] = [join(context.scratch, "vitest.json"), join(context.scratch, "under-way.json")];
      context.doing(() => filesUnderWay(underWay));
      const args = [
        ...[join(context.root, "node_modules", "vitest", "vitest.mjs"), "run", ...options.tests],
        ...["--config", join(context.root, options.config ?? "vitest.config.ts")],
        ...["--reporter=default", "--reporter=json", `--outputFile.json=${file}`],
        `--reporter=${join(import.meta.dirname, "files-under-way.ts")}`,
      ];
      const settings = { CI: "true", NO_COLOR: "1", [underWayVariable]: underWay };
      const env = { ...toolEnvironment(), ...settings, ...options.environment?.(context) };
      const { code, output } = await runProgram(packagedNode(), args, { cwd: context.root, env, signal });
      if (!existsSync(file)) throw new Error(`The tests gave no report (exit code ${code}).\n${output.slice(-4000)}`);
      const report = reportSchema.parse(JSON.parse(readFileSync(file, "utf8")));
      return { ...judge(report, { code, root: context.root, ...options }), output };
    },
  };
}

/** What a report of vitest says about a gate. @param options.code what vitest ended with */
export function judge(
  { testResults }: Report,
  options: {
    readonly code: number;
    readonly root: string;
    readonly tests: readonly string[];
    readonly proves: readonly string[];
  },
): Omit<Findings, "output"> {
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const withStatus = (status: string) => results.filter((each) => each.status === status);
  const passed = withStatus("passed");
  const failed = withStatus("failed").map(({ fullName }) => fullName);
  const files = testResults.map(({ name }) => relative(options.root, name).split(sep).join("/"));
  const broken = testResults
    .filter((file) => file.status !== "passed" && !file.assertionResults.some(({ status }) => status === "failed"))
    .map(({ name, message }) => `${name} did not run: ${message.slice(0, 300)}`);
  const empty = options.tests
    .filter((wanted) => !files.some((file) => file === wanted || file.startsWith(`${wanted}/`)))
    .map((wanted) => `${wanted} holds no tests`);
  const unproved = options.proves
    .filter((words) => !passed.some(({ fullName }) => fullName.includes(words)))
    .map((words) => `nothing proves: ${words}`);
  const against = [...failed, ...broken, ...empty, ...unproved];
  // An error outside of any test fails the run without failing a test.
  if (options.code !== 0 && against.length === 0) against.push(`vitest ended with ${options.code}`);
  return {
    passed: passed.length,
    failed: against.length,
    skipped: results.length - passed.length - failed.length,
    evidence: [
      ...against.map((line) => `FAILED ${line}`),
      `${passed.length} tests of ${files.length} files passed`,
      ...options.proves.map((words) => {
        const count = passed.filter(({ fullName }) => fullName.includes(words)).length;
        return `${words.replace(/:$/, "")}: ${count} passed`;
      }),
    ],
  };
}
