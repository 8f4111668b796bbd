import { ToolFailure } from "@gennai/governance/tool-error";
import type { ProcessLocks } from "../process/locks/process-lock.ts";

/** Default limit in milliseconds for waiting. */
const defaultLimitMs = 300_000;

/**
 * Waits in line, over all processes of the state directory, until no other command runs over this repository: each would put back
 * the changes that the other was told to make. Rejects with `ToolFailure` `repository_busy` after the limit, and with the
 * signal's reason when it aborts.
 *
 * @param repository real path of git's directory, or of a workspace without one
 * @returns the turn, to be disposed when the command has ended
 */
export async function repositoryTurn(
  locks: ProcessLocks,
  repository: string,
  { signal, limitMs = defaultLimitMs }: { readonly signal: AbortSignal; readonly limitMs?: number },
): Promise<Disposable> {
  const name = `commands ${repository}`;
  const line = locks.line(name);
  const take = () => locks.tryAcquire(name, "a command", { stays: true });
  signal.throwIfAborted();
  const first = line.first() === undefined ? take() : undefined;
  if (first?.type === "acquired") return first.lock;
  using place = line.join("a command");
  const limit = AbortSignal.timeout(limitMs);
  const ended = AbortSignal.any([signal, limit]);
  for (;;) {
    const attempt = place.first() === undefined ? take() : undefined;
    if (attempt?.type === "acquired") return attempt.lock;
    signal.throwIfAborted();
    if (limit.aborted) throw busy(repository);
    await locks.freed(name, place, ended).catch((error: unknown) => {
      if (!ended.aborted) throw error;
    });
  }
}

function busy(repository: string): ToolFailure {
  return new ToolFailure(
    "repository_busy",
    `The command did not run: another one still runs over ${repository}, and without a sandbox only one command runs at a time.`,
    { retryable: true, hint: "Try again when the other one has ended, or tell the user." },
  );
}
