import { quotedCommand } from "../command/quoted-command.ts";
import { verbOf } from "../programs/known-programs.ts";
import { oneCommand } from "./one-command.ts";
import { environmentMarker, indexPackage } from "./requirement-line.ts";

/** `pip install` of packages of an index, by their names or out of files of requirements. */
export interface PipInstall {
  /** Go on to the pip that fetches. */
  readonly options: readonly string[];
  readonly packages: readonly string[];
  /** Paths, as they are written. */
  readonly requirements: readonly string[];
  readonly constraints: readonly string[];
  /** The index that the command itself names. */
  readonly index: string | undefined;
  /** For the shell: the same, from a directory of wheels and nothing else. */
  from(directory: string): string;
}

/** Undefined for another command, and for options and operands that lead it to anything but an index. @param text for the shell */
export function pipInstall(text: string): PipInstall | undefined {
  const words = oneCommand(text);
  const [program = "", ...given] = words ?? [];
  const found = verbOf(program.slice(program.lastIndexOf("/") + 1), given);
  if (words === undefined || found?.program.logins?.includes("pip") !== true) return undefined;
  // Nothing but `-m pip` before the verb.
  const at = words.length - found.rest.length;
  if (words[at - 1] !== "install" || at > (words[1] === "-m" ? 4 : 2)) return undefined;
  const read = sorted(words.slice(at));
  if (read === undefined) return undefined;
  const { own, ...rest } = read;
  const beginning: readonly [string, ...string[]] = [words[0], ...words.slice(1, at)];
  return {
    ...rest,
    from: (directory) => quotedCommand([...beginning, "--no-index", "--find-links", directory, ...own]),
  };
}

function sorted(words: readonly string[]) {
  const [options, packages, requirements, constraints, own]: string[][] = [[], [], [], [], []];
  let index: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const [, short, long, inline] =
      /^(?:(-[rci])|(--(?:requirement|constraint|index-url))(?:=(.*))?)$/s.exec(word) ?? [];
    const name = short ?? long;
    if (name !== undefined) {
      const value = inline ?? words[(at += 1)] ?? "";
      if (value === "" || value.startsWith("-")) return undefined;
      if (/^-i$|^--i/.test(name)) index = value;
      else {
        (/^-r$|^--r/.test(name) ? requirements : constraints)?.push(value);
        own?.push(name, value);
      }
    } else if (word.startsWith("-")) {
      if (!flag.test(word)) return undefined;
      own?.push(word);
      if (ofFetch.test(word)) options?.push(word);
    } else {
      const written = indexPackage(word);
      if (written === undefined) return undefined;
      packages?.push(written);
      own?.push(written);
    }
  }
  if (packages?.length === 0 && requirements?.length === 0) return undefined;
  return {
    options: options ?? [],
    packages: packages ?? [],
    requirements: requirements ?? [],
    constraints: constraints ?? [],
    own: own ?? [],
    index,
  };
}

/**
 * A requirements file rewritten so that it takes only packages of an index. Undefined for anything else in it: pip splits lines
 * differently, and expands variables of its environment.
 */
export function plainRequirements(text: string): string | undefined {
  if (!/^[\n\x20-\x7e]*$/.test(text) || text.includes("$")) return undefined;
  const lines = text
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/(?:^| )#.*$/, "").trim())
    .filter((line) => line !== "");
  const kept = lines.map(plainRequirement);
  return kept.every((line) => line !== undefined) ? kept.map((line) => `${line}\n`).join("") : undefined;
}

function plainRequirement(line: string): string | undefined {
  if (line.length > 10_000) return undefined;
  const [, spec = "", marker, hashes = ""] =
    /^([^;\\]*?)(?:;([^;\\]*?))?((?: +--hash=sha(?:256|384|512):[0-9a-f]+)*)$/.exec(line) ?? [];
  const written = indexPackage(spec.trim());
  const condition = marker === undefined ? "" : environmentMarker(marker);
  if (written === undefined || condition === undefined) return undefined;
  const checks = hashes.split(" ").filter((hash) => hash !== "");
  return [written, ...(condition === "" ? [] : [";", condition]), ...checks].join(" ");
}

const ofFetch = /^(?:--pre|--no-deps|--require-hashes)$/;
const flag =
  /^(?:-[qvUI]+|--(?:quiet|verbose|upgrade|pre|no-deps|require-hashes|no-cache-dir|force-reinstall|ignore-installed|user|no-input|disable-pip-version-check|no-warn-script-location|break-system-packages|no-compile|upgrade-strategy=[a-z-]+|progress-bar=\w+))$/;
