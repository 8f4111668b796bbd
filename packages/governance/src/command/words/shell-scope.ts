/** What the shell would know at one place of the script, as far as the syntax tree shows it. */
export interface ShellScope {
  /** Directories that may be the current one, the most likely last. Never empty. */
  directories: readonly string[];
  readonly variables: Map<string, ShellVariable>;
  /** Names that are functions or aliases here: they are not the programs they are called like. */
  readonly functions: Set<string>;
  /** True where it is not certain that the code runs, or that it runs once. */
  conditional: boolean;
}

export interface ShellVariable {
  /** Values it may have. */
  readonly values: readonly string[];
  /** True when `values` holds every value it may have. */
  readonly certain: boolean;
}

/** More than this many possible directories are not worth telling apart. */
const directoryLimit = 6;

export function initialScope(cwd: string, home: string): ShellScope {
  const known = (value: string): ShellVariable => ({ values: [value], certain: true });
  return {
    directories: [cwd],
    variables: new Map([
      ["HOME", known(home)],
      ["TMPDIR", known("/tmp")],
    ]),
    functions: new Set(),
    conditional: false,
  };
}

/** A scope for a subshell: changes in it are not seen outside. */
export function subshell(scope: ShellScope): ShellScope {
  return { ...scope, variables: new Map(scope.variables), functions: new Set(scope.functions) };
}

/** Longer values are not followed: they could double with every assignment. */
const longestValue = 4096;

export function assign(scope: ShellScope, name: string, text: string | undefined): void {
  const value = text !== undefined && text.length > longestValue ? undefined : text;
  const before = scope.variables.get(name);
  if (!scope.conditional && value !== undefined) {
    scope.variables.set(name, { values: [value], certain: true });
    return;
  }
  const values = new Set(before?.values ?? []);
  if (value !== undefined) values.add(value);
  scope.variables.set(name, { values: [...values].slice(0, 16), certain: false });
}

/** From here on the variable may hold anything, its known values among it. */
export function forget(scope: ShellScope, name: string): void {
  scope.variables.set(name, { values: scope.variables.get(name)?.values ?? [], certain: false });
}

/** Both sets of directories are possible; false when there are too many to follow. */
export function mergeDirectories(scope: ShellScope, others: readonly string[]): boolean {
  const all = [...new Set([...others, ...scope.directories])];
  scope.directories = all.slice(-directoryLimit);
  return all.length <= directoryLimit;
}
