import type { GitContents } from "@gennai/governance/command-analysis";
import type { PrintedSecrets } from "@gennai/governance/policies/git-contents";
import { GitNamesFailed, gitNames } from "./git-names.ts";
import { type PathJudge, RepositorySecrets } from "./known-secrets.ts";

/** Milliseconds within which git has to name the files that a command would print. */
const namesMs = 6_000;
/** More names than these add no information. */
const maxNames = 50;

const none: PrintedSecrets = { type: "none" };

/** Tells, before a git command runs, which files it would print that the agent may not read; asks git for their names. */
export class SecretsInGit {
  readonly #judge: PathJudge;
  readonly #repositories = new Map<string, RepositorySecrets>();

  constructor(judge: PathJudge) {
    this.#judge = judge;
  }

  async printed(contents: GitContents, { signal }: { readonly signal: AbortSignal }): Promise<PrintedSecrets> {
    const { directory } = contents;
    if (directory === undefined) return unknown("the directory it runs in is not certain");
    try {
      return await this.#printed(contents, directory, signal);
    } catch (error) {
      signal.throwIfAborted();
      return unknown(error instanceof GitNamesFailed ? error.message : "git could not be asked");
    }
  }

  async #printed(contents: GitContents, directory: string, signal: AbortSignal): Promise<PrintedSecrets> {
    const { names, objects, beyondIndex = false } = contents;
    const known = await this.#repository(directory).look({ signal });
    // Outside a repository, git still compares and searches plain files.
    if (known === "no-repository" && names === "unknown" && !beyondIndex) return none;
    const looked = typeof known === "string" ? undefined : known;
    if (looked !== undefined && looked.paths.size === 0 && !beyondIndex) return none;
    const place = { directory, signal };
    const { blobs, plain } = await this.#objects(known === "no-repository" ? [] : objects, place);
    const secret = blobs.find((id) => looked?.blobs.has(id));
    if (secret !== undefined) return { type: "some", refused: [nameOf(objects, blobs, secret)], doubtful: [] };
    if (blobs.length > 0 && known === "too-long") return unknown("its history is too long to look through");
    if (names === "unknown") {
      if (beyondIndex) return unknown("it also reads files that git does not track");
      return unknown(looked === undefined ? "its history is too long to look through" : knownWords(looked.paths));
    }
    if (names === undefined) return none;
    // Git gives no name for content that is printed as an object.
    const args = plain === undefined ? names : names.filter((word) => !objects.includes(word) || plain.includes(word));
    const wholeObjects = blobs.length > 0 && plain?.length === 0;
    if (wholeObjects && contents.subcommand === "show") return none;
    return this.#named(args, place, looked?.paths);
  }

  /** The files whose contents a command prints, found with a git command that prints only names. */
  async #named(
    args: readonly string[],
    { directory, signal }: { readonly directory: string; readonly signal: AbortSignal },
    known: ReadonlySet<string> | undefined,
  ): Promise<PrintedSecrets> {
    const refused = new Set<string>();
    const doubtful = new Set<string>();
    const options = { directory, signal, separator: "\0", timeoutMs: namesMs } as const;
    try {
      await gitNames(
        args,
        (line) => {
          // `git grep` puts the revision before the name.
          const name = line.replace(/^\n+/, "");
          const path = args[0] === "grep" && name.includes(":") ? name.slice(name.indexOf(":") + 1) : name;
          const verdict = this.#judge(path);
          if (verdict === "refused" && refused.size < maxNames) refused.add(path);
          if (verdict === "doubtful" && doubtful.size < maxNames) doubtful.add(path);
        },
        options,
      );
    } catch (error) {
      if (!(error instanceof GitNamesFailed)) throw error;
      // The command itself most likely fails too, but that is not certain.
      return unknown(known === undefined ? error.message : `${error.message}, and ${knownWords(known)}`);
    }
    if (refused.size === 0 && doubtful.size === 0) return none;
    return { type: "some", refused: [...refused], doubtful: [...doubtful] };
  }

  /** Ids of the words that name a file's content as an object, and the words that do not. */
  async #objects(
    words: readonly string[],
    place: { readonly directory: string; readonly signal: AbortSignal },
  ): Promise<{ readonly blobs: readonly string[]; readonly plain: readonly string[] | undefined }> {
    if (words.length === 0) return { blobs: [], plain: undefined };
    if (words.some((word) => word.includes("\n"))) throw new GitNamesFailed("a name with a line end");
    const kinds: string[] = [];
    await gitNames(["cat-file", "--batch-check=%(objectname) %(objecttype)"], (line) => kinds.push(line), {
      ...place,
      separator: "\n",
      timeoutMs: namesMs,
      input: words.map((word) => `${word}\n`).join(""),
    });
    const ids = kinds.map((line) => /^([0-9a-f]{40,64}) blob$/.exec(line)?.[1]);
    return {
      blobs: ids.filter((id) => id !== undefined),
      plain: words.filter((_word, index) => ids[index] === undefined),
    };
  }

  #repository(directory: string): RepositorySecrets {
    const known = this.#repositories.get(directory);
    if (known !== undefined) return known;
    const repository = new RepositorySecrets(directory, this.#judge);
    this.#repositories.set(directory, repository);
    return repository;
  }
}

function nameOf(words: readonly string[], blobs: readonly string[], secret: string): string {
  return words.find((word) => secret.startsWith(word)) ?? words[blobs.indexOf(secret)] ?? secret;
}

function knownWords(paths: ReadonlySet<string>): string {
  const [first = "such a file", ...more] = paths;
  return `the repository knows ${first}${more.length > 0 ? ` and ${more.length} more` : ""}`;
}

function unknown(why: string): PrintedSecrets {
  return { type: "unknown", why };
}
