import { errorMessage } from "@gennai/protocol/error-message";
import { openGit } from "../run/run-git.ts";

/** There is no answer: git took too long, printed too much, or failed. The message says which. */
export class GitNamesFailed extends Error {
  override readonly name = "GitNamesFailed";
  /** Undefined if git did not end by itself. */
  readonly code: number | undefined;

  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }
}

/** Maximum bytes of one name, or of the text before it. */
const longestName = 64 * 1024;

/**
 * Runs git and passes on its output piece by piece, without storing it. Rejects with `GitNamesFailed` for an exit code above 1
 * (git's searches and comparisons return 1 for "none" and "differs"), and after `timeoutMs`.
 *
 * @param options.separator the text after each piece
 */
export async function gitNames(
  args: readonly string[],
  onName: (name: string) => void,
  options: {
    readonly directory: string;
    readonly separator: "\0" | "\n";
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly input?: string;
  },
): Promise<void> {
  const { directory, separator, timeoutMs, signal, input = "" } = options;
  signal.throwIfAborted();
  const running = await openGit(args, { directory }).catch((error: unknown) => {
    throw new GitNamesFailed(`git could not be run: ${errorMessage(error)}`);
  });
  let left = "";
  let failure: Error | undefined;
  const end = (error: Error): void => {
    failure ??= error;
    running.kill();
  };
  const timer = setTimeout(() => end(new GitNamesFailed("git took too long")), timeoutMs);
  const abort = (): void => end(signal.reason instanceof Error ? signal.reason : new GitNamesFailed("stopped"));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  running.stdin.end(input);
  running.stdout.setEncoding("utf8").on("data", (text: string) => {
    const pieces = (left + text).split(separator);
    left = pieces.pop() ?? "";
    if (left.length > longestName) end(new GitNamesFailed("git printed no names"));
    if (failure === undefined) for (const piece of pieces) onName(piece);
  });
  try {
    const { code } = await running.ended;
    if (failure !== undefined) throw failure;
    if (code === undefined || code > 1) throw new GitNamesFailed(`git ended with code ${code}`, code);
    if (left !== "") onName(left);
  } catch (error) {
    throw failure ?? (error instanceof GitNamesFailed ? error : new GitNamesFailed(String(error)));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
