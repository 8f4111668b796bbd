import { settingDefaults } from "@gennai/protocol/model/session/session-settings";
import type { ServerOptions } from "#tenants/server-options";

/** Of a server that is killed while it runs a plan, and of the one that finds what it left. */
export function killedServerOptions(stateDir: string, workspace: string): ServerOptions {
  return {
    version: "0.0.0-test",
    token: "t".repeat(43),
    stateDir,
    workspace,
    announce: false,
    commands: "ask",
    address: { type: "tcp", host: "127.0.0.1", port: 0 },
    environment: process.env,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    defaultSettings: { ...settingDefaults, interactive: false },
  };
}
