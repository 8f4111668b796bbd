import { spawnSync } from "node:child_process";

export interface TranscriptStep {
  /** As typed, over several lines where they belong together. */
  readonly command: string;
  /** What is shown behind it. */
  readonly output: string;
}

/**
 * Takes a `console` block apart: a command begins with `$ ` and goes on over the next lines while the shell would wait for
 * more; the rest is output. Throws `Error` for output before the first command.
 */
export function parseTranscript(text: string): readonly TranscriptStep[] {
  const steps: { command: string; output: string }[] = [];
  let isOpen = false;
  for (const line of text.split("\n").slice(0, -1)) {
    const step = steps.at(-1);
    if (isOpen && step !== undefined) {
      step.command += `\n${line}`;
      isOpen = isUnfinished(step.command);
    } else if (line.startsWith("$ ")) {
      const command = line.slice(2);
      steps.push({ command, output: "" });
      isOpen = isUnfinished(command);
    } else if (step === undefined) {
      throw new Error(`output before any command: ${line}`);
    } else step.output += `${line}\n`;
  }
  return steps;
}

/** The commands of a `sh` block, each with all its lines. */
export function parseScript(text: string): readonly string[] {
  const commands: string[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    if (isOpen) commands.push(`${commands.pop() ?? ""}\n${line}`);
    else if (/^\s*(#|$)/.test(line)) continue;
    else commands.push(line);
    isOpen = isUnfinished(commands.at(-1) ?? "");
  }
  return commands;
}

function isUnfinished(command: string): boolean {
  if (command.endsWith("\\")) return true;
  const { stderr } = spawnSync("bash", ["-n"], { input: `${command}\n`, encoding: "utf8" });
  return /unexpected (end of file|EOF)|delimited by end-of-file/.test(stderr);
}
