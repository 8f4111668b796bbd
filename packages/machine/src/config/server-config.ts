import { homedir } from "node:os";
import { join } from "node:path";
import { type ExportDestination, exportSchema } from "@gennai/governance/limits/export-schema";
import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";
import { ExpectedError } from "../expected-error.ts";
import { readUserFile } from "./user-file.ts";

/** In the user's configuration directory: that of the person who runs the server. */
const serverFile = "server.json";

const mebibyte = 1024 * 1024;
const usualMostMebibytes = 2048;

/** The shape of the file; `docs/reference/settings.md` is generated from it. */
export const serverConfigSchema = z.strictObject({
  commands: z
    .strictObject({
      memory_mib: z
        .int()
        .min(64)
        .max(16 * mebibyte)
        .optional()
        .describe(
          "Memory that one command and all it starts may hold, in MiB; then it is ended. It is looked at five times a second, and not capped in between. By default three quarters of the machine's.",
        ),
      written_mib: z
        .int()
        .min(16)
        .max(1024 * mebibyte)
        .optional()
        .describe("What one command and all it starts may write to disks, in MiB; then it is ended. By default 32768."),
      variables: z
        .array(z.string().regex(/^[A-Za-z_]\w*$/, "no name of a variable"))
        .optional()
        .describe(
          "Names of variables of the server's environment that commands get besides the usual ones, e.g. `PYTHONPATH`. Not those that look like logins.",
        ),
      show: z
        .array(z.string().regex(/^(?:~?\/|~$)/, "neither an absolute path nor one below ~"))
        .optional()
        .describe(
          "Further files and directories that commands may read, e.g. `~/go-sdk/src`. Secrets in them stay hidden. No whole home or disk.",
        ),
    })
    .default({})
    .describe("Limits and environment of each command that the server runs."),
  storage: z
    .strictObject({
      most_mib: z
        .int()
        .min(64)
        .max(1024 * mebibyte)
        .optional()
        .describe(
          "What the state directory takes at most, in MiB. Beyond it, builds of sessions go that were not used for a day. What an undo or the ledger needs stays. By default 2048.",
        ),
    })
    .default({})
    .describe("Room on the disk."),
  export: z.array(exportSchema).max(20).default([]).describe("[Where the ledger's records are sent](../export.md)."),
});

/** What the person who runs the server wrote down; undefined where nothing is said. */
export interface ServerConfig {
  /** Bytes. */
  readonly commandLimits: { readonly memoryBytes?: number; readonly writtenBytes?: number };
  /** Names of further variables that commands get. */
  readonly commandVariables: readonly string[];
  /** Bytes that the state directory takes at most. */
  readonly mostStorageBytes: number;
  /** Absolute paths that commands may read besides what programs need. */
  readonly commandsShow: readonly string[];
  readonly exports: readonly ExportDestination[];
  /** Why the file cannot be used, and how to mend it. Anyone who reads one must not take it for a file that says nothing. */
  readonly problem: string | undefined;
}

/** `server.json` is there and cannot be used. */
class BadServerConfig extends ExpectedError {
  override readonly name = "BadServerConfig";
  readonly code = "bad_server_config";
  readonly isWrongInput = true;
}

/** The same at the start. Throws `BadServerConfig`: configured limits must not be lost through a mistake. */
export async function requireServerConfig(configDir: string): Promise<ServerConfig> {
  const config = await loadServerConfig(configDir);
  if (config.problem === undefined) return config;
  throw new BadServerConfig(`${config.problem}. Correct or remove it, then run gennai doctor again.`);
}

/** Reads `server.json`. Never rejects. */
export async function loadServerConfig(configDir: string): Promise<ServerConfig> {
  try {
    const text = await readUserFile(join(configDir, serverFile));
    const { commands, storage, export: exports } = serverConfigSchema.parse(text === undefined ? {} : JSON.parse(text));
    const { memory_mib: memory, written_mib: written, variables = [], show = [] } = commands;
    return {
      commandLimits: {
        ...(memory === undefined ? {} : { memoryBytes: memory * mebibyte }),
        ...(written === undefined ? {} : { writtenBytes: written * mebibyte }),
      },
      commandVariables: variables,
      mostStorageBytes: (storage.most_mib ?? usualMostMebibytes) * mebibyte,
      commandsShow: show.map((path) => path.replace(/^~(?=\/|$)/, homedir())),
      exports,
      problem: undefined,
    };
  } catch (error) {
    const problem = `${join(configDir, serverFile)} cannot be used: ${whyNot(error)}`;
    const mostStorageBytes = usualMostMebibytes * mebibyte;
    return {
      commandLimits: {},
      commandVariables: [],
      mostStorageBytes,
      commandsShow: [],
      exports: [],
      problem,
    };
  }
}

function whyNot(error: unknown): string {
  if (error instanceof z.ZodError) {
    return error.issues.map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`).join("; ");
  }
  return errorMessage(error);
}
