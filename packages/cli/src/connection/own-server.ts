import type { SandboxMode } from "@gennai/machine/sandbox/sandbox";
import type { StagesMode } from "@gennai/machine/staged-shell/stages-mode";
import type { Console } from "../terminal/console.ts";
import { version } from "../version.ts";
import { defaultSettings, type ModelChoice } from "./default-settings.ts";
import { keepHeapSmall } from "./keep-heap-small.ts";

export interface OwnServerRequest {
  /** Real absolute path. */
  readonly workspace: string;
  readonly stateDir: string;
  readonly model: ModelChoice;
  readonly protectedBranches: readonly string[];
  readonly sandbox?: SandboxMode;
  readonly stages?: StagesMode;
}

/** The server's modules, read once. */
export const loadServer = () => Promise.all([import("@gennai/server/serve"), import("@gennai/server/http/token")]);

/** A server in this process, on a free port, for this command alone. Disposing ends it. The server is loaded only here. */
export async function startOwnServer(
  request: OwnServerRequest,
  console: Console,
): Promise<{ readonly url: string; readonly token: string } & AsyncDisposable> {
  const [{ startServer }, { createToken }] = await loadServer();
  keepHeapSmall();
  const token = createToken();
  const server = await startServer({
    version,
    token,
    address: { type: "tcp", host: "127.0.0.1", port: 0 },
    stateDir: request.stateDir,
    workspace: request.workspace,
    defaultSettings: defaultSettings(request.model),
    protectedBranches: request.protectedBranches,
    ...(request.sandbox === undefined ? {} : { sandbox: request.sandbox }),
    ...(request.stages === undefined ? {} : { stages: request.stages }),
    announce: false,
    log: consoleLog(console),
    environment: console.environment,
  });
  return { url: server.url, token, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** The server's log of a command that is about something else: only what went wrong. */
function consoleLog(console: Console) {
  return {
    debug: () => {},
    info: () => {},
    warn: (text: string) => void console.errors.write(`warning: ${text}\n`),
    error(text: string, cause?: unknown) {
      console.errors.write(`error: ${text}\n`);
      if (console.environment["GENNAI_DEBUG"] === "1" && cause instanceof Error) {
        console.errors.write(`${cause.stack ?? cause.message}\n`);
      }
    },
  };
}
