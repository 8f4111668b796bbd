import { parseEndpoint } from "@gennai/governance/endpoint";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { NetworkAnswer, PersonsNetwork, WantedNetwork } from "@gennai/sessions/policy-workbench/persons-network";
import { usageError } from "../terminal/cli-error.ts";
import { isTerminal } from "../terminal/console.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import type { OfferContext } from "./offered-changes.ts";

/** What a person's command may reach: by `--allow HOST:PORT`, and by questions here. Throws `CliError` for no HOST:PORT. */
export function personsNetworkHere(
  flags: { readonly allow?: readonly string[] | undefined; readonly ask?: boolean | undefined },
  { console, lines, signal }: OfferContext,
): PersonsNetwork {
  const { input, errors } = console;
  const allowed = allowedAhead(flags.allow, "Run it in a terminal, or let it through");
  if (flags.ask !== true && (!isTerminal(input) || !isTerminal(errors))) return allowed;
  const ask = async (wanted: WantedNetwork): Promise<NetworkAnswer> => {
    errors.write(terminalSafe(describeWanted(wanted)));
    const choices = wanted.mayStand ? "once, workspace, no" : "once, no";
    for (;;) {
      const said = (await lines().question(`Let it? [${choices}] `, { signal }))?.trim().toLowerCase() ?? "no";
      if (/^(?:no?|)$/.test(said)) return "no";
      if (/^(?:o|once|y|yes)$/.test(said)) return "once";
      if (wanted.mayStand && /^(?:w|workspace)$/.test(said)) return "workspace";
      errors.write(`Say one of: ${choices}.\n`);
    }
  };
  return { ...allowed, ask };
}

/** What `--allow` lets through if nobody can be asked. Throws like `personsNetworkHere`. @param next what to do about the rest */
export function allowedAhead(allow: readonly string[] = [], next = "Let it through"): PersonsNetwork {
  return {
    allow: allow.map((text) => {
      const endpoint = parseEndpoint(text);
      if (endpoint !== undefined) return endpoint;
      throw usageError(
        `${text} is not a host and port.`,
        "Write it as HOST:PORT, e.g. --allow registry.npmjs.org:443.",
      );
    }),
    otherwise: (endpoints) => `${next}: ${endpoints.map((one) => `--allow ${one}`).join(" ")}`,
  };
}

function describeWanted({ program, endpoints, warnings, mayStand }: WantedNetwork): string {
  const where = endpoints.map(spelledOut).join(", ");
  return [
    `\n${spelledOut(program)} wants ${where}`,
    "  It was refused. After a yes the command runs again from the beginning, and could send everything there that it sees of the workspace.",
    ...warnings.map((warning) => `  ${spelledOut(warning)}`),
    ...(mayStand
      ? [`  workspace: every plain ${spelledOut(program)} here reaches exactly that (gennai answers list)`]
      : []),
    "",
  ].join("\n");
}
