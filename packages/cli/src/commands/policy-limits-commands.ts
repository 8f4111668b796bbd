import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Limit, permitted, problemOf } from "@gennai/governance/limits/limits";
import { shownKeys } from "@gennai/governance/limits/shown-keys";
import { parseStrictYaml } from "@gennai/machine/config/strict-yaml";
import { errorMessage } from "@gennai/protocol/error-message";
import { fetchPolicy } from "@gennai/sessions/rules/fetch-policy";
import { signPolicy } from "@gennai/sessions/rules/sign-policy";
import { CliError, usageError } from "../terminal/cli-error.ts";
import type { Console } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { type Said, said } from "./command-host.ts";
import { limitsHere } from "./limits-here.ts";

/** `gennai policy show`: each key of each policy in force, and where it stands. */
export async function policyShowCommand(_flags: object, console: Console): Promise<Said> {
  const limits = await limitsHere(console);
  const problem = problemOf(limits);
  const rows = limits.flatMap((limit) => [
    [layers[limit.holder], limit.name, limit.file],
    ...shownKeys(limit).map(({ key, value, place }) => [key, value, place]),
    ...(limit.expires === undefined ? [] : [["expires", new Date(limit.expires).toISOString(), ""]]),
  ]);
  if (rows.length === 0) rows.push(["policy", "none", ""]);
  rows.push(["permits", permitted(limits).join(", "), ""]);
  if (problem !== undefined) rows.push(["only reading", problem, ""]);
  const widths = [0, 1].map((column) => Math.max(...rows.slice(0, -1).map((row) => row[column]?.length ?? 0), 12));
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) => terminalSafe(cell).padEnd(widths[column] ?? 0));
    return `${cells.join("  ").trimEnd()}\n`;
  });
  const shown = { permits: permitted(limits), problem: problem ?? null, policies: limits.map(shownLimit) };
  return said(shown, lines.join(""));
}

/** Who lays it down, as `policy check` names layers of rules. */
const layers = { root: "managed", user: "signed", switches: "emergency" } as const;

function shownLimit(limit: Limit) {
  const { name, contact, holder, file, expires, serial, problem } = limit;
  const until = expires === undefined ? null : new Date(expires).toISOString();
  return {
    layer: layers[holder],
    name,
    contact,
    holder,
    file,
    serial,
    expires: until,
    problem,
    keys: shownKeys(limit),
  };
}

export interface PolicyFetchFlags {
  readonly url: string;
  readonly key: string;
  readonly to: string;
}

/** `gennai policy fetch`: 1 if what is there stays, because what is fetched cannot be used. */
export async function policyFetchCommand(flags: PolicyFetchFlags, console: Console): Promise<Said> {
  const url = URL.parse(flags.url);
  if (url === null) throw usageError(`${flags.url} is no address.`, "Name one that begins with https://.");
  const keys = await read(flags.key, console);
  try {
    const directory = resolve(console.directory, flags.to);
    const { file, name, serial, isNew } = await fetchPolicy({ url, keys, directory }, Date.now());
    return { text: `${isNew ? "fetched" : "unchanged"}  ${terminalSafe(name)}, serial ${serial}, ${file}\n` };
  } catch (error) {
    const why = terminalSafe(errorMessage(error));
    throw new CliError(`The policy was not fetched: ${why}.`, {
      next: ["What was there before stays in force."],
      cause: error,
    });
  }
}

/** `gennai policy sign`: the signed policy on standard output. */
export async function policySignCommand(
  file: string,
  flags: { readonly key: string },
  console: Console,
): Promise<Said> {
  const [text, key] = await Promise.all([read(file, console), read(flags.key, console)]);
  try {
    return { text: signPolicy(parseStrictYaml(text, file).data, key) };
  } catch (error) {
    throw new CliError(`${file} cannot be signed: ${errorMessage(error)}`, {
      exitCode: exitCode.usage,
      next: ["gennai policy sign --help shows a policy and how to make a key."],
      cause: error,
    });
  }
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
