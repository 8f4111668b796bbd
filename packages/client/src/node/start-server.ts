import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { delimiter, isAbsolute } from "node:path";
import { createInterface } from "node:readline";
import { isRecord } from "@gennai/protocol/json-value";
import { AgentError } from "../agent/agent-error.ts";

/** A server that was started here. Disposing ends it, and waits until it is gone. */
export interface StartedServer extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
}

/**
 * Starts a server that ends with this program, however that ends. Rejects with `AgentError` if it does not come up.
 * @param options.command program and arguments that come before `serve`
 * @param options.workspace absolute path of its sessions' workspace
 */
export async function startServer(options: {
  readonly command: readonly string[];
  readonly workspace: string;
  readonly signal: AbortSignal | undefined;
}): Promise<StartedServer> {
  const { workspace, signal } = options;
  const [program = "", ...before] = options.command;
  const token = randomBytes(32).toString("base64url");
  const child = spawn(program, [...before, "serve", "--port", "0", "--quit-with-stdin", "--log-format", "json"], {
    cwd: workspace,
    // What npm installs on Windows is a script, which only a shell runs.
    shell: process.platform === "win32" && before.length === 0,
    windowsHide: true,
    stdio: ["pipe", "ignore", "pipe"],
    env: { ...process.env, ...onlyInstalled(), GENNAI_AUTH_TOKEN: token },
  });
  const gone = new Promise<string>((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code) => resolve(`exit code ${code ?? "unknown"}`));
  });
  // It may be gone before it reads that it is to go.
  child.stdin.on("error", () => undefined);
  const end = async (): Promise<void> => {
    child.stdin.end();
    await gone;
  };
  let last = "";
  const listening = new Promise<string>((resolve) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      const { url, message = line } = record(line);
      last = String(message);
      if (typeof url === "string") resolve(url);
    });
  });
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  const onAbort = (): void => stopped.reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    const failed = gone.then((reason) => {
      const hint = "Install gennai, or name its program as command.";
      throw new AgentError(`The server did not start: ${last || reason}`, { code: "unavailable", hint });
    });
    const url = await Promise.race([listening, failed, stopped.promise]);
    return { url, token, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** A program is found where programs are installed, never in the workspace, whose files anybody may have written. */
function onlyInstalled(): Readonly<Record<string, string>> {
  if (process.platform === "win32") return { NoDefaultCurrentDirectoryInExePath: "1" };
  return { PATH: (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute).join(delimiter) };
}

function record(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
