import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { GuardedHost } from "@gennai/guard/hosts/guarded-host";
import { readRootFile } from "@gennai/machine/config/root-file";
import { removePrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import { hasCode } from "@gennai/machine/system-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { guardedAgents, hookFormat } from "./guarded-agents.ts";
import { managedProgram } from "./hook-program.ts";

/** A file of an agent's maker for administrators, in which our hook is for all users of this machine. */
interface ManagedFile {
  readonly path: string;
  readonly text: string;
}

/** Undefined for an agent that has no such file, or where it was not tried. */
function managedFile(agent: GuardedHost): ManagedFile | undefined {
  const { managed } = agent.hook;
  if (managed === undefined || process.platform !== "linux") return undefined;
  const hooks: unknown = JSON.parse(hookFormat(agent, managedProgram(agent.id)).withOurs(""));
  return { path: managed.file, text: managed.text(hooks) };
}

/** The path of that file where it is as it is written here. */
export function managedHook(agent: GuardedHost): readonly string[] {
  const file = managedFile(agent);
  return file !== undefined && textIn(file.path) === file.text ? [file.path] : [];
}

/** `gennai guard install AGENT --managed`, by root. A file of others stays as it is: what to add to it is printed. */
export async function installManaged(name: string, console: Console): Promise<ExitCode> {
  const [agent, file] = fileOf(name);
  const there = textIn(file.path);
  if (there !== undefined && there !== file.text) {
    console.output.write(`${file.path} is there and stays as it is. Add this to it:\n${file.text}`);
    return exitCode.failed;
  }
  if (there === undefined) {
    mkdirSync(dirname(file.path), { recursive: true, mode: 0o755 });
    await replaceFile(file.path, file.text, { durable: true, mode: 0o644 });
  }
  console.output.write(`${there === undefined ? "Installed in" : "In place already:"} ${file.path}\n`);
  console.output.write(
    `${agent.title} of every user here asks that user's Gennai before each call, and runs no other hooks.\n`,
  );
  for (const program of [process.execPath, process.argv[1] ?? ""]) {
    const problem = await readRootFile(program).then(
      () => undefined,
      (error: unknown) => errorMessage(error),
    );
    // A program is larger than a file of settings.
    if (problem !== undefined && !problem.includes("larger than")) console.output.write(`But ${problem}.\n`);
  }
  return exitCode.ok;
}

/** `gennai guard uninstall AGENT --managed`: only where the file is ours alone. */
export async function uninstallManaged(name: string, console: Console): Promise<ExitCode> {
  const [, file] = fileOf(name);
  const there = textIn(file.path);
  if (there !== undefined && there !== file.text) {
    console.output.write(`${file.path} is not as it was written here, and stays. Remove the hook from it.\n`);
    return exitCode.failed;
  }
  const wasThere = await removePrivateFile(file.path);
  console.output.write(`${wasThere ? "Removed" : "There is no"} ${file.path}\n`);
  return exitCode.ok;
}

function fileOf(name: string): readonly [GuardedHost, ManagedFile] {
  if (process.getuid?.() !== 0) throw usageError("Only root writes for all users.", "Run it with sudo.");
  for (const agent of name === "all" ? [] : guardedAgents(name)) {
    const file = managedFile(agent);
    if (file !== undefined) return [agent, file];
  }
  throw usageError(`${name} has no such file here.`, "claude-code and codex have one on Linux.");
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "EACCES")) return undefined;
    throw error;
  }
}
