import { spawn } from "node:child_process";
import type { CommandResult } from "./page-shell.ts";

/** What a person types, and the end of the output it is the answer to. */
export interface TypedLine {
  readonly prompt: string;
  readonly answer: string;
}

/** A prompt unchanged for this long waits for its answer. */
const pauseMs = 150;

/**
 * Finds the prompt of each typed line: the text before it on a line of the page, after the line before. Throws if there is
 * none.
 */
export function typedLines(answers: readonly string[], shown: string): readonly TypedLine[] {
  const lines = shown.split("\n");
  return answers.map((answer) => {
    const at = lines.findIndex((line) => line.endsWith(` ${answer}`));
    const [line] = lines.splice(0, at + 1).slice(-1);
    if (at === -1 || line === undefined) throw new Error(`the page shows no prompt before ${JSON.stringify(answer)}`);
    return { prompt: line.slice(0, -answer.length), answer };
  });
}

/**
 * Runs a command at a terminal (with `script`, util-linux) and types each line when its prompt appears: what is typed before a
 * question is shown answers nothing.
 */
export async function runAtTerminal(
  command: string,
  typed: readonly TypedLine[],
  options: { readonly directory: string; readonly environment: NodeJS.ProcessEnv; readonly timeoutMs: number },
): Promise<CommandResult> {
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
    cwd: options.directory,
    env: options.environment,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
    timeout: options.timeoutMs,
    killSignal: "SIGKILL",
  });
  const waiting = [...typed];
  let output = "";
  let pause: NodeJS.Timeout | undefined;
  const typeNext = () => {
    const [next] = waiting;
    if (next === undefined || !output.endsWith(next.prompt)) return;
    waiting.shift();
    child.stdin.write(`${next.answer}\r`);
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      clearTimeout(pause);
      pause = setTimeout(typeNext, pauseMs);
    });
  }
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (ended) => resolve(ended ?? 1));
  });
  clearTimeout(pause);
  if (waiting.length > 0)
    throw new Error(`nothing asked for ${waiting.map(({ answer }) => answer).join(", ")}:\n${output}`);
  return { code, output: output.replaceAll("\r\n", "\n") };
}
