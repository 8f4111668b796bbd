import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "@gennai/protocol/error-message";
import type { Block, MarkdownPage } from "../markdown-page.ts";
import { makePageHome, type PageHost } from "./page-home.ts";
import { PageShell } from "./page-shell.ts";
import { ShownOutput } from "./shown-output.ts";
import { parseScript, parseTranscript } from "./transcript.ts";
import { runAtTerminal, type TypedLine, typedLines } from "./typed-terminal.ts";

/** Ends a wait in vain before the test ends, so that it is said what for. */
const timeoutMs = 240_000;

/** Languages of blocks that hold commands. */
export const commandLanguages: ReadonlySet<string> = new Set(["sh", "console"]);

/**
 * Runs the commands of a page in their order, in an empty home and at the repository's root, and compares what they print
 * with what is shown. Throws with all differences, each with the line of its block.
 */
export async function runPage(page: MarkdownPage): Promise<void> {
  await using home = await makePageHome();
  await using shell = new PageShell({ directory: home.checkout, environment: home.environment });
  const run = new PageRun(home, shell);
  const problems: string[] = [];
  for (const block of page.blocks) {
    try {
      for (const problem of await run.block(block)) problems.push(`block in line ${block.line}: ${problem}`);
    } catch (error) {
      problems.push(`block in line ${block.line}: ${errorMessage(error)}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join("\n\n"));
}

class PageRun {
  readonly #home: PageHost;
  readonly #shell: PageShell;
  readonly #shown = new ShownOutput();
  /** Output of the command that stays running, as far as no block showed it. */
  #running: { readonly file: string; readAt: number } | undefined;

  constructor(home: PageHost, shell: PageShell) {
    this.#home = home;
    this.#shell = shell;
  }

  /** Gives what is not as shown; throws where the block could not be run to its end. */
  async block({ language, text, directives }: Block): Promise<readonly string[]> {
    const before = directives.get("before");
    if (before !== undefined) await this.#mustSucceed(before);
    const file = directives.get("file");
    if (file !== undefined) await this.#writeFile(file, text);
    if (directives.has("not run") || directives.has("run by") || !commandLanguages.has(language)) return [];
    if (language === "sh") await this.#mustSucceed(text);
    if (directives.has("goes on")) await this.#expectRunning(text);
    if (language === "sh" || directives.has("goes on")) return [];
    const problems: string[] = [];
    const typed = directives
      .get("typed")
      ?.split("|")
      .map((line) => line.trim());
    const steps = parseTranscript(text);
    for (const [index, { command, output: shown }] of steps.entries()) {
      const isLast = index === steps.length - 1;
      if (isLast && directives.has("stays running")) {
        await this.#start(command);
        await this.#expectRunning(shown);
        continue;
      }
      const came = this.#home.toShown(
        await this.#outputOf(command, isLast && typed !== undefined ? typedLines(typed, shown) : undefined),
      );
      if (!this.#shown.matches(shown, came)) problems.push(difference(command, shown, came));
    }
    return problems;
  }

  /** @param typed at a terminal; undefined: nobody is there */
  async #outputOf(command: string, typed: readonly TypedLine[] | undefined): Promise<string> {
    const real = this.#real(command);
    if (typed === undefined) return (await this.#shell.run(real, { timeoutMs })).output;
    const directory = (await this.#shell.run("pwd", { timeoutMs })).output.trim();
    return (await runAtTerminal(real, typed, { directory, environment: this.#home.environment, timeoutMs })).output;
  }

  async #mustSucceed(commands: string): Promise<void> {
    for (const command of parseScript(commands)) {
      const { code, output } = await this.#shell.run(this.#real(command), { timeoutMs });
      if (code !== 0) throw new Error(`exit code ${code} of:\n${command}\n${output}`);
    }
  }

  async #writeFile(shown: string, text: string): Promise<void> {
    const path = this.#home.toReal(shown.replace(/^~/, "/home/you"));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, this.#real(text));
  }

  async #start(command: string): Promise<void> {
    const file = join(this.#home.home, "..", `running-${Date.now()}`);
    await writeFile(file, "");
    await this.#shell.start(this.#real(command), file);
    this.#running = { file, readAt: 0 };
  }

  async #expectRunning(shown: string): Promise<void> {
    const running = this.#running;
    if (running === undefined) throw new Error("nothing is running that could go on");
    let came = "";
    for (const deadline = Date.now() + timeoutMs / 2; Date.now() < deadline; await sleep(50)) {
      const all = await readFile(running.file, "utf8");
      came = this.#home.toShown(all.slice(running.readAt));
      if (came === "" || !this.#shown.matches(shown, came)) continue;
      running.readAt = all.length;
      return;
    }
    throw new Error(difference("what is running", shown, came));
  }

  #real(text: string): string {
    return this.#home.toReal(this.#shown.inWords(text));
  }
}

/** As much of what came as helps. */
const mostLines = 60;

function difference(command: string, shown: string, came: string): string {
  return `$ ${command}\n--- the page shows\n${shown.trimEnd()}\n--- it prints\n${came.trimEnd().split("\n").slice(0, mostLines).join("\n")}\n---`;
}
