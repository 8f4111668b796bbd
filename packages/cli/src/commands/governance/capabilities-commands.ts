import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { errorMessage } from "@gennai/protocol/error-message";
import { loadCapabilities } from "@gennai/sessions/rules/load-capabilities";
import { signCapabilities } from "@gennai/sessions/rules/sign-capabilities";
import { CliError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

export interface CapabilitiesFlags {
  readonly json?: boolean;
}

/** `gennai capabilities show` */
export async function capabilitiesShowCommand(flags: CapabilitiesFlags, console: Console): Promise<ExitCode> {
  const { environment } = console;
  const files = {
    named: environment["GENNAI_CAPABILITIES"] || undefined,
    configDir: userConfigDir(environment),
    stateDir: defaultStateDir(environment),
    // The default of a server on a private machine.
    requiredByDefault: false,
  };
  const { profile, problem } = (await loadCapabilities(files, Date.now)).current();
  const expires = profile.expires === undefined ? undefined : new Date(profile.expires).toISOString();
  if (flags.json === true) {
    const shown = {
      name: profile.name,
      capabilities: profile.capabilities,
      expires: expires ?? null,
      problem: problem ?? null,
    };
    console.output.write(`${JSON.stringify(shown)}\n`);
    return exitCode.ok;
  }
  console.output.write(
    `profile       ${terminalSafe(profile.name)}\npermits       ${profile.capabilities.join(", ")}\n`,
  );
  if (expires !== undefined) console.output.write(`expires       ${expires}\n`);
  if (problem !== undefined) console.output.write(`only reading  ${terminalSafe(problem)}\n`);
  return exitCode.ok;
}

/** `gennai capabilities sign`: the signed profile on standard output. */
export async function capabilitiesSignCommand(
  file: string,
  flags: { readonly key: string },
  console: Console,
): Promise<ExitCode> {
  const [text, key] = await Promise.all([read(file, console), read(flags.key, console)]);
  try {
    console.output.write(signCapabilities(JSON.parse(text) as unknown, key));
  } catch (error) {
    throw new CliError(`${file} cannot be signed: ${errorMessage(error)}`, {
      exitCode: exitCode.usage,
      next: ["gennai capabilities sign --help shows a profile and how to make a key."],
      cause: error,
    });
  }
  return exitCode.ok;
}

async function read(file: string, console: Console): Promise<string> {
  const path = resolve(console.directory, file);
  return readFile(path, "utf8").catch((error: unknown) => {
    throw new CliError(`${path} cannot be read.`, {
      exitCode: exitCode.usage,
      next: ["Check the path."],
      cause: error,
    });
  });
}
