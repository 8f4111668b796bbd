import { settingDefaults } from "@gennai/protocol/model/session/session-settings";
import { startServer } from "@gennai/server/serve";
import { z } from "zod";

/** Runs one replica until it is told to end, or killed. Its one argument is JSON; it prints its port when it listens. */
const options = z
  .object({
    port: z.int(),
    token: z.string(),
    stateDir: z.string(),
    workspace: z.string(),
    script: z.string(),
    /** Empty: a server of its own, on SQLite. */
    log: z.string(),
  })
  .parse(JSON.parse(process.argv[2] ?? ""));

const server = await startServer({
  version: "0.0.0-test",
  address: { type: "tcp", host: "127.0.0.1", port: options.port },
  token: options.token,
  stateDir: options.stateDir,
  ...(options.log === "" ? {} : { sharedLog: options.log }),
  workspace: options.workspace,
  announce: false,
  environment: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
  commands: "ask",
  confirmation: { answerMs: 60_000, waitForClientMs: 60_000 },
  log: {
    debug: () => undefined,
    info: () => undefined,
    warn: (text) => process.stderr.write(`warning: ${text}\n`),
    error: (text, cause) => process.stderr.write(`${text} ${cause instanceof Error ? cause.stack : String(cause)}\n`),
  },
  defaultSettings: {
    ...settingDefaults,
    backend: "scripted",
    model: options.script,
    maxIterations: 100,
    interactive: true,
  },
});
process.once("SIGTERM", () => void server[Symbol.asyncDispose]());
process.stdout.write(`${server.port}\n`);
