import type { CommandsMode } from "@gennai/protocol/commands-mode";
import type { RunningServer } from "@gennai/server/serve";
import type { Console } from "../terminal/console.ts";
import { version } from "../terminal/version.ts";
import { defaultSettings, type ModelChoice } from "./default-settings.ts";

export interface OwnServerRequest {
  /** Real absolute path. */
  readonly workspace: string;
  readonly stateDir: string;
  readonly model: ModelChoice;
  readonly protectedBranches: readonly string[];
  readonly commands?: CommandsMode;
}

/** Loads the server's modules; only the first call takes time. */
export const loadServer = () => import("@gennai/server/serve");

/** A server in this process, for this command alone; it listens nowhere. Disposing ends it. The server is loaded only here. */
export async function startOwnServer(
  request: OwnServerRequest,
  console: Console,
): Promise<Pick<RunningServer, "transport"> & AsyncDisposable> {
  const { startServer } = await loadServer();
  return startServer({
    version,
    token: undefined,
    address: { type: "in-process" },
    stateDir: request.stateDir,
    workspace: request.workspace,
    defaultSettings: defaultSettings(request.model),
    protectedBranches: request.protectedBranches,
    ...(request.commands === undefined ? {} : { commands: request.commands }),
    announce: false,
    log: consoleLog(console),
    environment: console.environment,
  });
}

/** The server's log for a command that is about something else: only warnings and errors. */
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
