import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { test } from "vitest";
import * as z from "zod";
import { type HostResult, resultMark } from "./host/host-test.ts";
import { startWorkbench, type WorkbenchOptions } from "./workbench.ts";

export interface HostSuiteOptions extends WorkbenchOptions {
  /** What the suite reads with `hostInput`. */
  readonly input?: Readonly<Record<string, string>>;
}

/** A hundred tests, of which some wait for terminals that shall not end. */
const suiteTimeoutMs = 600_000;

/**
 * Runs a file of `hostTest`s inside the extension host and makes a vitest test of each. To be awaited at the top of a test file.
 * @param suite e.g. `new URL("host/activation.ts", import.meta.url)`
 */
export async function hostSuite(suite: URL, options: HostSuiteOptions = {}): Promise<readonly HostResult[]> {
  const results = await runInHost(suite, options);
  for (const { name, failure, note, milliseconds } of results) {
    test(`${name}${note === undefined ? "" : ` ${note}`} (${milliseconds} ms in the extension host)`, () => {
      if (failure !== undefined) throw new Error(failure);
    });
  }
  return results;
}

async function runInHost(suite: URL, options: HostSuiteOptions): Promise<readonly HostResult[]> {
  await using scratch = await temporaryDirectory();
  const bundle = scratch.path("suite.cjs");
  await bundleSuite(fileURLToPath(suite), bundle, options.input ?? {});
  const automation = new Automation();
  await using workbench = await startWorkbench({
    ...options,
    extensionTestsPath: bundle,
    prepare: async (page) => {
      await automation.listen(page);
      await options.prepare?.(page);
    },
  });
  const explain = async () => {
    process.stderr.write(`${await workbench.report(`failed ${basename(suite.pathname)}`)}\n`);
  };
  try {
    const results = await automation.results(AbortSignal.timeout(suiteTimeoutMs));
    if (results.some(({ failure }) => failure !== undefined)) await explain();
    return results;
  } catch (error) {
    await explain();
    throw error;
  }
}

async function bundleSuite(suite: string, outfile: string, input: Readonly<Record<string, string>>): Promise<void> {
  const runner = JSON.stringify(fileURLToPath(new URL("host/host-test.ts", import.meta.url)));
  await build({
    stdin: {
      contents: `import ${JSON.stringify(suite)}; export { run } from ${runner};`,
      resolveDir: join(suite, ".."),
      loader: "ts",
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node24",
    sourcemap: "inline",
    external: ["vscode"],
    define: { HOST_INPUT: JSON.stringify(input) },
    logLevel: "silent",
  });
}

const resultSchema: z.ZodType<HostResult> = z.object({
  name: z.string(),
  milliseconds: z.number(),
  failure: z.string().optional(),
  note: z.string().optional(),
}) as z.ZodType<HostResult>;

/** What a workbench with the smoke test driver says of the suite it runs. */
class Automation {
  readonly #lines: string[] = [];
  readonly #exit = Promise.withResolvers<number>();

  async listen(page: Page): Promise<void> {
    await page.exposeFunction("codeAutomationLog", (_type: string, args: readonly unknown[]) => {
      this.#lines.push(args.map(String).join(" "));
    });
    await page.exposeFunction("codeAutomationExit", (code: number) => this.#exit.resolve(code));
    page.once("crash", () => this.#exit.reject(new Error("The page crashed.")));
  }

  async results(signal: AbortSignal): Promise<readonly HostResult[]> {
    signal.addEventListener("abort", () => this.#exit.reject(new Error(this.#described("did not end in time"))));
    const code = await this.#exit.promise;
    const marked = this.#lines.flatMap((line) => (line.startsWith(resultMark) ? [line.slice(resultMark.length)] : []));
    const results = marked.slice(0, -1).map((line) => resultSchema.parse(JSON.parse(line)));
    // The suite ends with how many there were: none got lost on the way.
    if (code !== 0 || results.length === 0 || marked.at(-1) !== String(results.length)) {
      throw new Error(this.#described(`ended with code ${code} and ${results.length} results`));
    }
    return results;
  }

  #described(how: string): string {
    return `The suite in the extension host ${how}. It wrote:\n${this.#lines.slice(-50).join("\n")}`;
  }
}
