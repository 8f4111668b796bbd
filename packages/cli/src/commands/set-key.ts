import { platform } from "node:os";
import { keychainCommand } from "@gennai/machine/config/keychain";
import { startProcess } from "@gennai/machine/process/start-process";
import { backendLabel, isSelfHosted, providerNames } from "@gennai/protocol/model/session/backend";
import { CliError, usageError } from "../terminal/cli-error.ts";
import type { Console } from "../terminal/console.ts";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";

const kept = "A key in the environment still comes first. A server that runs takes this one at its next start.";

/** `gennai acp --set-key PROVIDER`: the system's own program asks for the key at this terminal, and keeps it in its keychain. */
export async function setKey(name: string, { environment, output }: Console): Promise<ExitCode> {
  const keyed = providerNames.filter((one) => !isSelfHosted(one));
  const provider = keyed.find((one) => one === name);
  if (provider === undefined)
    throw usageError(`There is no provider ${JSON.stringify(name)} with a key.`, `Choose one of ${keyed.join(", ")}.`);
  const command = keychainCommand(platform(), provider, "keep");
  output.write(`The key of ${backendLabel(provider)}:\n`);
  const code =
    command &&
    (await new Promise<number | null>((resolve) => {
      const child = startProcess(command.program, [...command.args], { stdio: "inherit", env: environment });
      child.on("error", () => resolve(null));
      child.on("close", resolve);
    }));
  if (code === 0) {
    output.write(`${kept}\n`);
    return exitCode.ok;
  }
  throw new CliError("The key was not kept: the system's keychain did not take it.", {
    next: ["Set it in the environment of the editor instead: gennai acp --help names the variables."],
  });
}
