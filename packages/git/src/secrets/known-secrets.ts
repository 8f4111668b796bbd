import pLimit from "p-limit";
import { GitNamesFailed, gitNames } from "./git-names.ts";

/** The rules' verdict on reading a path. */
export type PathJudge = (path: string) => "allowed" | "doubtful" | "refused";

/** What a repository knows of files that the agent may not read: names in the index or in any commit, and their contents. */
export interface KnownSecrets {
  readonly paths: ReadonlySet<string>;
  /** Ids of objects that hold such a file's content. */
  readonly blobs: ReadonlySet<string>;
}

/** Milliseconds for a look through the whole history. */
const walkMs = 8_000;

interface Walked {
  /** Commits from which everything reachable was examined. */
  readonly tips: readonly string[];
  readonly secrets: { readonly paths: Set<string>; readonly blobs: Set<string> };
  /** True if examining the history takes too long. */
  readonly tooLong: boolean;
}

/**
 * Examines one repository: its index, branches, tags, stashes and reflogs. Later looks examine only what is new. One object for
 * each repository and set of rules.
 */
export class RepositorySecrets {
  readonly #directory: string;
  readonly #judge: PathJudge;
  #walked: Walked | undefined;
  readonly #inOrder = pLimit(1);

  constructor(directory: string, judge: PathJudge) {
    this.#directory = directory;
    this.#judge = judge;
  }

  /** `no-repository`, or `too-long` for a history that cannot be looked through in time. Rejects with `GitNamesFailed`. */
  look(options: { readonly signal: AbortSignal }): Promise<KnownSecrets | "no-repository" | "too-long"> {
    return this.#inOrder(() => this.#look(options));
  }

  async #look({ signal }: { readonly signal: AbortSignal }) {
    const place = { directory: this.#directory, timeoutMs: walkMs, signal };
    const tips: string[] = [];
    try {
      await gitNames(["rev-parse", "--all"], (tip) => tips.push(tip), { ...place, separator: "\n" });
    } catch (error) {
      if (error instanceof GitNamesFailed && error.code === 128) return "no-repository" as const;
      throw error;
    }
    const walked = this.#walked ?? { tips: [], secrets: { paths: new Set(), blobs: new Set() }, tooLong: false };
    const { paths, blobs } = walked.secrets;
    if (walked.tooLong) return "too-long" as const;
    try {
      // The list has each object once, under one of its names: a secret whose content also has another name may be missed.
      await gitNames(
        ["rev-list", "--objects", "--missing=allow-any", "--ignore-missing", "--all", "--reflog", "--stdin"],
        (line) => {
          const [, id, path] = /^([0-9a-f]{40,64}) (.+)$/s.exec(line) ?? [];
          if (id === undefined || path === undefined || this.#judge(path) === "allowed") return;
          paths.add(path);
          blobs.add(id);
        },
        { ...place, separator: "\n", input: walked.tips.map((tip) => `^${tip}\n`).join("") },
      );
    } catch (error) {
      if (!(error instanceof GitNamesFailed)) throw error;
      this.#walked = { ...walked, tooLong: true };
      return "too-long" as const;
    }
    this.#walked = { tips, secrets: walked.secrets, tooLong: false };
    const withIndex = { paths: new Set(paths), blobs: new Set(blobs) };
    await gitNames(
      ["ls-files", "--full-name", "--stage", "-z", ":/"],
      (line) => {
        const path = line.slice(line.indexOf("\t") + 1);
        if (this.#judge(path) === "allowed") return;
        withIndex.paths.add(path);
        const [, id] = /^\d+ ([0-9a-f]{40,64}) /.exec(line) ?? [];
        if (id !== undefined) withIndex.blobs.add(id);
      },
      { ...place, separator: "\0" },
    );
    return withIndex;
  }
}
