import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";

export interface GitRun {
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs git in a work tree, as its user would: with their settings and hooks. Rejects with what git says. */
export type GitProgram = (args: readonly string[], run?: GitRun) => Promise<Buffer>;

/** @param program the editor's git @param directory absolute */
export function gitProgram(program: string, directory: string): GitProgram {
  return async (args, { input = "", environment = {} } = {}) => {
    const child = spawn(program, args, { cwd: directory, env: { ...process.env, ...environment } });
    // A program that does not read its input closes it.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    const [output, problem, code] = await Promise.all([buffer(child.stdout), text(child.stderr), ended]);
    if (code !== 0) throw new Error(problem.trim() || `git ${args[0] ?? ""} ended with ${code}.`);
    return output;
  };
}

/** Gives work a place for an index of its own (`GIT_INDEX_FILE`). */
export async function withOwnIndex<Result>(work: (file: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "gennai-index-"));
  try {
    return await work(join(directory, "index"));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
