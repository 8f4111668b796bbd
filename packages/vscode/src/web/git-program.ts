import type { GitProgram } from "../git/git-program.ts";

/** A browser cannot start programs. */
export function gitProgram(): GitProgram {
  return async () => {
    throw new Error("A browser has no git: do it where the folder is.");
  };
}

export async function withOwnIndex<Result>(work: (file: string) => Promise<Result>): Promise<Result> {
  return work("");
}
