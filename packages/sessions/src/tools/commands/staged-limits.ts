/** What does not work for a staged command, by what programs print of it, and the way round. */
const limits: readonly (readonly [printed: RegExp, note: string])[] = [
  [
    /\bEXDEV\b|cross-device link/i,
    "[a program cannot rename a directory that was there before: use `mv OLD NEW`, then `git add -A OLD NEW`]",
  ],
  [
    // The first link to a file of the workspace makes a copy of it for the stage, which is another file by its number.
    /\bhardlink different from source\b/,
    "[git cannot link what a clone shares with a repository that was there before: use `git clone --no-hardlinks`]",
  ],
  [
    /\bENETUNREACH\b|network is unreachable/i,
    "[a connection to a bare address is seen only of programs that know HTTP_PROXY: use a host's name, or such a program]",
  ],
];

/** Notes for a model that met what cannot work, on a command that failed. */
export function stagedLimitNotes({
  exitCode,
  output,
}: {
  readonly exitCode?: number | undefined;
  readonly output: string;
}) {
  return exitCode === 0 ? [] : limits.flatMap(([printed, note]) => (printed.test(output) ? [note] : []));
}
