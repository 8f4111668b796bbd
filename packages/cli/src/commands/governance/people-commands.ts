import { userConfigDir } from "@gennai/machine/config/config-directory";
import { loadPeople } from "@gennai/machine/config/people-file";
import { defaultStateDir, prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { PersonPins } from "@gennai/server/elsewhere/person-pins";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";

/** `gennai people list`: who is asked elsewhere, by what ways. */
export async function peopleListCommand(_flags: object, console: Console): Promise<ExitCode> {
  const known = await loadPeople(userConfigDir(console.environment));
  const pins = new PersonPins(defaultStateDir(console.environment));
  const people = Object.entries(known?.people ?? {});
  if (people.length === 0) console.output.write("Nobody is asked elsewhere: there is no people.yaml.\n");
  for (const [name, ways] of people) {
    const pin = (await pins.has(name)) ? "has a PIN" : "has no PIN, so gets no link";
    console.output.write(`${name}  ${ways.map(({ via }) => via).join(", ")}  ${pin}\n`);
  }
  return exitCode.ok;
}

/** `gennai people pin`: a new PIN, on standard output. Throws `CliError` for a person who is not in the file. */
export async function peoplePinCommand(name: string, _flags: object, console: Console): Promise<ExitCode> {
  const known = await loadPeople(userConfigDir(console.environment));
  if (!Object.hasOwn(known?.people ?? {}, name)) {
    throw usageError(`${name} is not in people.yaml.`, "Write them into ~/.config/gennai/people.yaml first.");
  }
  const stateDir = await prepareStateDirectory(defaultStateDir(console.environment));
  console.output.write(`${await new PersonPins(stateDir).renew(name)}\n`);
  return exitCode.ok;
}
