import { quotedCommand } from "../command/quoted-command.ts";
import { oneCommand } from "./one-command.ts";

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
  const program = /(?:^|\/)(pip3?|python3?)(?:\.\d+)?$/.exec(words?.[0] ?? "")?.[1];
  if (words === undefined || program === undefined) return undefined;
  const before = program.startsWith("python") ? ["-m", "pip", "install"] : ["install"];
  if (before.some((word, at) => words[at + 1] !== word)) return undefined;
  const at = before.length + 1;
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
      if (!isOfIndex(word)) return undefined;
      packages?.push(word);
      own?.push(word);
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

/** Of a file of requirements: what takes nothing but packages of an index. Undefined for anything else in it. */
export function plainRequirements(text: string): string | undefined {
  const lines = text
    .replaceAll(/\\\r?\n/g, " ")
    .split(/\r?\n/)
    .map((line) => line.replace(/(?:^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
  const kept = lines.map((line) => {
    const [, spec = "", marker = "", hashes = ""] =
      /^([^;]*?)(\s*;[^\\]*?)?((?:\s+--hash=sha(?:256|384|512):[0-9a-f]+)*)$/.exec(line) ?? [];
    return isOfIndex(spec.replaceAll(/\s+/g, "")) && !/--/.test(marker) ? `${spec}${marker}${hashes}` : undefined;
  });
  return kept.includes(undefined) ? undefined : `${kept.join("\n")}\n`;
}

function isOfIndex(word: string): boolean {
  return (
    /^[A-Za-z0-9][\w.-]*(?:\[[\w.,-]*\])?(?:(?:[=<>!~]=?=?|===)[\w.*+!-]+(?:,(?:[=<>!~]=?=?)[\w.*+!-]+)*)?$/.test(
      word,
    ) && !/\.(?:whl|zip|gz|bz2|xz|tgz|tar)$/i.test(word)
  );
}

const ofFetch = /^(?:--pre|--no-deps|--require-hashes)$/;
const flag =
  /^(?:-[qvUI]+|--(?:quiet|verbose|upgrade|pre|no-deps|require-hashes|no-cache-dir|force-reinstall|ignore-installed|user|no-input|disable-pip-version-check|no-warn-script-location|break-system-packages|no-compile|upgrade-strategy=[a-z-]+|progress-bar=\w+))$/;
