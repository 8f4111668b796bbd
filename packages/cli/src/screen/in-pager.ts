import { startProcess } from "@gennai/machine/process/start-process";

/** Shows a text in `$PAGER`, or `less`. Rejects if that cannot be started. */
export function inPager(text: string, environment: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    // The user's setting may contain arguments, so a shell runs it, as with git.
    const child = startProcess("/bin/sh", ["-c", environment["PAGER"] || "less -R"], {
      stdio: ["pipe", "inherit", "inherit"],
    });
    child.on("error", reject);
    child.on("close", () => resolve());
    // Who leaves a pager has not read all of it.
    child.stdin.on("error", () => undefined);
    child.stdin.end(text);
  });
}
