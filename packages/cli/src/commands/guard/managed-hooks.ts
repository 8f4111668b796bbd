import { readFileSync, realpathSync } from "node:fs";
import type { GuardedHost } from "@gennai/guard/hosts/guarded-host";
import { assertForAll, writeRootFile } from "@gennai/machine/config/root-file";
import { removePrivateFile } from "@gennai/machine/private-file";
import { hasCode } from "@gennai/machine/system-error";
import * as z from "zod";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { guardedAgents, hookFormat } from "./guarded-agents.ts";
import { managedProgram } from "./hook-program.ts";
import { isOurCommand } from "./hook-settings.ts";

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

/** The path of that file where our hook is in it, whatever program it starts. */
export function managedHook(agent: GuardedHost): string | undefined {
  const file = managedFile(agent);
  return file !== undefined && holdsOurs(textIn(file.path) ?? "") ? file.path : undefined;
}

/** Whether it is as it would be written now. */
export function isManagedAsWritten(agent: GuardedHost): boolean {
  const file = managedFile(agent);
  return file !== undefined && textIn(file.path) === file.text;
}

/**
 * `gennai guard install AGENT --managed`, by root. A file of others stays as it is: what to add to it is printed. Throws `CliError`,
 * and `UnsafeFileError` for a program that users can change or cannot start.
 */
export async function installManaged(name: string, console: Console): Promise<ExitCode> {
  const [agent, file] = fileOf(name);
  const there = textIn(file.path);
  if (there !== undefined && !isOursAlone(there, file.text)) {
    const [top = "", ...below] = file.text.split("\n\n");
    const rest = below.length === 0 ? "" : `\nAnd below, each line in its table:\n${below.join("\n\n")}`;
    console.output.write(`${file.path} is there and stays as it is. Add this at the top:\n${top}${rest}`);
    return exitCode.failed;
  }
  assertForAll(realpathSync(process.execPath), 1);
  assertForAll(realpathSync(process.argv[1] ?? ""), 4);
  const isNew = there !== file.text;
  await writeRootFile(file.path, file.text);
  console.output.write(`${isNew ? "Installed in" : "In place already:"} ${file.path}\n`);
  console.output.write(
    `${agent.title} of every user here asks that user's Gennai before each call, and runs no other hooks.\n`,
  );
  return exitCode.ok;
}

/** `gennai guard uninstall AGENT --managed`: only where the file is ours alone. */
export async function uninstallManaged(name: string, console: Console): Promise<ExitCode> {
  const [, file] = fileOf(name);
  const there = textIn(file.path);
  if (there !== undefined && !isOursAlone(there, file.text)) {
    console.output.write(`${file.path} holds more than our hook, and stays. Remove the hook from it.\n`);
    return exitCode.failed;
  }
  const wasThere = await removePrivateFile(file.path);
  console.output.write(`${wasThere ? "Removed" : "There is no"} ${file.path}\n`);
  return exitCode.ok;
}

/** A string of JSON, and of TOML as it is written here. */
const string = /"(?:[^"\\\n]|\\.)*"/g;

/** The text with one word for each command of ours, whatever program it starts. */
function withoutPrograms(text: string): string {
  return text.replaceAll(string, (said) => {
    try {
      return isOurCommand(z.string().parse(JSON.parse(said))) ? ourWord : said;
    } catch {
      return said;
    }
  });
}

const ourWord = '"(ours)"';

function holdsOurs(text: string): boolean {
  return withoutPrograms(text).includes(ourWord);
}

/** Whether every line is one that is written now too, but for the program: one of an earlier version has fewer. */
function isOursAlone(text: string, written: string): boolean {
  const lines = (all: string) =>
    withoutPrograms(all)
      .split("\n")
      .map((line) => line.trim().replace(/,$/, ""));
  const known = new Set(lines(written));
  return holdsOurs(text) && lines(text).every((line) => known.has(line));
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
