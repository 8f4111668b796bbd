import { settingDefaults } from "@gennai/protocol/model/session/session-settings";
import { startServer } from "@gennai/server/serve";
import { z } from "zod";

/** Runs a server until it is told to end, or killed. Its one argument is JSON; it prints a line when it listens. */
const options = z
  .object({
    port: z.int(),
    token: z.string(),
    stateDir: z.string(),
    workspace: z.string(),
    script: z.string(),
    commands: z.enum(["auto", "staged", "ask"]).default("ask"),
    /** Address of a log that is shared; left out: one of its own, on SQLite. */
    sharedLog: z.string().optional(),
    interactive: z.boolean().default(false),
    confirmation: z.object({ answerMs: z.int(), waitForClientMs: z.int() }).optional(),
  })
  .parse(JSON.parse(process.argv[2] ?? ""));

const server = await startServer({
  version: "0.0.0-test",
  address: { type: "tcp", host: "127.0.0.1", port: options.port },
  token: options.token,
  stateDir: options.stateDir,
  workspace: options.workspace,
  ...(options.sharedLog === undefined ? {} : { sharedLog: options.sharedLog }),
  ...(options.confirmation === undefined ? {} : { confirmation: options.confirmation }),
  announce: true,
  environment: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
  commands: options.commands,
  log: {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (text, cause) => process.stderr.write(`${text} ${cause instanceof Error ? cause.stack : String(cause)}\n`),
  },
  defaultSettings: {
    ...settingDefaults,
    backend: "scripted",
    model: options.script,
    maxIterations: 100,
    interactive: options.interactive,
  },
});
process.once("SIGTERM", () => void server[Symbol.asyncDispose]());
process.stdout.write(`${server.port}\n`);
