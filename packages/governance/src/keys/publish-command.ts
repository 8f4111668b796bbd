/** `npm publish` or `pnpm publish`, with the options that are passed to npm. */
export interface PublishCommand {
  readonly type: "publish";
  readonly manager: "npm" | "pnpm";
  readonly options: readonly string[];
  /** Path of what is published; undefined: the working directory. */
  readonly operand: string | undefined;
  /** The registry given on the command line. */
  readonly registry: string | undefined;
  /** It is told to run no scripts. */
  readonly skipsScripts: boolean;
}

/** @param words behind the program. Undefined for another command, and with options that would lead npm elsewhere. */
export function publishCommand(words: readonly string[], manager: "npm" | "pnpm"): PublishCommand | undefined {
  const [verb, ...rest] = words;
  if (verb !== "publish") return undefined;
  const options: string[] = [];
  const operands: string[] = [];
  let registry: string | undefined;
  let skipsScripts = false;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    const [, name = "", inline] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (!word.startsWith("-")) operands.push(word);
    else if (withValue.has(name)) {
      const value = inline ?? rest[(at += 1)];
      if (value === undefined || value.startsWith("-")) return undefined;
      if (name === "registry") registry = value;
      else options.push(`--${name}=${value}`);
    } else if (word === "--ignore-scripts") skipsScripts = true;
    else if (word === "--dry-run" || word === "--json") options.push(word);
    // The tree is as it is: npm looks at nothing of git.
    else if (word !== "--no-git-checks") return undefined;
  }
  const [operand, ...more] = operands;
  // Anything else names a package that is somewhere else.
  if (more.length > 0 || (operand !== undefined && !/^(?:\.{1,2}$|\.{0,2}\/)|\.tgz$/.test(operand))) return undefined;
  return { type: "publish", manager, options, operand, registry, skipsScripts };
}

const withValue: ReadonlySet<string> = new Set(["access", "tag", "otp", "registry"]);
